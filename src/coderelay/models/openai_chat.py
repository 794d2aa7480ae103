"""OpenAI Chat Completions, streamed: the form most servers speak."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec

from coderelay.models.card import Card
from coderelay.models.encoded import EncodedHistory
from coderelay.models.endpoint import Endpoint
from coderelay.models.model import Piece, Request, TextPiece, ThinkingPiece
from coderelay.models.openai_chat_answer import Answer
from coderelay.session.snapshot import openai_message, openai_tool
from coderelay.session.transcript import Message

_encode = msgspec.json.Encoder().encode


class OpenAIChat:
    def __init__(self, model_id: str, card: Card, endpoint: Endpoint) -> None:
        self.id = model_id
        self.card = card
        self._name = model_id.partition(":")[2]
        self._endpoint = endpoint
        self._history = EncodedHistory(_encoded)

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        answer = Answer(self._endpoint.secret)
        events = self._endpoint.events("/chat/completions", self._body(request), lambda: answer.is_done)
        async with aclosing(events):
            async for each in events:
                thinking, text = answer.take(each)
                if thinking:
                    yield ThinkingPiece(thinking)
                if text:
                    yield TextPiece(text)
        yield answer.completion()

    def _body(self, request: Request) -> bytes:
        """Put together from parts encoded once: a long history costs a copy, not an encoding."""
        settings: dict[str, Any] = {
            "model": self._name,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            settings["tools"] = [openai_tool(tool) for tool in request.tools]
        system = [_encode({"role": "system", "content": request.system})] if request.system else []
        messages = b",".join([*system, *self._history.parts(request.messages)])
        return b"".join((_encode(settings)[:-1], b',"messages":[', messages, b"]}"))


def _encoded(message: Message) -> bytes:
    return _encode(openai_message(message))
