"""Parses answers bound to a JSON schema: one tool call. A call of `finish` is the answer, shown as it is written."""

import re
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from coderelay.models.model import Completion
from coderelay.models.text_tool_calls import call_in_text
from coderelay.protocol.calls import Call
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Block, Text, Thinking, text_of
from coderelay.protocol.tool_specs import ToolSpec

FINISH = "finish"
_OPENING = re.compile(r'\s*\{\s*(?:"tool"\s*:\s*"finish"\s*,\s*"arguments"\s*:\s*\{\s*)?"answer"\s*:\s*"')
_COMPACT = ('{"tool":"finish","arguments":{"answer":"', '{"answer":"')  # the second is how some models put it
_MAY_BE_CALL = ("{", "[", "`", "<")
_MOST_UNCLEAR = 1024  # characters; a model bound to a schema may write blanks without an end
_PLAIN = re.compile(r'[^"\\]*')
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_NO_CHARACTER = "\ufffd"


def step_schema(tools: Sequence[ToolSpec]) -> dict[str, Any]:
    calls = [_object(tool={"const": tool.name}, arguments=tool.parameters) for tool in tools]
    finish = _object(tool={"const": FINISH}, arguments=_object(answer={"type": "string"}))
    return {"anyOf": [*calls, finish]}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


class SchemaAnswer:
    """Takes the text piece by piece and returns what of it can be shown. A server that does not support schemas may
    send anything: prose is shown as it arrives, and what may yet turn out to be a call is held back."""

    def __init__(self) -> None:
        self._what: Literal["unclear", "answer", "prose", "held back"] = "unclear"
        self._head = ""  # the text so far, while it is unclear
        self._string = JsonString()
        self._shown: list[str] = []

    def feed(self, piece: str) -> str:
        shown = self._read(piece)
        if shown:
            self._shown.append(shown)
        return shown

    def completion(self, heard: Completion, tools: Sequence[ToolSpec]) -> Completion:
        """`received` is the message as the server sent it. Raises ModelFailed if it ends inside a call."""
        if self._what == "prose":
            return heard
        if self._what == "answer":
            return _saying(heard, "".join(self._shown))
        said = text_of(heard.blocks)
        call = _proposed(said) or call_in_text(said, tools)
        if call is not None and call.name == FINISH:
            return _saying(heard, _answer_among_more(call.arguments) or call.arguments)
        if call is not None:
            return replace(heard, blocks=_thoughts(heard), calls=(call,))
        if heard.stop_reason == "max_tokens" and said.lstrip().startswith("{"):
            hint = "Ask for less at once."
            raise ModelFailed("the model's answer was cut off inside a call: it grew too long", hint=hint)
        return _saying(heard, _answer_among_more(said) or said)

    def rest(self, completion: Completion) -> str:
        """The text to show at the end: what was held back and is not a call."""
        return text_of(completion.blocks)[sum(map(len, self._shown)) :]

    def _read(self, piece: str) -> str:
        match self._what:
            case "unclear":
                self._head += piece
                return self._begin()
            case "answer":
                return self._string.feed(piece)
            case "prose":
                return piece
            case "held back":
                return ""

    def _begin(self) -> str:
        compact = "".join(self._head.split())
        may_be_answer = any(each != compact and each.startswith(compact) for each in _COMPACT)
        if len(self._head) <= _MOST_UNCLEAR and may_be_answer:
            return ""
        if opening := _OPENING.match(self._head):
            self._what = "answer"
            return self._string.feed(self._head[opening.end() :])
        if not compact or compact.startswith(_MAY_BE_CALL):
            self._what = "held back"
            return ""
        self._what = "prose"
        return self._head


class _Proposed(Struct, frozen=True, forbid_unknown_fields=True):
    tool: str
    arguments: Raw


class _Answered(Struct, frozen=True):
    answer: str


def _proposed(text: str) -> Call | None:
    """A call in the form that was asked for; the tool itself checks whether it makes sense."""
    try:
        proposed = msgspec.json.decode(text, type=_Proposed)
    except (msgspec.DecodeError, RecursionError):
        return None
    return Call(CallId(""), proposed.tool, bytes(proposed.arguments).decode())


def _answer_among_more(text: str) -> str | None:
    try:
        return msgspec.json.decode(text, type=_Answered).answer
    except (msgspec.DecodeError, RecursionError):
        return None


def _saying(heard: Completion, text: str) -> Completion:
    said: tuple[Block, ...] = (Text(text),) if text else ()
    return replace(heard, blocks=(*_thoughts(heard), *said))


def _thoughts(heard: Completion) -> tuple[Block, ...]:
    return tuple(block for block in heard.blocks if isinstance(block, Thinking))


class JsonString:
    """Decodes a JSON string piece by piece, from after the opening quote. Half an escape, or half a surrogate pair,
    waits for its other half; what is not a character is replaced, so that the value can always be stored."""

    def __init__(self) -> None:
        self.ended = False
        self._half = ""

    def feed(self, piece: str) -> str:
        """What this piece adds to the value. Anything after the closing quote is left out."""
        text, at, value = self._half + piece, 0, list[str]()
        self._half = ""
        while not self.ended and at < len(text):
            plain = _PLAIN.match(text, at)
            assert plain is not None
            value.append(plain[0])
            at = plain.end()
            if text.startswith('"', at):
                self.ended = True
            elif at < len(text):
                escape = _escape(text, at)
                if escape is None:
                    self._half = text[at:]
                    break
                value.append(escape[0])
                at = escape[1]
        return "".join(value)


def _escape(text: str, at: int) -> tuple[str, int] | None:
    """The character whose escape begins at `at`, and the position after it; None if more input is needed."""
    letter = text[at + 1 : at + 2]
    if not letter:
        return None
    if letter != "u":
        return _SHORT.get(letter, letter), at + 2
    unit = _unit(text, at)
    if unit is None or not 0xD800 <= unit < 0xE000:
        return unit if unit is None else (_character(unit), at + (6 if unit >= 0 else 2))
    if unit >= 0xDC00:
        return _NO_CHARACTER, at + 6
    return _pair(text, at, unit)


def _pair(text: str, at: int, high: int) -> tuple[str, int] | None:
    follows = text[at + 6 : at + 8]
    if not r"\u".startswith(follows):
        return _NO_CHARACTER, at + 6
    low = _unit(text, at + 6) if len(follows) == 2 else None
    if low is None:
        return None
    if not 0xDC00 <= low < 0xE000:
        return _NO_CHARACTER, at + 6
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), at + 12


def _unit(text: str, at: int) -> int | None:
    """The code unit in `\\uXXXX`; -1 if it is not a number, None if it is incomplete."""
    digits = text[at + 2 : at + 6]
    if _HEX.fullmatch(digits):
        return int(digits, 16)
    return None if len(digits) < 4 else -1


def _character(unit: int) -> str:
    return chr(unit) if unit >= 0 else _NO_CHARACTER
