"""Streaming client for OpenAI Responses, the wire format of OpenAI's own API; thoughts can be sent back."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec

from coderelay.models.api_client import ApiClient
from coderelay.models.encoded_history_cache import EncodedHistory
from coderelay.models.model import Piece, Request, TextPiece, ThinkingPiece
from coderelay.models.model_card import Card
from coderelay.models.openai_responses.input_encoder import items, tool
from coderelay.models.openai_responses.stream_decoder import ResponsesAnswer
from coderelay.models.reasoning_effort_and_images import effort, without_images
from coderelay.session.model_messages import Message

_encode = msgspec.json.Encoder().encode


class OpenAIResponses:
    """Nothing is stored at the server: every request has the whole history, including thoughts sealed by the
    server."""

    def __init__(self, model_id: str, card: Card, api_client: ApiClient) -> None:
        self.id = model_id
        self.card = card
        self._name = model_id.partition(":")[2]
        self._by = f"responses/{self._name}"
        self._api_client = api_client
        self._history = EncodedHistory(self._encoded)

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        answer = ResponsesAnswer(self._api_client.secret, self._by)
        events = self._api_client.events("/responses", self._body(request), lambda: answer.is_done)
        async with aclosing(events):
            async for each in events:
                thinking, text = answer.take(each)
                if thinking:
                    yield ThinkingPiece(thinking)
                if text:
                    yield TextPiece(text)
        yield answer.completion()

    def _body(self, request: Request) -> bytes:
        """The request body, assembled from parts that are encoded once: a long history costs a copy, not an
        encoding."""
        settings: dict[str, Any] = {"model": self._name, "stream": True, "store": False}
        if request.system:
            settings["instructions"] = request.system
        if request.session:
            settings["prompt_cache_key"] = request.session
        if self.card.thinks != "no":
            hard = effort(request.think, self.card, self._name)
            settings["reasoning"] = {"summary": "auto"} | ({"effort": hard} if hard else {})
            settings["include"] = ["reasoning.encrypted_content"]
        if request.tools:
            settings["tools"] = [tool(spec) for spec in request.tools]
            settings["parallel_tool_calls"] = True
        history = b",".join(filter(None, self._history.parts(request.messages)))
        return b"".join((_encode(settings)[:-1], b',"input":[', history, b"]}"))

    def _encoded(self, message: Message) -> bytes:
        shown = message if self.card.images else without_images(message)
        return b",".join(_encode(item) for item in items(shown, self._by))
