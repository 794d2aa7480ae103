"""OpenAI Chat Completions, streamed: the form most servers speak."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, NoReturn

import msgspec
from msgspec import Struct

from coderelay.models.http import HttpClient, Response
from coderelay.models.model import Completion, Piece, Request, TextPiece, ThinkingPiece
from coderelay.models.sse import EventLines
from coderelay.protocol.calls import Call
from coderelay.protocol.content import Block, Text, Thinking, Usage
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.events import StopReason
from coderelay.protocol.ids import CallId
from coderelay.session.snapshot import openai_message, openai_tool
from coderelay.session.transcript import Message

_STOP_REASONS: dict[str, StopReason] = {"length": "max_tokens", "content_filter": "refusal"}
_encode = msgspec.json.Encoder().encode


class OpenAIChat:
    def __init__(self, name: str, base_url: str, api_key: str, *, idle_seconds: float = 300.0) -> None:
        self.name = name
        self._client = HttpClient(base_url, idle_seconds=idle_seconds)
        self._headers = {
            "authorization": f"Bearer {api_key}",
            "content-type": "application/json",
            "accept": "text/event-stream",
            "user-agent": "coderelay",
        }
        self._history = _EncodedHistory()

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        response = await self._client.post("/chat/completions", self._headers, self._body(request))
        if response.status != 200:
            await _refused(response)
        answer, lines = _Answer(), EventLines()
        async with aclosing(response.pieces()) as pieces:
            async for piece in pieces:
                thinking, text = answer.take(lines.feed(piece))
                if thinking:
                    yield ThinkingPiece(thinking)
                if text:
                    yield TextPiece(text)
        yield answer.completion()

    async def close(self) -> None:
        await self._client.close()

    def _body(self, request: Request) -> bytes:
        """Put together from parts encoded once: a long history costs a copy, not an encoding."""
        settings: dict[str, Any] = {
            "model": self.name,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            settings["tools"] = [openai_tool(tool) for tool in request.tools]
        system = [_encode({"role": "system", "content": request.system})] if request.system else []
        messages = b",".join([*system, *self._history.encoded(request.messages)])
        return _encode(settings)[:-1] + b',"messages":[' + messages + b"]}"


class _EncodedHistory:
    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._parts: list[bytes] = []

    def encoded(self, messages: Sequence[Message]) -> list[bytes]:
        same = 0
        for known, message in zip(self._messages, messages, strict=False):
            if known is not message:
                break
            same += 1
        del self._messages[same:], self._parts[same:]
        for message in messages[same:]:
            self._messages.append(message)
            self._parts.append(_encode(openai_message(message)))
        return self._parts


class _FunctionDelta(Struct):
    name: str | None = None
    arguments: str | None = None


class _CallDelta(Struct):
    index: int = 0
    id: str | None = None
    function: _FunctionDelta | None = None


class _Delta(Struct):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_CallDelta] | None = None


class _Choice(Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _InputDetails(Struct):
    cached_tokens: int | None = None


class _OutputDetails(Struct):
    reasoning_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None


class _Chunk(Struct):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: Any = None


class _HalfCall(Struct):
    id: str = ""
    name: str = ""
    arguments: list[str] = []


_chunks = msgspec.json.Decoder(_Chunk)


class _Answer:
    """One message as it comes in."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._calls: dict[int, _HalfCall] = {}
        self._usage = Usage()
        self._finish: str | None = None
        self._done = False

    def take(self, events: list[bytes]) -> tuple[str, str]:
        """Read some events. Returns the thinking and the text they bring."""
        thinking_before, text_before = len(self._thinking), len(self._text)
        for data in events:
            if data == b"[DONE]":
                self._done = True
                continue
            try:
                chunk = _chunks.decode(data)
            except msgspec.DecodeError as error:
                raise ModelFailed(f"the model server sent a broken event: {error}", retryable=True) from error
            if chunk.error is not None:
                raise ModelFailed(f"the model server failed: {_error_text(chunk.error)}", retryable=True)
            if chunk.usage is not None:
                self._usage = _usage(chunk.usage)
            if chunk.choices:
                self._take_choice(chunk.choices[0])
        return "".join(self._thinking[thinking_before:]), "".join(self._text[text_before:])

    def _take_choice(self, choice: _Choice) -> None:
        if choice.finish_reason is not None:
            self._finish = choice.finish_reason
        delta = choice.delta
        if delta is None:
            return
        if delta.content:
            self._text.append(delta.content)
        if thinking := delta.reasoning_content or delta.reasoning:
            self._thinking.append(thinking)
        for call in delta.tool_calls or ():
            self._take_call(call)

    def _take_call(self, delta: _CallDelta) -> None:
        call = self._calls.setdefault(delta.index, _HalfCall(arguments=[]))
        call.id = call.id or delta.id or ""
        if delta.function is not None:
            call.name = call.name or delta.function.name or ""
            if delta.function.arguments:
                call.arguments.append(delta.function.arguments)

    def completion(self) -> Completion:
        if self._finish is None:
            raise ModelFailed("the model server broke off in the middle of its answer", retryable=True)
        stop_reason = _STOP_REASONS.get(self._finish, "end_turn")
        thinking, text = "".join(self._thinking), "".join(self._text)
        blocks: list[Block] = [Thinking(thinking)] if thinking else []
        if text:
            blocks.append(Text(text))
        return Completion(tuple(blocks), self._whole_calls(stop_reason), self._usage, stop_reason)

    def _whole_calls(self, stop_reason: StopReason) -> tuple[Call, ...]:
        """An answer that ran out of room may end inside a call; such a call was never made."""
        calls = [self._calls[index] for index in sorted(self._calls)]
        made = [Call(CallId(each.id), each.name, "".join(each.arguments) or "{}") for each in calls if each.name]
        if stop_reason == "max_tokens":
            made = [call for call in made if _is_json(call.arguments)]
        return tuple(made)


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError:
        return False
    return True


def _usage(usage: _Usage) -> Usage:
    cached = usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens
    reasoning = usage.completion_tokens_details and usage.completion_tokens_details.reasoning_tokens
    return Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        cache_read_tokens=cached or 0,
        reasoning_tokens=reasoning or 0,
    )


async def _refused(response: Response) -> NoReturn:
    body = await response.read()
    try:
        text = _error_text(msgspec.json.decode(body, type=dict[str, Any]).get("error"))
    except msgspec.DecodeError:
        text = body.decode("utf-8", "replace").strip()[:500]
    status = response.status
    raise ModelFailed(
        f"the model server answered {status}: {text or 'no reason given'}",
        status=status,
        retryable=status in (408, 409, 429) or status >= 500,
        hint="Check the API key." if status in (401, 403) else "",
    )


def _error_text(error: Any) -> str:
    """Servers put the reason under `error.message`, in `error` itself, or nowhere."""
    return str(error.get("message", error)) if isinstance(error, dict) else str(error)  # pyright: ignore[reportUnknownArgumentType,reportUnknownMemberType] - foreign JSON
