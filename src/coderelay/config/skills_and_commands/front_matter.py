"""Parse the front matter of a Markdown file, between two lines of `---`: the simple forms of YAML used there.

    name: pdf                          a text, also in quotes, over several lines, or below `|` or `>`
    allowed-tools: Read, Bash(git *)   a list, also in [ ] or as lines of `- `

Only the keys that a caller asks for are parsed; the values of others may be anything. Raises BadInput that names the
line and says what is valid.
"""

import json
import re
from textwrap import dedent

from msgspec import Struct

from coderelay.protocol.errors import BadInput
from coderelay.protocol.translatable import say

_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*):(?:[ \t]+(.*))?")
_BLOCK = re.compile(r"([|>])[+-]?")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+')[ \t]*(?:#.*)?""")
_ITEM = re.compile(r"""\s*+("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'|(?:[^,"'()\[\]]|\([^()]*\))++)\s*+(?:,|$)""")
_WORD = re.compile(r"(?:[^\s,()]|\([^()]*\))+")
_NEEDS_QUOTES = tuple("&*!{}%@`?|>")
_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}
_MOST_LINES = 200


class Field(Struct, frozen=True):
    """The unparsed value of a key: the rest of its line, and the lines below that belong to it."""

    key: str
    line: int
    first: str
    below: list[str]


class FrontMatter(Struct, frozen=True):
    fields: dict[str, Field]
    body: str

    def text(self, key: str) -> str:
        """The text of a key; empty if the key is not set."""
        return _text(self.fields[key]) if key in self.fields else ""

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(_texts(self.fields[key])) if key in self.fields else ()

    def flag(self, key: str) -> bool:
        word = self.text(key).lower()
        if word and word not in _TRUTHS:
            raise _wrong(self.fields[key], "must be true or false")
        return _TRUTHS.get(word, False)


def read_front_matter(text: str) -> FrontMatter:
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return FrontMatter({}, "\n".join(lines))
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if end is None or end > _MOST_LINES:
        raise BadInput(
            say(
                "line 1: the front matter that begins with --- must end with --- within {count} lines",
                count=_MOST_LINES,
            )
        )
    return FrontMatter(_fields(lines[1:end]), "\n".join(lines[end + 1 :]))


def _fields(lines: list[str]) -> dict[str, Field]:
    fields: dict[str, Field] = {}
    below: list[str] = []  # the lines below the latest key
    for number, line in enumerate(lines, 2):
        found = _KEY.fullmatch(line.rstrip())
        if found is None:
            if line.strip() and not line.startswith((" ", "#", "- ")):
                raise BadInput(say("line {number}: there must be `key: value`", number=number))
            below.append(line.rstrip())
        elif found[1] in fields:
            raise BadInput(say("line {number}: {key} is set twice", number=number, key=found[1]))
        else:
            below = []
            fields[found[1]] = Field(found[1], number, (found[2] or "").strip(), below)
    return fields


def _text(field: Field) -> str:
    if block := _BLOCK.fullmatch(_COMMENT.sub("", field.first)):
        lines = dedent("\n".join(field.below)).strip("\n")
        return lines if block[1] == "|" else _folded(lines)
    if field.first.startswith(('"', "'")):
        return _quoted(field)
    lines = [_COMMENT.sub("", line).strip() for line in (field.first, *field.below)]
    text = " ".join(filter(None, lines))
    if text.startswith(_NEEDS_QUOTES):
        raise _wrong(field, say("begins with {character}, so it must be in quotes", character=text[0]))
    if (not field.first and _KEY.match(text)) or text.startswith("- "):
        raise _wrong(field, "must be a text")
    return text


def _folded(lines: str) -> str:
    """Fold lines as `>` does: an empty line is a line break, any other line break becomes a space."""
    return "\n".join(" ".join(part.split("\n")) for part in lines.split("\n\n"))


def _quoted(field: Field) -> str:
    whole = " ".join(filter(None, (field.first, *(line.strip() for line in field.below))))
    found = _QUOTED.fullmatch(whole)
    if found is None:
        raise _wrong(field, "has a quote that does not end")
    return _unquoted(field, found[1])


def _unquoted(field: Field, text: str) -> str:
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    try:
        return str(json.loads(text, strict=False))
    except ValueError as error:
        raise _wrong(field, "has a \\ that means nothing; write \\\\ or use single quotes") from error


def _texts(field: Field) -> list[str]:
    items = [line.strip() for line in field.below if line.strip() and not line.strip().startswith("#")]
    if not _COMMENT.sub("", field.first) and items and all(each.startswith("-") for each in items):
        return [_item(field, each[1:].strip()) for each in items]
    whole = " ".join(filter(None, (_COMMENT.sub("", field.first), *items)))
    if whole.startswith("["):
        return _flow(field, whole)
    return _WORD.findall(_text(field))


def _item(field: Field, text: str) -> str:
    if found := _QUOTED.fullmatch(text):
        return _unquoted(field, found[1])
    plain = _COMMENT.sub("", text).strip()
    if not plain or plain.startswith((*_NEEDS_QUOTES, "[", "- ", '"', "'")):
        raise _wrong(field, "must be a list of plain texts")
    return plain


def _flow(field: Field, text: str) -> list[str]:
    inner = _COMMENT.sub("", text).strip()
    if not inner.endswith("]"):
        raise _wrong(field, "has a [ without its ]")
    inner, at, items = inner[1:-1].strip(), 0, list[str]()
    while at < len(inner):
        found = _ITEM.match(inner, at)
        if found is None or not found[1].strip():
            raise _wrong(field, "must be a list of plain texts")
        items.append(_item(field, found[1].strip()))
        at = found.end()
    return items


def _wrong(field: Field, what: str) -> BadInput:
    return BadInput(say("line {number}: {key} {problem}", number=field.line, key=field.key, problem=what))
