"""The files that have changed: a line for each, and one file or folder out of a diff."""

import re

from coderelay.client.columns import padded, width_of
from coderelay.client.language import t

_KINDS = ("added", "modified", "deleted", "renamed", "binary")
_LINE = re.compile(r"(added|modified|deleted|renamed) +(binary|\+\d+ -\d+)  (.*)", re.DOTALL)
_BEGINNING = re.compile(r"^(?=diff --git )", re.MULTILINE)
_NAME = re.compile(r"^(?:--- a/|\+\+\+ b/|rename from |rename to )(.+?)\t?$", re.MULTILINE)
_HEADER = re.compile(r"^diff --git a/(.*) b/\1$", re.MULTILINE)


def changed_line(line: str) -> str:
    """As the log's side puts it together, in the language of people."""
    found = _LINE.fullmatch(line)
    if found is None:
        return line
    kind, size, path = found.groups()
    size = t(size) if size in _KINDS else size
    return f"{padded(t(kind), 8)} {' ' * (9 - width_of(size))}{size}  {path}"


def diff_of(diff: str, path: str) -> str:
    """What of a diff is about `path`, or about files beneath it; all of it if that is `.`."""
    return "".join(part for part in _BEGINNING.split(diff) if path == "." or _is_about(part, path))


def names_in(diff: str) -> list[str]:
    return list(dict.fromkeys(name for part in _BEGINNING.split(diff) for name in _names(part)))


def _is_about(part: str, path: str) -> bool:
    return any(name == path or name.startswith(f"{path}/") for name in _names(part))


def _names(part: str) -> list[str]:
    before_lines = part.partition("\n@@ ")[0]
    return [*_NAME.findall(before_lines), *_HEADER.findall(before_lines)]
