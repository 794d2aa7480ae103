"""Assembles the events of a streamed Responses answer into one message.

Only the fields that we read are declared; other fields, and events of unknown kinds, are skipped.
"""

from io import StringIO
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct, field

from coderelay.models.answer_limits_and_completeness import AnswerSize, check_call_size, is_json
from coderelay.models.api_errors import broken_event, broken_off, failure
from coderelay.models.model import Completion
from coderelay.models.openai_responses.input_encoder import Reasoning
from coderelay.protocol.calls import Call
from coderelay.protocol.events import StopReason
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Block, Text, Thinking
from coderelay.protocol.usage_and_cost import Usage

_KINDS = ("message", "function_call", "reasoning")
_PIECES = {  # event types, and the kind of item that each is a piece of
    "response.output_text.delta": "message",
    "response.refusal.delta": "message",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_text.delta": "reasoning",
    "response.function_call_arguments.delta": "function_call",
}


class _Part(Struct, frozen=True):
    text: str | None = None
    refusal: str | None = None


class _Typed(Struct, frozen=True):
    type: str = ""


class _Item(_Typed, frozen=True):
    id: str | None = None
    status: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    content: list[_Part] | None = None
    summary: list[_Part] | None = None
    encrypted_content: str | None = None


class _Event(_Typed, frozen=True):
    output_index: int = 0
    delta: Any = None  # a text in the events we know
    item: Raw = Raw(b"{}")
    response: Raw = Raw(b"{}")
    error: Any = None


class _InputDetails(Struct, frozen=True):
    cached_tokens: int | None = None


class _OutputDetails(Struct, frozen=True):
    reasoning_tokens: int | None = None


class _Usage(Struct, frozen=True):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _InputDetails | None = None
    output_tokens_details: _OutputDetails | None = None


class _Incomplete(Struct, frozen=True):
    reason: str | None = None


class _Response(Struct, frozen=True):
    usage: _Usage | None = None
    incomplete_details: _Incomplete | None = None
    error: Any = None
    output: list[Raw] | None = None


class _HalfItem(Struct):
    kind: str
    item: _Item = _Item()
    written: StringIO = field(default_factory=StringIO)

    @property
    def text(self) -> str:
        return self.written.getvalue()


Wanted = TypeVar("Wanted")

_decode = msgspec.json.Decoder(_Event).decode


class ResponsesAnswer:
    """One message while it arrives. `by` names the wire format and model that can read its seals."""

    def __init__(self, secret: str, by: str) -> None:
        self.is_done = False  # the server said that nothing more will come
        self._secret = secret
        self._by = by
        self._thinking: list[str] = []  # not shown yet, like the text
        self._text: list[str] = []
        self._items: dict[int, _HalfItem] = {}
        self._size = AnswerSize()
        self._usage = Usage()
        self._stop_reason: StopReason = "end_turn"

    def take(self, events: list[bytes]) -> tuple[str, str]:
        """Read some events. Returns the thinking and the text they bring. Raises ModelFailed."""
        for data in events:
            if self.is_done:
                break
            if data != b"[DONE]":  # some servers end every stream with it
                self._take_event(data)
        new = "".join(self._thinking), "".join(self._text)
        self._thinking.clear()
        self._text.clear()
        return new

    def completion(self) -> Completion:
        if not self.is_done:
            raise broken_off()
        blocks: list[Block] = []
        calls: list[Call] = []
        thoughts: list[_HalfItem] = []  # those whose following item has not come yet
        for _, half in sorted(self._items.items()):
            if half.kind == "reasoning":
                thoughts.append(half)
                continue
            call = self._whole_call(half) if half.kind == "function_call" else None
            text = half.text if half.kind == "message" else ""
            blocks += self._thought(thoughts, len(calls) if call else None, alone=not call and not text)
            thoughts = []
            blocks += [Text(text)] if text else []
            calls += [call] if call else []
        blocks += self._thought(thoughts, None, alone=True)
        return Completion(tuple(blocks), tuple(calls), self._usage, self._stop_reason)

    def _take_event(self, data: bytes) -> None:
        try:
            event = _decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise broken_event(error) from error
        kind = _PIECES.get(event.type)
        if kind is not None:
            self._take_piece(event, kind)
            return
        if event.error is not None:
            raise failure(event.error, self._secret)
        match event.type:
            case "response.output_item.added":
                self._begin(event)
            case "response.reasoning_summary_part.added":
                self._separate(event)
            case "response.output_item.done":
                self._take_item(event.output_index, event.item)
            case "response.completed" | "response.incomplete" | "response.failed":
                self._finish(event.type, _read(event.response, _Response))
            case "error":
                raise failure(_read(data, dict[str, Any]), self._secret)
            case _:
                pass

    def _take_piece(self, event: _Event, kind: str) -> None:
        if not isinstance(event.delta, str):
            raise broken_event(f"{event.type} without text")
        self._size.add(len(event.delta))
        half = self._half(event.output_index, kind)
        half.written.write(event.delta)
        if half.kind == "function_call":
            check_call_size(half.written.tell())
        if kind == "message":
            self._text.append(event.delta)
        elif kind == "reasoning":
            self._thinking.append(event.delta)
        if event.type == "response.refusal.delta":
            self._stop_reason = "refusal"

    def _begin(self, event: _Event) -> None:
        kind = _read(event.item, _Typed).type
        if kind in _KINDS:
            self._size.add(len(event.item))
            self._half(event.output_index, kind).item = _read(event.item, _Item)

    def _separate(self, event: _Event) -> None:
        half = self._half(event.output_index, "reasoning")
        if half.written.tell():
            half.written.write("\n\n")
            self._thinking.append("\n\n")

    def _take_item(self, index: int, data: Raw) -> None:
        kind = _read(data, _Typed).type
        if kind not in _KINDS:
            return
        self._size.add(len(data))
        half = self._half(index, kind)
        item = half.item = _read(data, _Item)
        if any(part.refusal for part in item.content or ()):
            self._stop_reason = "refusal"
        if kind == "function_call":
            check_call_size(len(item.arguments or ""))
            half.written = _text(item.arguments or half.text)
        elif not half.written.tell():  # some servers send only the finished item, no pieces
            half.written = _text(_whole_text(item))
            (self._text if kind == "message" else self._thinking).append(half.text)

    def _half(self, index: int, kind: str) -> _HalfItem:
        half = self._items.get(index)
        if half is None:
            self._size.add_part()
            half = self._items[index] = _HalfItem(kind)
        return half

    def _finish(self, kind: str, response: _Response) -> None:
        if kind == "response.failed":
            raise failure(response.error, self._secret)
        if not self._items:
            for index, item in enumerate(response.output or ()):
                self._take_item(index, item)
        if kind == "response.incomplete":
            details = response.incomplete_details
            self._stop_reason = "refusal" if details and details.reason == "content_filter" else "max_tokens"
        self._usage = _usage(response.usage or _Usage())
        self.is_done = True

    def _whole_call(self, half: _HalfItem) -> Call | None:
        """The call if it is complete. An answer that was cut off may end inside a call; such a call was never
        made."""
        item = half.item
        if not item.name:
            return None
        if self._stop_reason != "end_turn" and (item.status == "incomplete" or not is_json(half.text)):
            return None
        return Call(CallId(item.call_id or item.id or ""), item.name, half.text or "{}")

    def _thought(self, thoughts: list[_HalfItem], call: int | None, *, alone: bool) -> list[Block]:
        """The blocks of some reasoning items. `alone` means that the item they led to is missing, so they cannot be
        sent back."""
        blocks: list[Block] = []
        for half in thoughts:
            item = half.item
            summary, content = _texts(item.summary), _texts(item.content)
            if not alone and (item.encrypted_content or content):
                kept = Reasoning(item.id or "", summary, content, item.encrypted_content or "", call)
                blocks.append(Thinking(half.text, kept.sealed(self._by)))
            elif half.text:
                blocks.append(Thinking(half.text))
        return blocks


def _read(data: Raw | bytes, kind: type[Wanted]) -> Wanted:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise broken_event(error) from error


def _text(text: str) -> StringIO:
    written = StringIO()
    written.write(text)
    return written


def _texts(parts: list[_Part] | None) -> tuple[str, ...]:
    return tuple(part.text for part in parts or () if part.text)


def _whole_text(item: _Item) -> str:
    if item.type == "reasoning":
        return "\n\n".join(_texts(item.summary) or _texts(item.content))
    return "".join(part.text or part.refusal or "" for part in item.content or ())


def _usage(usage: _Usage) -> Usage:
    cached = usage.input_tokens_details and usage.input_tokens_details.cached_tokens
    reasoning = usage.output_tokens_details and usage.output_tokens_details.reasoning_tokens
    return Usage(
        input_tokens=usage.input_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        cache_read_tokens=cached or 0,
        reasoning_tokens=reasoning or 0,
    )
