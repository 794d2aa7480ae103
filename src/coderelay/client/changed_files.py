"""One file or folder out of a diff."""

import re

_BEGINNING = re.compile(r"^(?=diff --git )", re.MULTILINE)
_NAME = re.compile(r"^(?:--- a/|\+\+\+ b/|rename from |rename to )(.+?)\t?$", re.MULTILINE)
_HEADER = re.compile(r"^diff --git a/(.*) b/\1$", re.MULTILINE)


def diff_of(diff: str, path: str) -> str:
    """What of a diff is about `path`, or about files beneath it; all of it if that is `.`."""
    return "".join(part for part in _BEGINNING.split(diff) if path == "." or _is_about(part, path))


def _is_about(part: str, path: str) -> bool:
    before_lines = part.partition("\n@@ ")[0]
    names = [*_NAME.findall(before_lines), *_HEADER.findall(before_lines)]
    return any(name == path or name.startswith(f"{path}/") for name in names)
