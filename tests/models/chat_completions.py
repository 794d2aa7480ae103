"""What the Chat Completions tests share: a request, an answer made of events, and asking for it."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

from coderelay.models.api_client import ApiClient
from coderelay.models.model import Completion, Model, Piece, Request, TextPiece, ThinkingPiece
from coderelay.models.model_card import Card
from coderelay.models.openai_chat.model import OpenAIChat
from coderelay.protocol.session_setting_values import Think
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.session.model_messages import Message, UserMessage
from tests.model_server import ModelServer, Script, model_server
from tests.models.raw_server import answers, raw_server

PLAIN = Card()
KEY = "sk-very-secret-0123456789"
TOOLS = (ToolSpec("bash", "Runs a command.", {"type": "object", "properties": {"command": {"type": "string"}}}),)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
_SETTINGS: dict[str, Any] = {"env": {}, "idle_seconds": 10.0}
STOP: dict[str, Any] = {"choices": [{"delta": {}, "finish_reason": "stop"}]}


def asking(
    *messages: Message, system: str = "be brief", tools: Sequence[ToolSpec] = TOOLS, think: Think = "auto"
) -> Request:
    return Request(system, list(messages) or [UserMessage("hi")], tools, think)


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def calling(*calls: dict[str, Any]) -> dict[str, Any]:
    return delta(tool_calls=list(calls))


def finish(reason: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def events(*each: dict[str, Any] | bytes) -> bytes:
    """A body of events. Bytes are put in as they are."""
    return b"".join(
        event if isinstance(event, bytes) else b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n"
        for event in each
    )


@asynccontextmanager
async def chat(
    url: str, card: Card = PLAIN, name: str = "m", provider: str = "test", **settings: Any
) -> AsyncGenerator[OpenAIChat]:
    headers = {"authorization": f"Bearer {KEY}"}
    api_client = ApiClient(url, headers, secret=KEY, **(_SETTINGS | settings))
    try:
        yield OpenAIChat(f"{provider}:{name}", card, api_client)
    finally:
        await api_client.close()


async def pieces_of(model: Model, request: Request | None = None) -> list[Piece]:
    async with aclosing(model.stream(request or asking())) as stream:
        return [piece async for piece in stream]


async def complete(model: Model, request: Request | None = None) -> Completion:
    *_, last = await pieces_of(model, request)
    assert isinstance(last, Completion)
    return last


async def answered(raw: bytes) -> Completion:
    """What a server is heard to say that answers exactly this."""
    async with raw_server(answers(raw)) as server, chat(server.url) as model:
        return await complete(model)


@asynccontextmanager
async def scripted(
    script: Script, card: Card = PLAIN, name: str = "m"
) -> AsyncGenerator[tuple[ModelServer, OpenAIChat]]:
    """At the end every request must have been one that a strict provider accepts."""
    async with model_server(script) as server, chat(server.base_url, card, name) as model:
        yield server, model
        assert server.violations == []


def shown(pieces: list[Piece]) -> tuple[str, str]:
    """The thinking and the text that were shown on the way."""
    thinking = "".join(piece.text for piece in pieces if isinstance(piece, ThinkingPiece))
    return thinking, "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))
