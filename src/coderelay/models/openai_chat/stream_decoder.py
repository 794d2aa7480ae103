"""Assembles the events of a streamed Chat Completions answer into one message.

The events have many dialects. Only the fields that we read are declared; the rest is skipped.
"""

from collections.abc import Mapping
from io import StringIO
from typing import Any, cast

import msgspec
from msgspec import Struct, field

from coderelay.models.answer_limits_and_completeness import AnswerSize, check_call_size, is_json
from coderelay.models.api_errors import broken_event, broken_off, failure
from coderelay.models.model import Completion
from coderelay.models.think_tags import ThinkTags
from coderelay.protocol.calls import Call
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.events import StopReason
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Block, Seal, Text, Thinking
from coderelay.protocol.translatable import say
from coderelay.protocol.usage_and_cost import Usage

_STOP_REASONS: dict[str, StopReason] = {
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "content_filter": "refusal",
    "refusal": "refusal",
}
GOES_BACK = {"reasoning_content": "reasoning_content"}
_FAILURES = ("error", "insufficient_system_resource")  # OpenRouter, DeepSeek: the answer is incomplete


class _FunctionDelta(Struct, frozen=True):
    name: str | None = None
    arguments: str | None = None


class _CallDelta(Struct, frozen=True):
    index: int | None = None
    id: str | None = None
    function: _FunctionDelta | None = None
    extra_content: Any = None

    @property
    def name(self) -> str:
        return (self.function and self.function.name) or ""

    @property
    def arguments(self) -> str:
        return (self.function and self.function.arguments) or ""

    @property
    def signature(self) -> str:
        """The thought signature of Gemini, when it speaks this wire format."""
        extra = _field(_field(self.extra_content, "google"), "thought_signature")
        return extra if isinstance(extra, str) else ""


class _Delta(Struct, frozen=True):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[_CallDelta] | None = None


class _Choice(Struct, frozen=True):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _InputDetails(Struct, frozen=True):
    cached_tokens: int | None = None


class _OutputDetails(Struct, frozen=True):
    reasoning_tokens: int | None = None


class _Usage(Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_cache_hit_tokens: int | None = None  # DeepSeek
    cached_tokens: int | None = None  # Kimi
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None


class _Event(Struct, frozen=True):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None


class _HalfCall(Struct):
    place: int
    id: str = ""
    name: str = ""
    arguments_so_far: StringIO = field(default_factory=StringIO)
    signature: str = ""

    @property
    def arguments(self) -> str:
        return self.arguments_so_far.getvalue()


_decode = msgspec.json.Decoder(_Event).decode


class ChatAnswer:
    """One message while it arrives. `by` names the wire format and model that can read its seals. `goes_back` maps
    the field in which thinking arrived to the field in which it is sent back."""

    def __init__(self, secret: str, by: str, goes_back: Mapping[str, str] = GOES_BACK) -> None:
        self.is_done = False  # the server said that nothing more will come
        self._secret = secret
        self._by = by
        self._goes_back = goes_back
        self._new_text: list[str] = []  # from the events that are being read
        self._new_thinking: list[str] = []
        self._text = StringIO()
        self._thinking = StringIO()
        self._thinking_field = ""
        self._tagged = StringIO()  # thinking that arrived as text, in tags
        self._size = AnswerSize()
        self._tags = ThinkTags()
        self._calls: list[_HalfCall] = []
        self._usage = Usage()
        self._finish = ""
        self._refused = False

    def take(self, events: list[bytes]) -> tuple[str, str]:
        """Read some events. Returns the thinking and the text they bring. Raises ModelFailed."""
        self._new_text.clear()
        self._new_thinking.clear()
        for data in events:
            if data == b"[DONE]":
                self.is_done = True
            if self.is_done:
                break
            self._take_event(data)
        thinking = "".join(self._new_thinking)
        tagged, text = self._tags.feed("".join(self._new_text))
        self._thinking.write(thinking)
        self._tagged.write(tagged)
        self._text.write(text)
        return thinking + tagged, text

    def end(self) -> tuple[str, str]:
        """The thinking and the text that were held back because they could have become a tag."""
        tagged, text = self._tags.end()
        self._tagged.write(tagged)
        self._text.write(text)
        return tagged, text

    def completion(self) -> Completion:
        if not self._finish:
            raise broken_off()
        if self._finish in _FAILURES:
            raise ModelFailed(say("the model server gave up in the middle: {why}", why=self._finish), retryable=True)
        stop_reason = "refusal" if self._refused else _STOP_REASONS.get(self._finish, "end_turn")
        self.end()
        return Completion(self._blocks(), self._whole_calls(stop_reason), self._usage, stop_reason)

    def _blocks(self) -> tuple[Block, ...]:
        name = self._goes_back.get(self._thinking_field)
        seal = Seal(self._by, name) if name else None
        thoughts = (Thinking(self._thinking.getvalue(), seal), Thinking(self._tagged.getvalue()))
        text = self._text.getvalue()
        return (*(each for each in thoughts if each.thinking), *([Text(text)] if text else []))

    def _take_event(self, data: bytes) -> None:
        try:
            event = _decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise broken_event(error) from error
        if event.error is not None:
            raise failure(event.error, self._secret)
        if event.usage is not None:
            self._usage = _usage(event.usage)
        if event.choices:
            self._take_choice(event.choices[0])

    def _take_choice(self, choice: _Choice) -> None:
        if choice.finish_reason:  # some servers send an empty one with every event
            self._finish = choice.finish_reason
        delta = choice.delta
        if delta is None:
            return
        if delta.content:
            self._new_text.append(self._counted(delta.content))
        if thinking := delta.reasoning_content or delta.reasoning:
            self._new_thinking.append(self._counted(thinking))
            self._thinking_field = "reasoning_content" if delta.reasoning_content else "reasoning"
        if delta.refusal:
            self._new_text.append(self._counted(delta.refusal))
            self._refused = True
        for call in delta.tool_calls or ():
            self._take_call(call)

    def _take_call(self, delta: _CallDelta) -> None:
        call = self._call_of(delta)
        call.id = call.id or self._counted(delta.id or "")
        call.name = call.name or self._counted(delta.name)
        call.signature = call.signature or self._counted(delta.signature)
        call.arguments_so_far.write(self._counted(delta.arguments))
        check_call_size(call.arguments_so_far.tell())

    def _counted(self, piece: str) -> str:
        self._size.add(len(piece))
        return piece

    def _call_of(self, delta: _CallDelta) -> _HalfCall:
        call = self._known_call(delta)
        if call is None or _begins_another(call, delta):
            self._size.add_part()
            call = _HalfCall(place=len(self._calls) if delta.index is None else delta.index)
            self._calls.append(call)
        return call

    def _known_call(self, delta: _CallDelta) -> _HalfCall | None:
        """The call that this piece continues, unless it begins another one."""
        if delta.index is not None:
            return next((call for call in reversed(self._calls) if call.place == delta.index), None)
        named = (call for call in self._calls if delta.id and call.id == delta.id)
        return next(named, self._calls[-1] if self._calls else None)

    def _whole_calls(self, stop_reason: StopReason) -> tuple[Call, ...]:
        """The complete calls. An answer that was cut off may end inside a call; such a call was never made."""
        calls = [call for call in sorted(self._calls, key=lambda call: call.place) if call.name]
        if stop_reason != "end_turn":
            calls = [call for call in calls if is_json(call.arguments)]
        return tuple(self._call(call) for call in calls)

    def _call(self, call: _HalfCall) -> Call:
        seal = Seal(self._by, call.signature) if call.signature else None
        return Call(CallId(call.id), call.name, call.arguments or "{}", seal)


def _begins_another(call: _HalfCall, delta: _CallDelta) -> bool:
    """Some servers give every call the index 0 or none at all; then a second name begins a second call."""
    if not call.name or not delta.name:
        return False
    if call.id and delta.id:
        return call.id != delta.id
    if delta.index is None:
        return True
    # Arguments are an object. Checked first, because parsing all arguments again with every piece would be slow.
    begins = bool(delta.arguments) and delta.arguments.lstrip()[:1] in ("", "{")
    return begins and is_json(call.arguments)


def _field(value: object, name: str) -> object:
    return cast(dict[str, Any], value).get(name) if isinstance(value, dict) else None


def _usage(usage: _Usage) -> Usage:
    details = usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens
    cached = details or usage.prompt_cache_hit_tokens or usage.cached_tokens
    reasoning = usage.completion_tokens_details and usage.completion_tokens_details.reasoning_tokens
    return Usage(
        input_tokens=usage.prompt_tokens or 0,
        output_tokens=usage.completion_tokens or 0,
        cache_read_tokens=cached or 0,
        reasoning_tokens=reasoning or 0,
    )
