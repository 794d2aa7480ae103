"""What the Messages tests share: a model, an answer made of events, and asking for it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any

from coderelay.models.anthropic.model import Anthropic
from coderelay.models.api_client import ApiClient
from coderelay.models.model import Completion, Model, Piece, Request
from coderelay.models.model_card import Card
from coderelay.protocol.calls import Call
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Seal, Thinking
from coderelay.protocol.session_setting_values import Think
from coderelay.session.model_messages import Message, UserMessage
from tests.model_server import ModelServer, Script, model_server
from tests.models.chat_completions import HEAD, KEY, TOOLS, events
from tests.models.raw_server import answers, raw_server

HEADERS = {"x-api-key": KEY, "anthropic-version": "2023-06-01"}
CARD = Card(output=32_000, images=True, thinks="budget")
BY = "anthropic/m"

_SETTINGS: dict[str, Any] = {"env": {}, "idle_seconds": 10.0}

START: dict[str, Any] = {"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}}
STOP: dict[str, Any] = {"type": "message_stop"}


def asking(*messages: Message, think: Think = "auto", system: str = "be brief") -> Request:
    return Request(system, list(messages) or [UserMessage("hi")], TOOLS, think)


def called(call_id: str, arguments: str = '{"command":"make"}', name: str = "bash") -> Call:
    return Call(CallId(call_id), name, arguments)


def thought(text: str, seal: str, by: str = BY) -> Thinking:
    return Thinking(text, Seal(by, seal))


def block(index: int, kind: str, *deltas: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    """The events of one block, from its beginning to its end."""
    return [
        {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text(*pieces: str, index: int = 0) -> list[dict[str, Any]]:
    return block(index, "text", *({"type": "text_delta", "text": piece} for piece in pieces), text="")


def finish(reason: str = "end_turn", **usage: int) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}


@asynccontextmanager
async def claude(url: str, card: Card = CARD, name: str = "m", **settings: Any) -> AsyncGenerator[Anthropic]:
    api_client = ApiClient(url, HEADERS, secret=KEY, **(_SETTINGS | settings))
    try:
        yield Anthropic(f"anthropic:{name}", card, api_client)
    finally:
        await api_client.close()


async def pieces_of(model: Model, request: Request | None = None) -> list[Piece]:
    async with aclosing(model.stream(request or asking())) as stream:
        return [piece async for piece in stream]


async def complete(model: Model, request: Request | None = None) -> Completion:
    *_, last = await pieces_of(model, request)
    assert isinstance(last, Completion)
    return last


async def answered(*told: dict[str, Any] | bytes) -> Completion:
    """What a server is heard to say that answers with exactly these events."""
    async with raw_server(answers(HEAD + events(*told))) as server, claude(server.url) as model:
        return await complete(model)


@asynccontextmanager
async def scripted(script: Script, card: Card = CARD) -> AsyncGenerator[tuple[ModelServer, Anthropic]]:
    """At the end every request must have been one that the strict form accepts."""
    async with model_server(script) as server, claude(server.base_url, card) as model:
        yield server, model
        assert server.violations == []
