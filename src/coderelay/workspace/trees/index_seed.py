"""Initializes a shadow repository's index from a copy of the person's, so that only changed files are hashed."""

import os
from collections.abc import Sequence
from contextlib import suppress

from coderelay.workspace.trees.git_subprocess import GitFailed, nul_ended, nul_split
from coderelay.workspace.trees.project_repository import NoRepository, read_regular
from coderelay.workspace.trees.shadow_repository import ShadowRepository, index_mark
from coderelay.workspace.trees.tree_diff import MARKED


def begin_index(shadow: ShadowRepository) -> list[bytes]:
    """Copy the person's index, and invalidate entries that may differ from the bytes on disk. If we already have an
    index, it stays, and the paths that it may lack are returned."""
    if os.path.exists(shadow.index):
        return _follow_index(shadow)
    shadow.copy_index("index")
    try:
        _copy_trees(shadow)
        _invalidate_entries(shadow)
    except GitFailed:  # the index is damaged, or was written by a newer git
        shadow.git.cancellation.check()
        shadow.forget_index()
    shadow.remember("adopted", index_mark(shadow.repository))
    return []


def _follow_index(shadow: ShadowRepository) -> list[bytes]:
    """Files that the person's git tracks although they are ignored, if its index has changed since we last looked."""
    mark = index_mark(shadow.repository)
    if mark == shadow.remembered("adopted"):
        return []
    git = shadow.git.with_env(GIT_INDEX_FILE=shadow.copy_index("theirs"))
    try:
        found = nul_split(git.run("ls-files", "-z", "-c", "-i", "--exclude-standard"))
    except GitFailed:  # the index is damaged; the next snapshot tries again
        shadow.git.cancellation.check()
        return []
    shadow.remember("adopted", mark)
    return found


def borrow_index(shadow: ShadowRepository) -> None:
    """Copy the person's index unchanged, or use the checked-out commit if the index is damaged."""
    shadow.copy_index("index")
    try:
        _copy_trees(shadow)
        shadow.git.run_truncated("ls-files", "-c", most=1)
    except GitFailed:
        shadow.git.cancellation.check()
        shadow.forget_index()
        if head := shadow.repository.head():
            shadow.reader.run("read-tree", head)


def _invalidate_entries(shadow: ShadowRepository) -> None:
    """Clear the stat data of some entries, so that git reads their files again. That is needed where git was told not
    to look (assume-unchanged, sparse), and where a conversion or filter was applied on the way into the index: then
    sizes differ."""
    lines = [_Entry(line) for line in nul_split(shadow.git.run("ls-files", "-z", "-v", "-s"))]
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
        if self.tag != b"H" or size in (b"0", b""):  # an empty entry may only be an intent to add
            return False
        try:
            return b"%d" % os.lstat(os.path.join(top, self.path)).st_size == size
        except OSError:
            return True  # git notices that the file is gone


def _copy_trees(shadow: ShadowRepository) -> None:
    """Copy the tree objects of the checked-out commit into one pack of ours. The index refers to them (a sparse index
    instead of listing files), and git searches long for each missing one. Then only file contents are missing, and
    git need not be given the person's objects."""
    with suppress(NoRepository, GitFailed):  # without them git is only slower
        if head := shadow.repository.head():
            folders = nul_split(shadow.reader.run("ls-tree", "-d", "-r", "-z", head))
            trees = [line.partition(b"\t")[0].split()[2] for line in folders if line.startswith(b"040000")]
            trees.append(shadow.reader.run("rev-parse", "--verify", f"{head}:").strip())
            to = os.path.join(shadow.folder, "objects", "pack", "pack")
            shadow.reader.run("pack-objects", "-q", "--window=0", to, given=b"\n".join(trees) + b"\n")


def _has_filters(shadow: ShadowRepository, entries: Sequence[_Entry]) -> bool:
    """Whether attributes name a filter. A filter may keep the size of a file, so then every file is read once."""
    top = shadow.repository.root
    files = [os.path.join(top, os.fsdecode(e.path)) for e in entries if e.path.endswith(b".gitattributes")]
    files.append(os.path.join(shadow.repository.common, "info", "attributes"))
    return any(_names_filter(file) for file in files)


def _names_filter(file: str) -> bool:
    content = read_regular(file, 1 << 20) or b""
    return b"filter=" in content or b"working-tree-encoding" in content
