"""How files differ: one record per file that changed, and the unified diff of all of them."""

from typing import Literal

from msgspec import Struct

ChangeKind = Literal["added", "modified", "deleted", "renamed"]


class FileChange(Struct, frozen=True, omit_defaults=True):
    """`was` is the path before a renaming. `added` and `deleted` count lines. A change that is not `covered`
    cannot be undone, because the earlier content of the file was not kept."""

    path: str
    kind: ChangeKind
    added: int = 0
    deleted: int = 0
    binary: bool = False
    was: str = ""
    covered: bool = True


class FilesDiff(Struct, frozen=True):
    """`diff` is a unified diff as git writes it. It leaves out changes that are not covered, and may be cut off."""

    diff: str = ""
    changes: tuple[FileChange, ...] = ()
