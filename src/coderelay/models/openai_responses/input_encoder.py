"""Encodes a message history as the input items of the Responses wire format."""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from coderelay.protocol.calls import Call
from coderelay.protocol.message_content import Image, Seal, Thinking
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.session.model_messages import AssistantMessage, Message, ToolMessage, UserMessage
from coderelay.session.openai_chat_format import data_url, sendable_arguments, sendable_id, sendable_name


def tool(spec: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
        "strict": False,  # strict schemas may not leave a property optional
    }


def items(message: Message, by: str) -> Iterator[dict[str, Any]]:
    """`by` names the wire format and model that the items are for: only its own thoughts are sent back."""
    match message:
        case UserMessage():
            yield {"type": "message", "role": "user", "content": _parts(message.text, message.images)}
        case ToolMessage():
            output = _parts(message.text, message.images) if message.images else message.text
            yield {"type": "function_call_output", "call_id": sendable_id(message.call_id), "output": output}
        case AssistantMessage():
            yield from _said(message, by)


def _parts(text: str, images: tuple[Image, ...]) -> list[dict[str, Any]]:
    shown = [{"type": "input_image", "image_url": data_url(image)} for image in images]
    return [{"type": "input_text", "text": text}, *shown] if text or not shown else shown


def _said(message: AssistantMessage, by: str) -> Iterator[dict[str, Any]]:
    waiting: list[Reasoning] = []  # wait for the text they belong to, and are dropped if none follows
    before_calls: list[Reasoning] = []
    for block in message.blocks:
        if isinstance(block, Thinking):
            thought = unsealed(block.seal, by)
            if thought is not None:
                (waiting if thought.call is None else before_calls).append(thought)
        elif block.text:
            yield from (thought.item() for thought in waiting)
            waiting = []
            content = [{"type": "output_text", "text": block.text}]
            yield {"type": "message", "role": "assistant", "content": content}
    for number, call in enumerate(message.calls):
        yield from (thought.item() for thought in before_calls if thought.call == number)
        yield _call(call)


def _call(call: Call) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": sendable_id(call.id),
        "name": sendable_name(call.name),
        "arguments": sendable_arguments(call.arguments),
    }


class Reasoning(Struct, frozen=True, omit_defaults=True):
    """A reasoning item. It belongs to the item that followed it: the call with the number `call`, else the next text.
    Servers refuse one without the other."""

    id: str = ""
    summary: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    encrypted: str = ""
    call: int | None = None

    def sealed(self, by: str) -> Seal:
        return Seal(by, msgspec.json.encode(self).decode())

    def item(self) -> dict[str, Any]:
        item: dict[str, Any] = {"type": "reasoning"}
        if self.id:
            item["id"] = self.id
        item["summary"] = [{"type": "summary_text", "text": text} for text in self.summary]
        if self.content:
            item["content"] = [{"type": "reasoning_text", "text": text} for text in self.content]
        if self.encrypted:
            item["encrypted_content"] = self.encrypted
        return item


def unsealed(seal: Seal | None, by: str) -> Reasoning | None:
    """The reasoning item in a seal; None if another model sealed it."""
    if seal is None or seal.by != by:
        return None
    return msgspec.json.decode(seal.data, type=Reasoning)
