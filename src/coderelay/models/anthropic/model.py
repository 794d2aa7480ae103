"""Streaming client for the Anthropic Messages API."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec

from coderelay.models.anthropic.message_encoder import MARK, History
from coderelay.models.anthropic.stream_decoder import AnthropicAnswer
from coderelay.models.api_client import ApiClient
from coderelay.models.model import Piece, Request, TextPiece, ThinkingPiece
from coderelay.models.model_card import Card
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.session.model_messages import AssistantMessage

_BUDGETS = {"low": 2048, "medium": 8192, "high": 24576}
_LEAST_BUDGET = 1024

_encode = msgspec.json.Encoder().encode


class Anthropic:
    def __init__(self, model_id: str, card: Card, api_client: ApiClient) -> None:
        self.id = model_id
        self.card = card
        self._name = model_id.partition(":")[2]
        self._by = f"anthropic/{self._name}"
        self._api_client = api_client
        self._history = History(self._by, card.images)

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        begun = False
        try:
            async with aclosing(self._heard(request)) as pieces:
                async for piece in pieces:
                    begun = True
                    yield piece
            return
        except ModelFailed as failure:
            if begun or not self._is_about_thoughts(failure, request):
                raise
        self._history.forget_thoughts(request.messages)
        async with aclosing(self._heard(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def _heard(self, request: Request) -> AsyncGenerator[Piece, None]:
        answer = AnthropicAnswer(self._by, self._api_client.secret)
        events = self._api_client.events("/messages", self._body(request), lambda: answer.is_done)
        async with aclosing(events):
            async for each in events:
                thinking, text = answer.take(each)
                if thinking:
                    yield ThinkingPiece(thinking)
                if text:
                    yield TextPiece(text)
        yield answer.completion()

    def _is_about_thoughts(self, failure: ModelFailed, request: Request) -> bool:
        """Whether the server refused the thoughts in the history. A thought may be bound to all that was said before
        it, including the instructions. When a summary or a setting has changed that, the thought is refused; the rest
        of the history is as good without it."""
        refused = failure.status == 400 and "thinking" in failure.message
        return refused and self._history.has_thoughts(request.messages)

    def _body(self, request: Request) -> bytes:
        """The request body, assembled from parts that are encoded once: a long history costs a copy, not an
        encoding."""
        thinking = self._thinking(request)
        settings = {"model": self._name, "max_tokens": self.card.output, "stream": True, **thinking}
        messages = self._history.encode(request.messages, thinks=self._keeps_thoughts(request, thinking))
        body = [_encode(settings)[:-1], *_tools(request), *_system(request), b',"messages":', messages, b"}"]
        return b"".join(body)

    def _thinking(self, request: Request) -> dict[str, Any]:
        level, card = request.think, self.card
        if level in ("auto", "off"):
            return {}
        match card.thinks:
            case "adaptive":
                # The newest models return the text of their thoughts only if asked to.
                thinking = {"type": "adaptive", "display": "summarized"}
                return {"thinking": thinking, "output_config": {"effort": level}}
            case "effort":
                return {"output_config": {"effort": level}}
            case "budget" if card.output > _LEAST_BUDGET and self._history.tool_loop_begins_with_thinking(
                request.messages
            ):
                budget = max(_LEAST_BUDGET, min(_BUDGETS[level], card.output * 3 // 4))
                return {"thinking": {"type": "enabled", "budget_tokens": budget}}
            case _:
                return {}

    def _keeps_thoughts(self, request: Request, thinking: dict[str, Any]) -> bool:
        """Whether to send thoughts back: only to a model that thinks now. A model that is not told whether to think
        may do so by itself, unless it is known to think only when given a budget."""
        return "thinking" in thinking or (request.think != "off" and self.card.thinks != "budget")


def _system(request: Request) -> list[bytes]:
    if not request.system.strip():
        return []
    return [b',"system":[', _marked(_encode({"type": "text", "text": request.system})), b"]"]


def _tools(request: Request) -> list[bytes]:
    if request.tools:
        return [b',"tools":[', _marked(b",".join(_encode(_tool(tool)) for tool in request.tools)), b"]"]
    names = {call.name for each in request.messages if isinstance(each, AssistantMessage) for call in each.calls}
    if not names:
        return []
    # Every tool called in the history must be declared, even if there is no tool to call any more.
    gone = [_tool(ToolSpec(name, "", {})) for name in sorted(names)]
    return [b',"tools":', _encode(gone), b',"tool_choice":{"type":"none"}']


def _tool(tool: ToolSpec) -> dict[str, Any]:
    schema = {"type": "object", **tool.parameters}
    return {"name": tool.name, "description": tool.description, "input_schema": schema}


def _marked(blocks: bytes) -> bytes:
    return b"%b%b}" % (blocks[:-1], MARK)
