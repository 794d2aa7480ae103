"""Encodes a session as Anthropic Messages: turns of blocks, with markers for the server's prompt cache."""

import re
from binascii import crc32
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from coderelay.models.encoded_history_cache import EncodedHistory
from coderelay.models.reasoning_effort_and_images import without_images
from coderelay.protocol.calls import Call
from coderelay.protocol.message_content import Image, Seal, Text, Thinking
from coderelay.session.model_messages import AssistantMessage, Message, ToolMessage, UserMessage
from coderelay.session.openai_chat_format import sendable_arguments, sendable_name

MARK = b',"cache_control":{"type":"ephemeral"}'
_MARKED_TURNS = 2  # the last turn, to be cached, and the one before, which the last request cached

_REDACTED = "redacted:"  # prefix for the data of a redacted thought; no signature has a colon
_NOTHING = {"type": "text", "text": "(nothing)"}  # for an empty prompt
_SEEN = ("image/jpeg", "image/png", "image/gif", "image/webp")
_TAKEN_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}").fullmatch

_encode = msgspec.json.Encoder().encode


class History:
    """`by` names the wire format and model whose seals are sent back; it cannot read the seals of others."""

    def __init__(self, by: str, sees: bool) -> None:
        self._by = by
        self._sees = sees
        self._thinking = EncodedHistory(lambda message: self._encoded(message, thinks=True))
        self._plain = EncodedHistory(lambda message: self._encoded(message, thinks=False))
        self._forgotten = 0  # the first so many messages are sent without their thoughts

    def encode(self, messages: Sequence[Message], *, thinks: bool) -> bytes:
        """The JSON list of messages. Each request begins with all that the previous one held, except the cache
        markers."""
        turns = _turns(self._parts(messages, thinks))
        users = [turn for turn in turns if turn.role == "user"]
        for turn in users[-_MARKED_TURNS:]:
            turn.mark()
        return b"[%b]" % b",".join(turn.encode() for turn in turns)

    def tool_loop_begins_with_thinking(self, messages: Sequence[Message]) -> bool:
        """Whether the model's first message since a person spoke begins with a thought of this model; true without a
        message."""
        begun = len(messages)
        while begun and not isinstance(messages[begun - 1], UserMessage):
            begun -= 1
        first = next((each for each in messages[begun:] if isinstance(each, AssistantMessage)), None)
        said = self._said(first, thinks=begun >= self._forgotten) if first is not None else []
        return first is None or (bool(said) and said[0]["type"] != "text")

    def has_thoughts(self, messages: Sequence[Message]) -> bool:
        said = (each for each in messages[self._forgotten :] if isinstance(each, AssistantMessage))
        return any(self._thought(block) is not None for each in said for block in each.blocks)

    def forget_thoughts(self, messages: Sequence[Message]) -> None:
        """Stop sending the thoughts there are so far; what the model thinks from now on is sent again."""
        self._forgotten = len(messages)

    def _parts(self, messages: Sequence[Message], thinks: bool) -> list["_Part"]:
        if not thinks:
            return self._plain.parts(messages)
        if not self._forgotten:
            return self._thinking.parts(messages)
        before, after = messages[: self._forgotten], messages[self._forgotten :]
        return [*self._plain.parts(before), *self._thinking.parts(after)]

    def _encoded(self, message: Message, *, thinks: bool) -> "_Part":
        shown = message if self._sees else without_images(message)
        match shown:
            case UserMessage():
                return _part("user", [*_text(shown.text), *map(_image, shown.images)] or [_NOTHING])
            case ToolMessage():
                return _part("user", [_result(shown)])
            case AssistantMessage():
                return _part("assistant", [*self._said(shown, thinks=thinks), *map(_use, shown.calls)])

    def _said(self, message: AssistantMessage, *, thinks: bool) -> list[dict[str, Any]]:
        said: list[dict[str, Any]] = []
        for block in message.blocks:
            if isinstance(block, Text):
                said += _text(block.text)
            elif thinks and (thought := self._thought(block)) is not None:
                said.append(thought)
        while said and said[-1]["type"] != "text" and not message.calls:
            said.pop()  # a thought must be followed by text or a call
        return said

    def _thought(self, block: Text | Thinking) -> dict[str, Any] | None:
        if isinstance(block, Text) or block.seal is None or block.seal.by != self._by:
            return None
        if block.seal.data.startswith(_REDACTED):
            return {"type": "redacted_thinking", "data": block.seal.data.removeprefix(_REDACTED)}
        return {"type": "thinking", "thinking": block.thinking, "signature": block.seal.data}


def sealed(by: str, thinking: str, signature: str) -> Thinking:
    return Thinking(thinking, Seal(by, signature) if signature else None)


def redacted(by: str, data: str) -> Thinking:
    return Thinking("", Seal(by, _REDACTED + data))


class _Part(Struct, frozen=True):
    """What one message of the session adds to a turn: JSON blocks separated by commas, or nothing."""

    role: str
    blocks: bytes


class _Turn(Struct):
    role: str
    blocks: list[bytes]

    def mark(self) -> None:
        self.blocks[-1] = b"%b%b}" % (self.blocks[-1][:-1], MARK)

    def encode(self) -> bytes:
        return b'{"role":"%b","content":[%b]}' % (self.role.encode(), b",".join(self.blocks))


def _part(role: str, blocks: list[dict[str, Any]]) -> _Part:
    return _Part(role, _encode(blocks)[1:-1])


def _turns(parts: Sequence[_Part]) -> list[_Turn]:
    """Merge neighbouring parts of the same role into one turn."""
    turns: list[_Turn] = []
    for part in parts:
        if not part.blocks:
            continue
        if turns and turns[-1].role == part.role:
            turns[-1].blocks.append(part.blocks)
        else:
            turns.append(_Turn(part.role, [part.blocks]))
    return turns


def _text(text: str) -> list[dict[str, Any]]:
    """The API refuses blank text, so it becomes no block."""
    return [{"type": "text", "text": text}] if text.strip() else []


def _image(image: Image) -> dict[str, Any]:
    if image.media_type not in _SEEN:
        return {"type": "text", "text": f"(An image that cannot be shown here: it is {image.media_type}.)"}
    source = {"type": "base64", "media_type": image.media_type, "data": image.data}
    return {"type": "image", "source": source}


def _result(message: ToolMessage) -> dict[str, Any]:
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": _id(message.call_id)}
    if message.failed:  # a failed result may hold nothing but text
        result["is_error"] = True
    if message.images and not message.failed:
        result["content"] = [*_text(message.text), *map(_image, message.images)]
    elif message.text.strip():
        result["content"] = message.text
    return result


def _use(call: Call) -> dict[str, Any]:
    arguments = Raw(sendable_arguments(call.arguments).encode())
    return {"type": "tool_use", "id": _id(call.id), "name": sendable_name(call.name), "input": arguments}


def _id(call_id: str) -> str:
    """An id that the API accepts: the ids of other servers may hold any characters."""
    if _TAKEN_ID(call_id):
        return call_id
    return f"{sendable_name(call_id)[:48]}_{crc32(call_id.encode()):08x}"
