"""Assembles the events of a streamed Anthropic Messages answer into one message.

Only the fields that we read are declared. Events and blocks of other kinds are skipped.
"""

from io import StringIO
from typing import Any, cast

import msgspec
from msgspec import Raw, Struct, field

from coderelay.models.answer_limits_and_completeness import AnswerSize, check_call_size, is_json
from coderelay.models.anthropic.message_encoder import redacted, sealed
from coderelay.models.api_errors import broken_event, broken_off, failure
from coderelay.models.model import Completion
from coderelay.protocol.calls import Call
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.events import StopReason
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Block, Text
from coderelay.protocol.usage_and_cost import Usage

_STOP_REASONS: dict[str, StopReason] = {
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_EVENTS = ("message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "error")
_BLOCKS = ("text", "thinking", "redacted_thinking", "tool_use")


class _Usage(Struct, frozen=True):
    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None


class _Message(Struct, frozen=True):
    usage: _Usage | None = None


class _StartedBlock(Struct, frozen=True):
    """A block as it begins. Some servers put content into it that should follow in later events."""

    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str | None = None
    data: str = ""
    id: str = ""
    name: str = ""
    input: Raw = Raw(b"{}")


class _Delta(Struct, frozen=True):
    text: str = ""
    thinking: str = ""
    signature: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _Event(Struct, frozen=True):
    type: str = ""
    index: int = 0
    delta: _Delta | None = None
    content_block: _StartedBlock | None = None
    message: _Message | None = None
    usage: _Usage | None = None
    error: Any = None


class _Kind(Struct, frozen=True):
    type: str = ""


class _HalfBlock(Struct):
    begun: _StartedBlock
    written: StringIO = field(default_factory=StringIO)
    signed: StringIO = field(default_factory=StringIO)

    @property
    def text(self) -> str:
        return self.written.getvalue()

    @property
    def signature(self) -> str:
        return self.signed.getvalue()


_decode = msgspec.json.Decoder(_Event).decode


class AnthropicAnswer:
    """One message while it arrives. `by` names the wire format and model that can read the seals of its thoughts."""

    def __init__(self, by: str, secret: str) -> None:
        self.is_done = False  # the server said that nothing more will come
        self._by = by
        self._secret = secret
        self._halves: list[_HalfBlock] = []
        self._open: dict[int, _HalfBlock] = {}  # by index; some servers give every block the same one
        self._thinking: list[str] = []  # not shown yet
        self._text: list[str] = []
        self._size = AnswerSize()
        self._usage = _Usage()
        self._stop_reason = ""

    def take(self, events: list[bytes]) -> tuple[str, str]:
        """Read some events. Returns the thinking and the text they bring. Raises ModelFailed."""
        for data in events:
            if self.is_done:
                break
            self._take_event(data)
        new = "".join(self._thinking), "".join(self._text)
        self._thinking.clear()
        self._text.clear()
        return new

    def completion(self) -> Completion:
        if not self._stop_reason:
            raise broken_off()
        stop_reason = _STOP_REASONS.get(self._stop_reason, "end_turn")
        blocks = [block for half in self._halves if (block := self._block(half)) is not None]
        return Completion(tuple(blocks), _whole_calls(self._halves, stop_reason), _total(self._usage), stop_reason)

    def _take_event(self, data: bytes) -> None:
        event = _read(data)
        delta = event.delta
        match event.type:
            case "content_block_delta" if delta is not None:
                half = self._open.get(event.index)
                if half is not None:
                    self._take_delta(half, delta)
            case "content_block_start" if event.content_block is not None:
                self._begin(event.index, event.content_block, len(data))
            case "message_start" if event.message is not None:
                self._count(event.message.usage)
            case "message_delta":
                self._count(event.usage)
                self._stop_reason = (delta and delta.stop_reason) or self._stop_reason
            case "message_stop":
                self.is_done = True
            case "error":
                raise self._failed(event.error)
            case _:
                pass

    def _begin(self, index: int, begun: _StartedBlock, size: int) -> None:
        self._open.pop(index, None)
        if begun.type in _BLOCKS:
            self._size.add_part(size)
            half = self._open[index] = _HalfBlock(begun)
            self._halves.append(half)
            self._take_delta(half, _Delta(begun.text, begun.thinking, begun.signature or ""))

    def _take_delta(self, half: _HalfBlock, delta: _Delta) -> None:
        piece = delta.text or delta.partial_json or delta.thinking
        self._size.add(len(piece) + len(delta.signature))
        half.written.write(piece)
        half.signed.write(delta.signature)
        if delta.text:
            self._text.append(piece)
        elif delta.partial_json:
            check_call_size(half.written.tell())
        elif piece:
            self._thinking.append(piece)

    def _count(self, usage: _Usage | None) -> None:
        """Update the token counts. Later counts are of the whole message. A count that is missing, or that some
        servers set to 0, has not changed."""
        if usage is not None:
            known = self._usage
            self._usage = _Usage(
                usage.input_tokens or known.input_tokens,
                usage.cache_creation_input_tokens or known.cache_creation_input_tokens,
                usage.cache_read_input_tokens or known.cache_read_input_tokens,
                known.output_tokens if usage.output_tokens is None else usage.output_tokens,
            )

    def _block(self, half: _HalfBlock) -> Block | None:
        match half.begun.type:
            case "text" if half.text:
                return Text(half.text)
            case "thinking" if half.text or half.signature:
                return sealed(self._by, half.text, half.signature)
            case "redacted_thinking":
                return redacted(self._by, half.begun.data)
            case _:
                return None

    def _failed(self, error: object) -> ModelFailed:
        fields: dict[str, Any] = dict(cast(dict[str, Any], error)) if isinstance(error, dict) else {"message": error}
        status = _STATUSES.get(str(fields.get("type")))
        return failure(fields | {"code": status} if status else fields, self._secret)


def _read(data: bytes) -> _Event:
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if data == b"[DONE]" or _is_another_kind(data):  # gateways for several wire formats send it in all of them
            return _Event()
        raise broken_event(error) from error


def _is_another_kind(data: bytes) -> bool:
    try:
        return msgspec.json.decode(data, type=_Kind).type not in ("", *_EVENTS)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


def _whole_calls(halves: list[_HalfBlock], stop_reason: StopReason) -> tuple[Call, ...]:
    """The complete calls. An answer that was cut off may end inside a call; such a call was never made."""
    if stop_reason != "end_turn" and halves and not is_json(halves[-1].text):
        halves = halves[:-1]
    return tuple(_call(half) for half in halves if half.begun.type == "tool_use")


def _call(half: _HalfBlock) -> Call:
    begun = half.begun
    return Call(CallId(begun.id), begun.name, half.text or bytes(begun.input).decode())


def _total(usage: _Usage) -> Usage:
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    return Usage(
        input_tokens=(usage.input_tokens or 0) + read + written,
        output_tokens=usage.output_tokens or 0,
        cache_read_tokens=read,
        cache_write_tokens=written,
    )
