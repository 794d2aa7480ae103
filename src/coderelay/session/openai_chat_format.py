"""A session in the OpenAI Chat Completions format (the content of the session file), and the conversion of its
messages.

Chat models are sent this form, and the session file holds it.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from zlib import crc32

import msgspec
from msgspec.structs import replace

from coderelay.protocol.calls import Call
from coderelay.protocol.message_content import Image, Thinking, text_of, thinking_of
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.session.model_messages import AssistantMessage, Message, ToolMessage, UserMessage, transcript
from coderelay.session.state import State, calls_of

_ID_CHARACTERS = 40  # the most that OpenAI accepts


def snapshot(state: State, tools: Sequence[ToolSpec], system: str) -> dict[str, Any]:
    """The content of the session file: enough to repeat a request (model, tools, messages), and facts for a
    reader."""
    settings = state.settings
    assert settings is not None
    first: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    messages = with_images_placed(transcript(_settled(state)))
    return {
        "id": state.session,
        "title": settings.title,
        "cwd": settings.cwd,
        "agent": settings.agent,
        "mode": settings.mode,
        "model": settings.model,
        "state": state.phase,
        "tools": [openai_tool(tool) for tool in tools],
        "messages": [*first, *(openai_message(each, full=True) for each in messages)],
    }


def copy_for_reading(state: State) -> State:
    """A copy that later events do not change, as far as `snapshot` reads it, so that another thread can."""
    return replace(
        state,
        turn=None if state.turn is None else replace(state.turn),
        batch=None
        if state.batch is None
        else replace(state.batch, calls=[*state.batch.calls], asks=[*state.batch.asks]),
        history=[*state.history],
        images={**state.images},
        calls={call_id: replace(each) for call_id, each in state.calls.items()},
        asks={ask_id: replace(each) for ask_id, each in state.asks.items()},
    )


def _settled(state: State) -> State:
    """The state without open calls: a message whose calls have no results yet could not be sent again, so the history
    is cut before it."""
    still_open = {each.call.id for each in state.open_calls()}
    places = [place for place, entry in enumerate(state.history) if any(c.id in still_open for c in calls_of(entry))]
    return replace(state, history=state.history[: places[0]]) if places else state


def openai_tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def with_images_placed(messages: Iterable[Message]) -> Iterator[Message]:
    """Tool messages of this format hold text only. The images of a run of them follow it in a message, as if a user
    had sent them."""
    shown: list[ToolMessage] = []
    for message in messages:
        if shown and not isinstance(message, ToolMessage):
            images = _images_of(shown)
            shown = []
            if isinstance(message, UserMessage):
                message = UserMessage(f"{images.text}\n\n{message.text}", (*images.images, *message.images))
            else:
                yield images
        if isinstance(message, ToolMessage) and message.images:
            shown.append(message)
        yield message
    if shown:
        yield _images_of(shown)


def _images_of(results: list[ToolMessage]) -> UserMessage:
    whose = ", ".join(f"{each.name} ({sendable_id(each.call_id)})" for each in results for _ in each.images)
    images = tuple(image for each in results for image in each.images)
    return UserMessage(f"Images from the results above, in this order: {whose}", images)


def openai_message(message: Message, *, by: str = "", full: bool = False) -> dict[str, Any]:
    """A message in this format. `by` names the format and model it is for: only seals that it made are sent back to
    it. `full` adds what is kept for readers and not sent: the name of a tool, the reasoning."""
    match message:
        case UserMessage():
            return {"role": "user", "content": _content(message)}
        case ToolMessage():
            named = {"name": message.name} if full else {}
            return {
                "role": "tool",
                "tool_call_id": sendable_id(message.call_id),
                **named,
                "content": message.text,
            }
        case AssistantMessage():
            return _assistant(message, by, full)


def _content(message: UserMessage) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.text
    text = [{"type": "text", "text": message.text}] if message.text else []
    return [*text, *({"type": "image_url", "image_url": {"url": data_url(image)}} for image in message.images)]


def data_url(image: Image) -> str:
    return f"data:{image.media_type};base64,{image.data}"


def _assistant(message: AssistantMessage, by: str, full: bool) -> dict[str, Any]:
    text = text_of(message.blocks)
    said: dict[str, Any] = {"role": "assistant", "content": text or (None if message.calls else "")}
    if full and (thinking := thinking_of(message.blocks)):
        said["reasoning"] = thinking
    if message.calls:
        said |= {} if full else _reasoning(message, by)
        said["tool_calls"] = [_call(call, by) for call in message.calls]
    return said


def _reasoning(message: AssistantMessage, by: str) -> dict[str, str]:
    """Models that think between calls want their thoughts back, in the field that is named in their seal."""
    thoughts: dict[str, str] = {}
    for block in message.blocks:
        if isinstance(block, Thinking) and block.seal is not None and block.seal.by == by:
            thoughts[block.seal.data] = thoughts.get(block.seal.data, "") + block.thinking
    return thoughts


def _call(call: Call, by: str) -> dict[str, Any]:
    function = {"name": sendable_name(call.name), "arguments": sendable_arguments(call.arguments)}
    sent: dict[str, Any] = {"id": sendable_id(call.id), "type": "function", "function": function}
    if call.seal is not None and call.seal.by == by:
        sent["extra_content"] = {"google": {"thought_signature": call.seal.data}}
    return sent


def sendable_arguments(arguments: str) -> str:
    """Arguments that can be sent back. Servers parse them, so arguments that the model garbled are replaced by an
    empty object."""
    try:
        msgspec.json.decode(arguments, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return "{}"
    return arguments


def sendable_name(name: str) -> str:
    """A tool name that can be sent back. Servers refuse names that no tool could have, but models make such names
    up."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in name)[:64] or "_"


def sendable_id(call_id: str) -> str:
    """A call id that can be sent back: some servers give longer ids than others accept."""
    if len(call_id) <= _ID_CHARACTERS:
        return call_id
    return f"{call_id[: _ID_CHARACTERS - 9]}_{crc32(call_id.encode()):08x}"
