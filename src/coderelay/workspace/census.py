"""Brings a shadow's index to what the work tree is now, and writes it as a tree.

What cannot be kept (a repository in the repository, a file that is too large or cannot be read) is entered as git
enters a submodule, by a mark that is another one when the thing has changed: so it is known that it changed, and
nothing of it is stored.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from coderelay.workspace.diff import MARKED, shown
from coderelay.workspace.git import Git, GitFailed, nul_ended, nul_split
from coderelay.workspace.repository import NoRepository, read_regular, repository_at
from coderelay.workspace.shadow import Shadow, index_mark

_ATTEMPTS = 3
_MANY = 500

Reason = Literal["repository", "large", "unreadable", "special"]


class LeftOut(Struct, frozen=True):
    path: str
    reason: Reason


class Census(Struct, frozen=True):
    tree: str
    left_out: tuple[LeftOut, ...]


def begin_index(shadow: Shadow) -> list[bytes]:
    """Take over the person's index, but for entries that do not say what is on disk to the byte. Later only what
    `follow_index` says."""
    if os.path.exists(shadow.index):
        return _follow_index(shadow)
    shadow.copy_index("index")
    try:
        _expand(shadow)
        _distrust(shadow)
        _copy_trees(shadow)
    except GitFailed:  # damaged, or of a git that is newer than ours
        shadow.git.leash.check()
        shadow.forget_index()
    shadow.remember("adopted", index_mark(shadow.repository))
    return []


def _follow_index(shadow: Shadow) -> list[bytes]:
    """Files that the person's git tracks although it ignores them, if its index is another than we saw last."""
    mark = index_mark(shadow.repository)
    if mark == shadow.remembered("adopted"):
        return []
    git = shadow.reader.with_env(GIT_INDEX_FILE=shadow.copy_index("theirs"))
    try:
        found = nul_split(git.run("ls-files", "-z", "-c", "-i", "--exclude-standard"))
    except GitFailed:  # damaged: asked again next time
        shadow.git.leash.check()
        return []
    shadow.remember("adopted", mark)
    return found


def borrow_index(shadow: Shadow) -> None:
    """The person's index as it is, or what is checked out if it is damaged."""
    shadow.copy_index("index")
    try:
        _expand(shadow)
        shadow.reader.run_cut("ls-files", "-c", most=1)
        _copy_trees(shadow)
    except GitFailed:
        shadow.git.leash.check()
        shadow.forget_index()
        if head := shadow.repository.head():
            shadow.reader.run("read-tree", head)


def checked_out(shadow: Shadow, folder: str) -> str:
    """The tree that a folder is in the commit that is checked out."""
    head = shadow.repository.head()
    if head is None:
        return _empty_tree(shadow.git)
    name = f"{head}:{prefix_of(shadow, folder)}"
    found = shadow.reader.run("rev-parse", "--verify", "--quiet", name, codes=(0, 1, 128))
    return found.decode().strip() or _empty_tree(shadow.git)


def count(shadow: Shadow, folder: str, also: Iterable[bytes], limit: int) -> Census:
    """All beneath `folder` that git does not ignore, and `also`, whose names begin at the top of the work tree."""
    for _ in range(_ATTEMPTS - 1):
        with suppress(GitFailed):  # somebody changes files meanwhile
            return _count(shadow, folder, also, limit)
        shadow.git.leash.check()
    return _count(shadow, folder, also, limit)


def _count(shadow: Shadow, folder: str, also: Iterable[bytes], limit: int) -> Census:
    prefix = prefix_of(shadow, folder)
    within = ["--", prefix] if prefix else []
    reasons = _repositories(shadow)
    listed = shadow.git.run("ls-files", "-z", "-m", "-d", "-o", "--exclude-standard", *within)
    found = _Found(shadow, {*nul_split(listed), *also}, limit)
    found.enter(shadow.git)
    if any(reason == "repository" for reason, _ in found.marked.values()):
        shadow.remember("repositories", b"some")
    reasons |= {path: reason for path, (reason, _) in found.marked.items()}
    start = os.fsencode(prefix)
    left_out = [LeftOut(shown(p[len(start) :]), why) for p, why in sorted(reasons.items()) if p.startswith(start)]
    return Census(_write_tree(shadow.git, prefix), tuple(left_out))


def with_files(shadow: Shadow, tree: str, folder: str, paths: Sequence[bytes], limit: int) -> str:
    """A tree with those of these files that are not in it, as they are now."""
    index = os.path.join(shadow.folder, "index.more")
    git, prefix = shadow.git.with_env(GIT_INDEX_FILE=index), prefix_of(shadow, folder)
    try:
        git.run("read-tree", *([f"--prefix={prefix}", tree] if prefix else [tree]))
        there = nul_split(git.run("ls-files", "-z", "-c", "--", *map(os.fsdecode, paths)))
        _Found(shadow, set(paths) - set(there), limit).enter(git)
        return _write_tree(git, prefix)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(index)


class _Found:
    """Files to look at, sorted into those that are kept and those that are only marked."""

    def __init__(self, shadow: Shadow, paths: set[bytes], limit: int) -> None:
        self._shadow = shadow
        self._top = os.fsencode(shadow.repository.root)
        self._limit = limit
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
        """Many new objects become one file this way; git finds them there when it takes the files one by one."""
        for path in self.kept:
            content = read_regular(os.path.join(self._top, path), self._limit + 1)
            if content is not None:
                yield b"blob\ndata %d\n" % len(content)
                yield content

    def _sort_in(self, path: bytes) -> None:
        full = os.path.join(self._top, path)
        try:
            seen = os.lstat(full)
        except OSError:
            self.kept.append(path)  # git sees that it is gone
            return
        reason = self._why_not(full, seen)
        if reason is None:
            self.kept.append(path)
        else:
            self.marked[path] = reason, self._mark(reason, full, seen)

    def _why_not(self, full: bytes, seen: os.stat_result) -> Reason | None:
        if stat.S_ISDIR(seen.st_mode):
            return "repository" if os.path.lexists(os.path.join(full, b".git")) else None
        if stat.S_ISLNK(seen.st_mode):
            return None
        if not stat.S_ISREG(seen.st_mode):
            return "special"
        if seen.st_size > self._limit:
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
    """Where a folder became a file or a link, git still lists what it finds through the link."""
    leaves = {path for path in paths if not os.path.isdir(full := os.path.join(top, path)) or os.path.islink(full)}
    return sorted(path for path in paths if not any(above in leaves for above in _above(path)))


def _above(path: bytes) -> Iterable[bytes]:
    while path := os.path.dirname(path):
        yield path


def _repositories(shadow: Shadow) -> dict[bytes, Reason]:
    """Those that the index has. One that became a mere folder is dropped, so that git looks into it."""
    root = shadow.repository.root
    if not shadow.remembered("repositories") and not os.path.lexists(os.path.join(root, ".gitmodules")):
        return {}  # as in most folders: a list of all files costs
    entries = nul_split(shadow.git.run("ls-files", "-z", "-s"))
    marked = [each.partition(b"\t")[2] for each in entries if each.startswith(MARKED.encode())]
    folders = [path for path in marked if os.path.isdir(os.path.join(root, os.fsdecode(path)))]
    mere = {path for path in folders if not os.path.lexists(os.path.join(root, os.fsdecode(path), ".git"))}
    if mere:
        shadow.git.run("update-index", "--force-remove", "-z", "--stdin", given=nul_ended(mere))
    return {path: "repository" for path in folders if path not in mere}


def _write_tree(git: Git, prefix: str) -> str:
    """`--missing-ok`: contents that have not changed are in the person's repository only."""
    if prefix and not git.run_cut("ls-files", "-c", "--", prefix, most=1)[0]:
        return _empty_tree(git)
    within = [f"--prefix={prefix}"] if prefix else []
    return git.run("write-tree", "--missing-ok", *within).decode().strip()


def _empty_tree(git: Git) -> str:
    return git.run("mktree").decode().strip()


def _expand(shadow: Shadow) -> None:
    """A sparse index has folders instead of files; what they hold is known only while their objects can be read."""
    if b"sdir" in shadow.remembered("index"):
        shadow.reader.run("update-index", "--force-write-index")


def _distrust(shadow: Shadow) -> None:
    """Without its times, git looks at a file anew. That is needed where it was told not to look (assume-unchanged,
    sparse), and where a conversion or filter made of the file what is in the index: then sizes differ."""
    lines = [_Entry(line) for line in nul_split(shadow.reader.run("ls-files", "-z", "-v", "-s"))]
    entries = [each for each in lines if each.stage == b"0" and each.mode != MARKED.encode()]
    asked = b"".join(each.blob + b"\n" for each in entries)
    sizes = shadow.reader.run("cat-file", "--batch-check=%(objectsize)", "--buffer", given=asked).split(b"\n")
    top = os.fsencode(shadow.repository.root)
    filtered = _has_filters(shadow, entries)
    wrong = [each for each, size in zip(entries, sizes, strict=False) if filtered or not each.is_plain(top, size)]
    if wrong:
        given = nul_ended(b"%s %s\t%s" % (each.mode, each.blob, each.path) for each in wrong)
        shadow.git.run("update-index", "-z", "--index-info", given=given)


class _Entry:
    __slots__ = ("blob", "mode", "path", "stage", "tag")

    def __init__(self, line: bytes) -> None:
        head, _, self.path = line.partition(b"\t")
        self.tag, self.mode, self.blob, self.stage = head.split(b" ")

    def is_plain(self, top: bytes, size: bytes) -> bool:
        if self.tag != b"H" or size in (b"0", b""):  # an empty one may be a mere intent to add
            return False
        try:
            return b"%d" % os.lstat(os.path.join(top, self.path)).st_size == size
        except OSError:
            return True  # git sees that it is gone


def _copy_trees(shadow: Shadow) -> None:
    """Those of the commit that is checked out, which the index may refer to, in one file: git looks a long time for
    each that is missing. So only contents are left that we do not have ourselves."""
    with suppress(NoRepository):
        if head := shadow.repository.head():
            folders = nul_split(shadow.reader.run("ls-tree", "-d", "-r", "-z", head))
            trees = [line.partition(b"\t")[0].split()[2] for line in folders if line.startswith(b"040000")]
            trees.append(shadow.reader.run("rev-parse", "--verify", f"{head}:").strip())
            to = os.path.join(shadow.folder, "objects", "pack", "pack")
            shadow.reader.run("pack-objects", "-q", "--window=0", to, given=b"\n".join(trees) + b"\n")


def _has_filters(shadow: Shadow, entries: Sequence[_Entry]) -> bool:
    """A filter may keep the size. Then all is read once."""
    top = shadow.repository.root
    files = [os.path.join(top, os.fsdecode(e.path)) for e in entries if e.path.endswith(b".gitattributes")]
    files.append(os.path.join(shadow.repository.common, "info", "attributes"))
    return any(_names_filter(file) for file in files)


def _names_filter(file: str) -> bool:
    content = read_regular(file, 1 << 20) or b""
    return b"filter=" in content or b"working-tree-encoding" in content


def prefix_of(shadow: Shadow, folder: str) -> str:
    """How git calls a folder, with a slash at its end; empty for the top."""
    relative = os.path.relpath(folder, shadow.repository.root)
    return "" if relative == "." else relative.replace(os.sep, "/") + "/"
