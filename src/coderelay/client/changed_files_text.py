"""Changed files as text: a line for each file, and the part of a diff that is about one file or folder."""

import re

from coderelay.client.i18n import t
from coderelay.client.text_width import padded, width_of
from coderelay.protocol.query_results import FileChange, FilesDiff

_KINDS = ("added", "modified", "deleted", "renamed")
_NEXT_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)  # content lines in a diff never begin with `d`


def changed_line(change: FileChange) -> str:
    name = f"{change.was} → {change.path}" if change.was else change.path
    size = t("binary") if change.binary else f"+{change.added} -{change.deleted}"
    return f"{padded(t(change.kind), 8)} {' ' * (9 - width_of(size))}{size}  {name}"


def diff_of(difference: FilesDiff, path: str) -> str:
    """The part of a diff about `path`, or about files beneath it. The path `.` stands for all of them."""
    if path == ".":
        return difference.diff
    headers = {_header(each) for each in difference.changes if _is_about(each, path)}
    return "".join(part for part in _NEXT_FILE.split(difference.diff) if part.partition("\n")[0] in headers)


def changed_names(difference: FilesDiff) -> list[str]:
    return list(dict.fromkeys(name for each in difference.changes if each.covered for name in _names(each)))


def _header(change: FileChange) -> str:
    return f"diff --git a/{change.was or change.path} b/{change.path}"


def _is_about(change: FileChange, path: str) -> bool:
    return any(name == path or name.startswith(f"{path}/") for name in _names(change))


def _names(change: FileChange) -> list[str]:
    return [change.was, change.path] if change.was else [change.path]
