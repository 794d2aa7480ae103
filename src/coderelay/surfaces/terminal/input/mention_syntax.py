"""Files that a prompt mentions with `@`: reading and writing the mentions."""

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
    """An `@` mention. `path` is without quotes and escapes; `start` and `end` are its position in the text."""

    path: str
    start: int
    end: int


def unfinished_mention(before_cursor: str) -> Mention | None:
    """The mention that is being typed, if there is one before the cursor."""
    line = before_cursor.rpartition("\n")[2]
    found = _UNFINISHED.search(line)
    if found is None:
        return None
    skipped = len(before_cursor) - len(line)
    return Mention(_path(found), skipped + found.start(), len(before_cursor))


def mentions(text: str) -> list[Mention]:
    """All mentions of a text. Punctuation after an unquoted mention does not belong to it."""
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
