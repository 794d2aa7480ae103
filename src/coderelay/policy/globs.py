"""Paths as people write them in rules: like lines of a `.gitignore`, or from `~/` or `/`."""

import posixpath
import re
from collections.abc import Iterable
from functools import lru_cache

_PIECE = r"(?s)/\*\*/|\*\*/|/\*\*|\*\*|\*|\?|\[!?[^]/]+\]|."


def matches(pattern: str, path: str, folders: Iterable[str], home: str, *, any_case: bool) -> bool:
    """Is this path, or a folder it is in, what the pattern means? `path` is as a tool or a command names it;
    what is relative is so to the first of the `folders`, a pattern to any of them."""
    roots = tuple(folders)
    full = posixpath.normpath(posixpath.join(roots[0] if roots else "/", _at_home(path, home)))
    if pattern.startswith(("/", "~/")):
        return _matches(_at_home(pattern, home), full, any_case)
    return any(_matches(_anchored(pattern, root), full, any_case) for root in roots)


def _at_home(path: str, home: str) -> str:
    return posixpath.join(home, path[2:]) if path.startswith("~/") and home else path


def _anchored(pattern: str, root: str) -> str:
    """Without a slash before its end, a pattern counts at any depth."""
    inside = pattern.removeprefix("./")
    deep = "" if "/" in inside.rstrip("/") else "**/"
    return f"{_escaped(root.rstrip('/'))}/{deep}{inside}"


def _escaped(root: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", root)


def _matches(pattern: str, full: str, any_case: bool) -> bool:
    return _compiled(pattern, any_case).fullmatch(full) is not None


@lru_cache(maxsize=512)
def _compiled(pattern: str, any_case: bool) -> re.Pattern[str]:
    pieces = "".join(_regex(piece) for piece in re.findall(_PIECE, pattern.rstrip("/")))
    return re.compile(pieces + r"(?:/.*)?", re.DOTALL | (re.IGNORECASE if any_case else 0))


def _regex(piece: str) -> str:
    match piece:
        case "/**/":
            return "/(?:.*/)?"
        case "**/":
            return "(?:.*/)?"
        case "/**":
            return "/.*"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _ if len(piece) > 1:
            inside = re.sub(r"([\\^\[])", r"\\\1", piece[1:-1].removeprefix("!"))
            return f"[{'^' if piece[1] == '!' else ''}{inside}]"
        case _:
            return re.escape(piece)
