"""OpenAI Chat Completions, streamed: the form most servers speak."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

import msgspec

from coderelay.models.http.client import HttpClient, Response
from coderelay.models.model import Piece, Request, TextPiece, ThinkingPiece
from coderelay.models.openai_chat_answer import Answer
from coderelay.models.refusal import reason_in, refusal
from coderelay.models.sse import EventLines
from coderelay.protocol.errors import ModelFailed
from coderelay.session.snapshot import openai_message, openai_tool
from coderelay.session.transcript import Message

_END_SECONDS = 0.25  # how long the end of the body may come after the end of the message
_TOLD_BYTES = 64 * 1024

_encode = msgspec.json.Encoder().encode


class OpenAIChat:
    """`env` names proxies and certificates."""

    def __init__(
        self, name: str, base_url: str, api_key: str, *, env: Mapping[str, str], idle_seconds: float = 300.0
    ) -> None:
        self.name = name
        self._client = HttpClient(base_url, env=env, idle_seconds=idle_seconds)
        self._key = api_key
        self._headers = {
            "authorization": f"Bearer {api_key}",
            "content-type": "application/json",
            "accept": "text/event-stream",
            "user-agent": "coderelay",
        }
        self._history = _EncodedHistory()

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        answer, lines = Answer(self._key), EventLines()
        async with self._client.post("/chat/completions", self._headers, self._body(request)) as response:
            if response.status != 200:
                raise await refusal(response, self._key)
            data = await response.receive()
            if data.lstrip().startswith((b"<", b"{", b"[")):
                raise await self._not_events(response, data)
            while data:
                thinking, text = answer.take(lines.feed(data))
                if thinking:
                    yield ThinkingPiece(thinking)
                if text:
                    yield TextPiece(text)
                data = b"" if answer.is_done else await response.receive()
            answer.take(lines.end())
            await response.finish(_END_SECONDS)
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
        return b"".join((_encode(settings)[:-1], b',"messages":[', messages, b"]}"))

    async def _not_events(self, response: Response, begun: bytes) -> ModelFailed:
        """A page of a web site, mostly: the address is not that of the API."""
        told = reason_in(begun + await response.read(_TOLD_BYTES), self._key)
        kind = response.headers.get("content-type", "something").partition(";")[0]
        return ModelFailed(
            f"the model server answered with {kind} and not with events: {told or 'no reason given'}",
            hint="Check the address of the server; it usually ends in /v1.",
        )


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
