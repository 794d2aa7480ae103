"""Compares two snapshots (git trees): a list of changed files, and a unified diff."""

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct

from coderelay.protocol.query_results import ChangeKind, FileChange
from coderelay.workspace.trees.git_subprocess import Git, nul_split

MOST_DIFF_BYTES = 1 << 20
MARKED = "160000"  # the mode of a submodule, an entry whose content git does not store
_ABSENT = "000000"
_HOW = ("-r", "-M", "-l1000", "--no-ext-diff", "--no-textconv", "--no-color")

_KINDS: dict[str, ChangeKind] = {"A": "added", "D": "deleted", "R": "renamed"}


class TreeEntry(Struct, frozen=True):
    """The entry of a file in a git tree."""

    mode: str
    blob: str


class EntryPair(Struct, frozen=True):
    """The entries of one path in two trees; None where the path does not exist."""

    path: bytes
    before: TreeEntry | None
    after: TreeEntry | None


def changes_between(git: Git, before: str, after: str) -> list[FileChange]:
    output = git.run("diff-tree", *_HOW, "-z", "--raw", "--no-abbrev", "--numstat", before, after)
    fields = iter(nul_split(output))
    raw: list[tuple[list[str], bytes, bytes]] = []
    counts: dict[bytes, list[tuple[bytes, bytes]]] = {}
    for field in fields:
        if field.startswith(b":"):
            head = field[1:].decode().split(" ")
            was = next(fields) if head[4][0] == "R" else b""
            raw.append((head, was, next(fields)))
        else:
            added, deleted, path = field.split(b"\t", 2)
            if not path:  # a rename: both names follow
                path = [next(fields), next(fields)][1]
            counts.setdefault(path, []).append((added, deleted))
    return [_change(head, was, path, counts.get(path, [])) for head, was, path in raw]


def _change(head: list[str], was: bytes, path: bytes, counts: Sequence[tuple[bytes, bytes]]) -> FileChange:
    kind = _KINDS.get(head[4][0], "modified")
    if MARKED in head[:2]:
        return FileChange(shown(path), kind, was=shown(was), covered=False)
    lines = [(int(added), int(deleted)) for added, deleted in counts if added != b"-"]
    return FileChange(
        path=shown(path),
        kind=kind,
        added=sum(added for added, _ in lines),
        deleted=sum(deleted for _, deleted in lines),
        binary=len(lines) < len(counts),
        was=shown(was),
    )


def diff_between(git: Git, before: str, after: str, paths: Sequence[str] = ()) -> str:
    """A unified diff without files whose content is not stored. If cut, it ends with a whole line and a note."""
    how = (*_HOW, "-p", "--ignore-submodules=all", "--src-prefix=a/", "--dst-prefix=b/")
    wanted = [f":(literal){path}" for path in paths]
    unwanted = [f":(exclude,literal){os.fsdecode(path)}" for path in _half_covered(git, before, after)]
    magic = git.with_env(GIT_LITERAL_PATHSPECS="0")
    output, cut = magic.run_truncated(
        "diff-tree", *how, before, after, "--", *wanted, *unwanted, most=MOST_DIFF_BYTES
    )
    text = output.decode("utf-8", "replace")
    if not cut:
        return text
    return f"{text[: text.rfind(chr(10)) + 1]}[the diff is longer than {MOST_DIFF_BYTES} bytes and was cut here]\n"


def _half_covered(git: Git, before: str, after: str) -> list[bytes]:
    """Paths whose content only one of the trees stores, since they became too large or a repository: git would
    show one half of the change."""
    pairs = [(pair.path, pair.before, pair.after) for pair in pairs_between(git, before, after)]
    both = [(path, then.mode, now.mode) for path, then, now in pairs if then and now]
    return [path for path, *modes in both if MARKED in modes and modes[0] != modes[1]]


def pairs_between(git: Git, before: str, after: str) -> list[EntryPair]:
    """Every path whose entries differ. A rename counts as two paths."""
    output = git.run("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", before, after)
    return list(_pairs(iter(nul_split(output))))


def _pairs(fields: Iterator[bytes]) -> Iterator[EntryPair]:
    for field in fields:
        mode, new_mode, blob, new_blob, _ = field[1:].decode().split(" ")
        yield EntryPair(
            path=next(fields),
            before=None if mode == _ABSENT else TreeEntry(mode, blob),
            after=None if new_mode == _ABSENT else TreeEntry(new_mode, new_blob),
        )


def shown(path: bytes) -> str:
    """The path as text that can be stored and shown, whatever bytes it has."""
    return path.decode("utf-8", "backslashreplace")
