"""A history as the input items of the Responses form."""

from collections.abc import Iterator
from typing import Any

from coderelay.models.openai_responses.reasoning import Reasoning, unsealed
from coderelay.protocol.calls import Call, ToolSpec
from coderelay.protocol.content import Image, Thinking
from coderelay.session.snapshot import data_url, sendable_arguments, sendable_id, sendable_name
from coderelay.session.transcript import AssistantMessage, Message, ToolMessage, UserMessage


def tool(spec: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.parameters,
        "strict": False,  # strict schemas may not leave a property optional
    }


def items(message: Message, by: str) -> Iterator[dict[str, Any]]:
    """`by` names the form and model it is for: only its own thoughts are sent back."""
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
    waiting: list[Reasoning] = []  # for the text they belong to; a text that never came takes them along
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
