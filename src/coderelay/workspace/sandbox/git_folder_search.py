"""Finds every folder that git would take for a repository, below the folders that a command may write.

Git accepts more than `.git`: a folder that holds HEAD, objects and refs is a bare repository to whoever works in it
or below, and a `.git` that is a file or a link leads to another folder. Git follows both at any depth, and so does
this search. Links are followed only to places that commands may write and that are not searched otherwise: caches,
temporary files and the objects of a repository.

The search is repeated around every command, so a folder is read again only if its change time (ctime) differs, which
a command cannot forge. A folder that changed just before it was read is always read again, because a second change
might not show in its change time.
"""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from coderelay.workspace.files.openat import LOOK, open_folder
from coderelay.workspace.files.path_resolution import is_in, real_path

MOST_FOLDERS = 200_000
_MARKS_REST_NS = 2_000_000_000
_TELLING = frozenset({"head", "commondir", "objects", "refs"})


class _Seen(NamedTuple):
    """What one folder held when it was read. `folders` are the paths of its subfolders, `entries` each `.git` that is
    not a folder, `links` the symbolic links that are followed. `mark` is None if the folder must be read again next
    time."""

    mark: tuple[int, int, int] | None
    folders: tuple[str, ...]
    is_git: bool
    entries: tuple[str, ...]
    links: tuple[str, ...]


class GitPlaces(NamedTuple):
    """The result of a search. `folders` are the repository folders, `entries` each `.git` that is not a folder.
    `is_whole` is false if there were too many folders to search all of them."""

    folders: list[str]
    entries: list[str]
    is_whole: bool


class GitSearch:
    """The repeated search for one sandbox. It remembers what it saw, so that the next search is quick."""

    def __init__(self, searched_folders: tuple[str, ...], lent: tuple[str, ...], most: int = MOST_FOLDERS) -> None:
        """`searched_folders` are the folders to search. `lent` are the real paths of other places that commands may
        write."""
        self.searched_folders = searched_folders
        self.lent = lent
        self._most = most
        self._known: dict[str, _Seen] = {}

    def find(self) -> GitPlaces:
        """Search breadth-first: the folders nearest to those come first."""
        known, now = self._known, time.time_ns()
        seen: dict[str, _Seen] = {}
        waiting = list(dict.fromkeys(self.searched_folders))
        for path in waiting:  # the loop appends to it
            if len(seen) >= self._most:
                break
            found = known.get(path)
            if found is None or found.mark is None or found.mark != _mark(path):
                found = self._look(path, now)
            if found is not None and path not in seen:
                seen[path] = found
                waiting += found.folders
                if found.links:
                    waiting += (target for link in found.links if (target := self._link_target_to_search(link)))
        self._known = seen
        folders = [path for path, each in seen.items() if each.is_git]
        entries = [entry for each in seen.values() for entry in each.entries]
        return GitPlaces(folders, entries, len(seen) < self._most)

    def _look(self, path: str, now: int) -> _Seen | None:
        folder = _open(path)
        if folder is None:
            return None
        try:
            state = os.fstat(folder)
            with os.scandir(folder) as entries:
                folders, gits, links, telling = _sorted_in(entries)
        except OSError:
            return None
        finally:
            os.close(folder)
        is_git = "head" in telling and ("commondir" in telling or ("objects" in telling and "refs" in telling))
        if is_git and _is_within_git(path):
            folders = [name for name in folders if name != "objects"]  # nobody works there, and no index may name it
        is_settled = state.st_ctime_ns < now - _MARKS_REST_NS
        mark = (state.st_dev, state.st_ino, state.st_ctime_ns) if is_settled else None
        within = tuple([os.path.join(path, name) for name in folders])
        entries = tuple([os.path.join(path, name) for name in gits])
        linked = tuple([link for name in links if self._link_target_to_search(link := os.path.join(path, name))])
        return _Seen(mark, within, is_git, entries, linked)

    def _link_target_to_search(self, link: str) -> str | None:
        """Return the real path of a link's target if commands can write it and it is not searched anyway: a `lent`
        place, or the objects of a repository. A plain link within the searched folders can reach such a place only
        through another link, which is found by itself; the many links of package managers are plain."""
        try:
            named = os.readlink(link)
            path = os.path.normpath(os.path.join(os.path.dirname(link), named))
            is_plain = not os.path.isabs(named) and "/.." not in named.lstrip("./") and not _is_within_git(path)
            if is_plain and _is_in_any(path, self.searched_folders) and not _is_in_any(path, self.lent):
                return None
            target = real_path(link)
        except OSError:  # it is gone, or a command keeps replacing parts of the path
            return None
        is_wanted = _is_in_any(target, self.lent) or (
            _is_within_git(target) and _is_in_any(target, self.searched_folders)
        )
        return target if is_wanted else None


def _open(path: str) -> int | None:
    """Open a folder. Returns None if it is gone, has become a link, or is not ours. Git reads files in a folder even
    if the folder cannot be listed, so our own permission to list it is restored."""
    with suppress(OSError):
        try:
            return open_folder("/", path.lstrip("/"), os.O_RDONLY)
        except PermissionError:
            looked = open_folder("/", path.lstrip("/"), LOOK)
            try:
                mode = stat.S_IMODE(os.fstat(looked).st_mode)
                os.chmod(f"/proc/self/fd/{looked}", mode | stat.S_IRWXU)
            finally:
                os.close(looked)
            return open_folder("/", path.lstrip("/"), os.O_RDONLY)
    return None


def _sorted_in(entries: Iterator[os.DirEntry[str]]) -> tuple[list[str], list[str], list[str], set[str]]:
    """Return the names of the subfolders, of each `.git` that is not a folder, and of other links, and in lower case
    the names that git looks for in a repository folder. Some file systems ignore case; on others `.git` and `.GIT`
    may lie side by side."""
    folders: list[str] = []
    gits: list[str] = []
    links: list[str] = []
    telling: set[str] = set()
    for entry in entries:
        lower = entry.name.lower()
        if entry.is_dir(follow_symlinks=False):
            folders.append(entry.name)
        elif lower == ".git":
            gits.append(entry.name)
        elif entry.is_symlink():
            links.append(entry.name)
        if lower in _TELLING:
            telling.add(lower)
    return folders, gits, links, telling


def _is_in_any(path: str, folders: tuple[str, ...]) -> bool:
    return any(is_in(path, folder) for folder in folders)


def _is_within_git(path: str) -> bool:
    return any(part.lower() == ".git" for part in path.split(os.sep))


def _mark(path: str) -> tuple[int, int, int] | None:
    """Return device, inode and change time of a folder. If a link has replaced a folder above it, this describes
    another folder; then the parent folder's mark has changed too."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_ctime_ns
