"""Streaming client for OpenAI Chat Completions, the wire format that most servers speak."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import Any

import msgspec

from coderelay.models.api_client import ApiClient
from coderelay.models.encoded_history_cache import EncodedHistory
from coderelay.models.model import Piece, Request, TextPiece, ThinkingPiece
from coderelay.models.model_card import Card
from coderelay.models.openai_chat.stream_decoder import GOES_BACK, ChatAnswer
from coderelay.models.reasoning_effort_and_images import effort, without_images
from coderelay.session.model_messages import Message, ToolMessage
from coderelay.session.openai_chat_format import openai_message, openai_tool, with_images_placed

# Most servers that call thinking `reasoning` refuse it when it is sent back, under any name; these accept it.
_TAKE_REASONING = {"openrouter": "reasoning_content", "ollama": "reasoning", "vllm": "reasoning"}
_NO_THOUGHT = "(not kept)"

_encode = msgspec.json.Encoder().encode


class OpenAIChat:
    def __init__(self, model_id: str, card: Card, api_client: ApiClient) -> None:
        self.id = model_id
        self.card = card
        provider, _, self._name = model_id.partition(":")
        self._goes_back = GOES_BACK | {"reasoning": _TAKE_REASONING.get(provider, "")}
        self._wants_thoughts = _wants_thoughts(self._name.rpartition("/")[2])
        self._by = f"chat/{self._name}"
        self._api_client = api_client
        self._history = EncodedHistory(self._encoded)

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        answer = ChatAnswer(self._api_client.secret, self._by, self._goes_back)
        events = self._api_client.events("/chat/completions", self._body(request), lambda: answer.is_done)
        async with aclosing(events):
            async for each in events:
                for piece in _pieces(*answer.take(each)):
                    yield piece
        for piece in _pieces(*answer.end()):
            yield piece
        yield answer.completion()

    def _body(self, request: Request) -> bytes:
        """The request body, assembled from parts that are encoded once: a long history costs a copy, not an
        encoding."""
        settings: dict[str, Any] = {
            "model": self._name,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if hard := effort(request.think, self.card, self._name):
            settings["reasoning_effort"] = hard
        if request.tools:
            settings["tools"] = [openai_tool(tool) for tool in request.tools]
        system = [_encode({"role": "system", "content": request.system})] if request.system else []
        messages = b",".join([*system, *self._messages(request.messages)])
        return b"".join((_encode(settings)[:-1], b',"messages":[', messages, b"]}"))

    def _messages(self, messages: Sequence[Message]) -> list[bytes]:
        parts = self._history.parts(messages)
        if not self.card.images or not any(isinstance(each, ToolMessage) and each.images for each in messages):
            return parts
        known = dict(zip(map(id, messages), parts, strict=True))
        return [known.get(id(each)) or self._encoded(each) for each in with_images_placed(messages)]

    def _encoded(self, message: Message) -> bytes:
        shown = message if self.card.images else without_images(message)
        sent = openai_message(shown, by=self._by)
        if self._wants_thoughts and "tool_calls" in sent:
            sent.setdefault("reasoning_content", _NO_THOUGHT)
        return _encode(sent)


def _wants_thoughts(name: str) -> bool:
    """Whether the model wants thinking with every call in the history, even if another model made the call."""
    return name.startswith(("deepseek", "kimi")) and "instruct" not in name and "distill" not in name


def _pieces(thinking: str, text: str) -> Iterator[Piece]:
    if thinking:
        yield ThinkingPiece(thinking)
    if text:
        yield TextPiece(text)
