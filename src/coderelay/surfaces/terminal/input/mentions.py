"""`@path` in what is typed: a file or folder of the session's folder.

A name with spaces stands in quotes: `@"my notes.txt"`. Inside, `\\"` and `\\\\` stand for a quote and a backslash.
"""

import re

from msgspec import Struct

_BEFORE = r"(?:^|(?<=[\s(\[{<,;:='\"`]))"
_QUOTED = r'"(?P<quoted>(?:[^"\\\n]|\\.)*)'
_PLAIN = r'(?P<plain>[^\s"]*)'
_UNFINISHED = re.compile(rf"{_BEFORE}@(?:{_QUOTED}|{_PLAIN})$")
_ANY = re.compile(rf'{_BEFORE}@(?:{_QUOTED}"|{_PLAIN})')
_IS_PLAIN = re.compile(r"[^\s\"'`()\[\]{}<>,;]+")
_TRAILING = ".,;:!?)]}>'`"


class Mention(Struct, frozen=True):
    """`path` as it is meant; from `start` to `end` in the text."""

    path: str
    start: int
    end: int


def unfinished_mention(before_cursor: str) -> Mention | None:
    """The one that is being typed."""
    line = before_cursor.rpartition("\n")[2]
    found = _UNFINISHED.search(line)
    if found is None:
        return None
    skipped = len(before_cursor) - len(line)
    return Mention(_path(found), skipped + found.start(), len(before_cursor))


def mentions(text: str) -> list[Mention]:
    """All of them. What ends a sentence behind one does not belong to it."""
    found: list[Mention] = []
    for each in _ANY.finditer(text):
        path = _path(each)
        kept = path if each["plain"] is None else path.rstrip(_TRAILING)
        if kept:
            found.append(Mention(kept, each.start(), each.end() - (len(path) - len(kept) if each["plain"] else 0)))
    return found


def mention_of(path: str) -> str:
    if _IS_PLAIN.fullmatch(path):
        return f"@{path}"
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'@"{escaped}"'


def _path(found: re.Match[str]) -> str:
    quoted = found["quoted"]
    return found["plain"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
