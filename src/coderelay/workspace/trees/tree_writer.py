"""Updates a shadow repository's index to the current work tree, and writes the index as a git tree.

What cannot be stored (a nested repository, a file that is too large or unreadable, a special file) is entered like a
submodule, with a mark in place of a commit id. The mark changes whenever the file or repository changes, so a change
is noticed although no content is stored.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from coderelay.protocol.errors import Refusal
from coderelay.protocol.translatable import say
from coderelay.workspace.files.openat import open_folder
from coderelay.workspace.trees.git_subprocess import Git, GitFailed, nul_ended, nul_split
from coderelay.workspace.trees.project_repository import NoRepository, read_regular, repository_at
from coderelay.workspace.trees.shadow_repository import ShadowRepository
from coderelay.workspace.trees.tree_diff import MARKED, shown

_ATTEMPTS = 3
_MANY = 500

Reason = Literal["repository", "large", "unreadable", "special"]


class TreeLimits(Struct, frozen=True):
    """Files over `file_bytes` are left out. If new content exceeds `new_bytes` in total, no snapshot is taken, since
    it would take too long."""

    file_bytes: int = 10_000_000
    new_bytes: int = 1_000_000_000


DEFAULT_LIMITS = TreeLimits()


class TreeTooLarge(Refusal):
    def __init__(self, limit: int) -> None:
        super().__init__(
            say(
                "files of more than {count} bytes have changed that git does not ignore, too much for undo",
                count=f"{limit:,}",
            ),
            "A .gitignore file says what need not be looked at.",
        )


class OmittedPath(Struct, frozen=True):
    """A path whose content is not stored in the tree, and why."""

    path: str
    reason: Reason


class WrittenTree(Struct, frozen=True):
    """The id of a tree that was written, and what it does not store."""

    tree: str
    left_out: tuple[OmittedPath, ...]


def checked_out_tree(shadow: ShadowRepository, folder: str) -> str:
    """The tree of a folder in the checked-out commit."""
    head = shadow.repository.head()
    if head is None:
        return _empty_tree(shadow.git)
    name = f"{head}:{prefix_of(shadow, folder)}"
    found = shadow.reader.run("rev-parse", "--verify", "--quiet", name, codes=(0, 1, 128))
    return found.decode().strip() or _empty_tree(shadow.git)


def count(shadow: ShadowRepository, folder: str, also: Iterable[bytes], limits: TreeLimits) -> WrittenTree:
    """Write a tree of all files beneath `folder` that git does not ignore, and of `also`, whose paths are relative to
    the root of the work tree."""
    for _ in range(_ATTEMPTS - 1):
        with suppress(GitFailed):  # retried: somebody may be changing files
            return _count(shadow, folder, also, limits)
        shadow.git.cancellation.check()
    return _count(shadow, folder, also, limits)


def _count(shadow: ShadowRepository, folder: str, also: Iterable[bytes], limits: TreeLimits) -> WrittenTree:
    prefix = prefix_of(shadow, folder)
    within = ["--", prefix] if prefix else []
    reasons = _repositories(shadow)
    listed = shadow.git.run("ls-files", "-z", "-m", "-d", "-o", "--exclude-standard", *within)
    found = _SortedFiles(shadow, {*nul_split(listed), *also}, limits)
    found.enter(shadow.git)
    if any(reason == "repository" for reason, _ in found.marked.values()):
        shadow.remember("repositories", b"some")
    reasons |= {path: reason for path, (reason, _) in found.marked.items()}
    start = os.fsencode(prefix)
    left_out = [OmittedPath(shown(p[len(start) :]), why) for p, why in sorted(reasons.items()) if p.startswith(start)]
    return WrittenTree(_write_tree(shadow.git, prefix), tuple(left_out))


def with_files(shadow: ShadowRepository, tree: str, folder: str, paths: Sequence[bytes], limits: TreeLimits) -> str:
    """Add the files that a tree does not contain to it, with their current content. Returns the new tree."""
    index = os.path.join(shadow.folder, "index.more")
    git, prefix = shadow.git.with_env(GIT_INDEX_FILE=index), prefix_of(shadow, folder)
    try:
        git.run("read-tree", *([f"--prefix={prefix}", tree] if prefix else [tree]))
        there = nul_split(git.run("ls-files", "-z", "-c", "--", *map(os.fsdecode, paths)))
        _SortedFiles(shadow, set(paths) - set(there), limits).enter(git)
        return _write_tree(git, prefix)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(index)


class _SortedFiles:
    """Files divided into those whose content is stored (`kept`) and those that only get a mark (`marked`)."""

    def __init__(self, shadow: ShadowRepository, paths: set[bytes], limits: TreeLimits) -> None:
        self._shadow = shadow
        self._top = os.fsencode(shadow.repository.root)
        self._limits = limits
        self._bytes = 0
        self.kept: list[bytes] = []
        self.marked: dict[bytes, tuple[Reason, str]] = {}
        for path in _not_beyond_links(self._top, {each.rstrip(b"/") for each in paths}):
            self._sort_in(path)

    def enter(self, git: Git) -> None:
        if self.marked:
            lines = (f"{MARKED} {mark}\t".encode() + path for path, (_, mark) in self.marked.items())
            git.run("update-index", "--add", "--replace", "-z", "--index-info", given=nul_ended(lines))
        if self.kept:
            if len(self.kept) > _MANY:
                git.feed("fast-import", "--quiet", pieces=self._blobs())
            given = nul_ended(self.kept)
            git.run("update-index", "--add", "--remove", "--replace", "-z", "--stdin", given=given)

    def _blobs(self) -> Iterator[bytes]:
        """A fast-import stream, which stores many new objects in one pack. update-index then finds them there."""
        for path in self.kept:
            content = self._content(path)
            if content is not None:
                yield b"blob\ndata %d\n" % len(content)
                yield content

    def _content(self, path: bytes) -> bytes | None:
        """The content, never read through a link: a command may have put one there since the file was listed."""
        above, name = os.path.split(os.fsdecode(path))
        try:
            folder = open_folder(os.fsdecode(self._top), above)
        except OSError:
            return None
        try:
            return read_regular(name, self._limits.file_bytes + 1, folder)
        finally:
            os.close(folder)

    def _sort_in(self, path: bytes) -> None:
        full = os.path.join(self._top, path)
        try:
            seen = os.lstat(full)
        except OSError:
            self.kept.append(path)  # git notices that it is gone
            return
        reason = self._why_not(full, seen)
        if reason is None:
            self.kept.append(path)
            self._bytes += seen.st_size
            if self._bytes > self._limits.new_bytes:
                raise TreeTooLarge(self._limits.new_bytes)
        else:
            self.marked[path] = reason, self._mark(reason, full, seen)

    def _why_not(self, full: bytes, seen: os.stat_result) -> Reason | None:
        if stat.S_ISDIR(seen.st_mode):
            return "repository" if os.path.lexists(os.path.join(full, b".git")) else None
        if stat.S_ISLNK(seen.st_mode):
            return None
        if not stat.S_ISREG(seen.st_mode):
            return "special"
        if seen.st_size > self._limits.file_bytes:
            return "large"
        return None if os.access(full, os.R_OK) else "unreadable"

    def _mark(self, reason: Reason, full: bytes, seen: os.stat_result) -> str:
        if reason == "repository":
            return _head(full) or self._shadow.hash(b"a repository without commits")
        return self._shadow.hash(b"%d-%d-%d" % (seen.st_mtime_ns, seen.st_size, seen.st_ino))


def _head(full: bytes) -> str | None:
    inner = repository_at(os.fsdecode(full))
    try:
        return inner.head() if inner else None
    except NoRepository:
        return None


def _not_beyond_links(top: bytes, paths: set[bytes]) -> list[bytes]:
    """Leave out paths beneath a file or link: where a link replaced a folder, git still lists what is behind it."""
    leaves = {path for path in paths if not os.path.isdir(full := os.path.join(top, path)) or os.path.islink(full)}
    return sorted(path for path in paths if not any(above in leaves for above in _above(path)))


def _above(path: bytes) -> Iterable[bytes]:
    while path := os.path.dirname(path):
        yield path


def _repositories(shadow: ShadowRepository) -> dict[bytes, Reason]:
    """Nested repositories in the index. One that became an ordinary folder is dropped, so that git looks into it."""
    root = shadow.repository.root
    if not shadow.remembered("repositories") and not os.path.lexists(os.path.join(root, ".gitmodules")):
        return {}  # the usual case, which avoids listing all files
    entries = nul_split(shadow.git.run("ls-files", "-z", "-s"))
    marked = [each.partition(b"\t")[2] for each in entries if each.startswith(MARKED.encode())]
    folders = [path for path in marked if os.path.isdir(os.path.join(root, os.fsdecode(path)))]
    mere = {path for path in folders if _is_mere_folder(os.path.join(root, os.fsdecode(path)))}
    if mere:
        shadow.git.run("update-index", "--force-remove", "-z", "--stdin", given=nul_ended(mere))
    return {path: "repository" for path in folders if path not in mere}


def _is_mere_folder(path: str) -> bool:
    """Whether a folder is not a repository. An empty folder is a submodule that was not fetched."""
    names = os.listdir(path)
    return bool(names) and ".git" not in names


def _write_tree(git: Git, prefix: str) -> str:
    """Write the index as a tree. `--missing-ok` is needed because unchanged contents are only in the person's
    repository."""
    if prefix and not git.run_truncated("ls-files", "-c", "--", prefix, most=1)[0]:
        return _empty_tree(git)
    within = [f"--prefix={prefix}"] if prefix else []
    return git.run("write-tree", "--missing-ok", *within).decode().strip()


def _empty_tree(git: Git) -> str:
    return git.run("mktree").decode().strip()


def prefix_of(shadow: ShadowRepository, folder: str) -> str:
    """The path of a folder from the root of the work tree, with a slash at its end; empty for the root."""
    relative = os.path.relpath(folder, shadow.repository.root)
    return "" if relative == "." else relative.replace(os.sep, "/") + "/"
