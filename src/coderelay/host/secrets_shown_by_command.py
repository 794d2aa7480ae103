"""Searches folders for files with secrets that a command would show, within bounds."""

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from coderelay.protocol.secret_paths import find_secret, is_often_shared, may_name_secret
from coderelay.workspace.trees.git_index_parser import indexed_paths
from coderelay.workspace.trees.project_repository import read_regular

if TYPE_CHECKING:
    from coderelay.policy.shell.shown_files import ShownContent

_MOST_ENTRIES = 100_000
SEARCH_SECONDS = 1.0
# Folders in which people keep no secrets of their own; they are not searched.
_OF_OTHERS = {".git", "node_modules", "site-packages", "__pycache__"}
_GIVES_ACCESS = re.compile(rb"_(?:auth|authToken|password)\s*=\s*(?!\$)\S")
_OF_OUR_HOME = ("sessions.db", "web.token")


class SecretSearch:
    """A search of the disk with a limit on time and entries. `too_many` says that it gave up."""

    def __init__(self, folders: tuple[str, ...], home: str, until: float) -> None:
        self._folders = folders
        self._home = home
        self._real = tuple(os.path.realpath(folder) for folder in folders)
        self._until = until
        self._entries_seen = 0
        self.too_many = False

    def secrets(self, contents: "ShownContent") -> Iterator[str]:
        if not is_inside(contents.path, self._folders):
            return  # paths outside the session's folders are asked about anyway
        if contents.tracked:
            yield from self._tracked(contents)
            return
        for path in self.expanded(contents.path):
            if contents.deep and os.path.isdir(path):
                yield from self._below(path, contents)
            elif os.path.isfile(path) and (secret := self._named(path) or self._named(os.path.realpath(path))):
                yield secret

    def expanded(self, path: str) -> list[str]:
        """The existing paths that a shell glob expands to."""
        if not set("*?") & set(path):
            return [path]
        found = ["/"]
        for part in path.strip("/").split("/"):
            if not set("*?") & set(part):
                found = [os.path.join(folder, part) for folder in found]
                continue
            pattern = part.replace("[", "[[]")
            found = [
                entry.path
                for folder in found
                if not self.too_many
                for entry in self._entries(folder)
                if fnmatchcase(entry.name, pattern) and (entry.name[0] != "." or part[0] == ".")
            ]
        return [each for each in found if os.path.lexists(each)] if not self.too_many else []

    def _entries(self, folder: str) -> "Iterator[os.DirEntry[str]]":
        """The entries of a folder, one by one: there may be millions."""
        with suppress(OSError), os.scandir(folder) as found:
            for entry in found:
                self._entries_seen += 1
                late = self._entries_seen % 1000 == 0 and time.monotonic() > self._until
                if late or self._entries_seen > _MOST_ENTRIES:
                    self.too_many = True
                if self.too_many:
                    return
                yield entry

    def _named(self, path: str) -> str | None:
        """The kind of secret that a path names, or None."""
        return find_secret(os.path.normpath(path), (*self._folders, *self._real), self._home)

    def _tracked(self, contents: "ShownContent") -> Iterator[str]:
        for path in indexed_paths(self._folders[0], may_name_secret):
            if (secret := self._named(path)) and not is_often_shared(secret):
                start = os.path.normpath(contents.path)
                if start == self._folders[0] or path == start or path.startswith(f"{start}/"):
                    yield secret

    def _below(self, start: str, contents: "ShownContent") -> Iterator[str]:
        folders, seen = [start], {os.path.realpath(start)}
        if {*_below_all(start, self._folders).split("/")} & _OF_OTHERS:
            return
        while folders and not self.too_many:
            for entry in self._entries(folders.pop()):
                name = entry.name
                if name[0] == "." and not contents.hidden:
                    continue
                link = entry.is_symlink()
                if link and not contents.follow:
                    continue
                folder = os.path.isdir(entry.path) if link else entry.is_dir()
                left_out = contents.without_folders if folder else contents.without
                if any(fnmatchcase(name, each) for each in left_out):
                    continue
                real = os.path.realpath(entry.path) if link else entry.path
                if (link or may_name_secret(name)) and (secret := self._named(entry.path) or self._named(real)):
                    if _holds_secret(entry.path, secret) and (folder or _is_looked_at(name, contents)):
                        yield secret
                    continue
                if folder and name not in _OF_OTHERS and real not in seen:
                    folders.append(entry.path)
                    seen.add(real)


def _is_looked_at(name: str, contents: "ShownContent") -> bool:
    return not contents.only or any(fnmatchcase(name.lower(), each.lower()) for each in contents.only)


def _holds_secret(path: str, place: str) -> bool:
    """Whether something with the name of a secret really holds one. `.coder` and `.npmrc` are often an ordinary part
    of a project, so their contents are checked."""
    try:
        if place == ".coder":
            return any(os.path.lexists(os.path.join(path, name)) for name in _OF_OUR_HOME)
        if place == ".npmrc":
            return _GIVES_ACCESS.search(read_regular(path, 65536) or b"") is not None
        return not os.path.isdir(path) or bool(os.listdir(path))
    except OSError:
        return False


def _below_all(path: str, folders: Sequence[str]) -> str:
    """The rest of a path below the innermost of these folders."""
    return path[max((len(each) for each in folders if is_inside(path, (each,))), default=0) :]


def is_inside(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
