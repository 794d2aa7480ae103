"""Lists the folders in a folder, for a person who looks for one to work in. Nothing outside of the roots is shown."""

import os
from collections.abc import Sequence
from contextlib import suppress

from coderelay.protocol.errors import BadInput
from coderelay.protocol.query_results import FoldersShown
from coderelay.protocol.translatable import say

_MOST = 2000


def list_folders(path: str, roots: Sequence[str], *, hidden: bool) -> FoldersShown:
    """The folders in `path`, or in the first root without a path. A link counts as the folder that it leads to, and
    is left out if that is outside of the roots. Raises BadInput."""
    real_roots = [os.path.realpath(each) for each in roots if os.path.isabs(each)]
    wanted = path or next(iter(real_roots), "")
    folder = os.path.realpath(wanted)
    if not os.path.isabs(wanted) or not _is_beneath(folder, real_roots):
        raise BadInput(say("{folder} is not beneath a folder that may be shown", folder=wanted or "/"))
    found: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(found) > _MOST:
                    break
                if _is_shown(entry, real_roots, hidden=hidden):
                    found.append(entry.name)
    except OSError as error:
        raise BadInput(say("cannot read {folder}: {why}", folder=folder, why=error.strerror)) from error
    parent = os.path.dirname(folder)
    return FoldersShown(
        path=folder,
        folders=tuple(sorted(found[:_MOST], key=lambda name: (name.casefold(), name))),
        parent=parent if parent != folder and _is_beneath(parent, real_roots) else "",
        whole=len(found) <= _MOST,
    )


def _is_shown(entry: "os.DirEntry[str]", roots: Sequence[str], *, hidden: bool) -> bool:
    if not entry.name.isprintable() or (entry.name.startswith(".") and not hidden):
        return False
    with suppress(OSError):
        return entry.is_dir() and (not entry.is_symlink() or _is_beneath(os.path.realpath(entry.path), roots))
    return False


def _is_beneath(folder: str, roots: Sequence[str]) -> bool:
    return any(folder == root or folder.startswith(os.path.join(root, "")) for root in roots)
