"""The session in the OpenAI Chat Completions form: what a chat model is sent, and what the snapshot
file holds."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from coderelay.protocol.calls import ToolSpec
from coderelay.protocol.content import text_of, thinking_of
from coderelay.protocol.events import MessageAdded
from coderelay.session.state import State
from coderelay.session.transcript import AssistantMessage, Message, ToolMessage, UserMessage, transcript


def snapshot(state: State, tools: Sequence[ToolSpec], system: str) -> dict[str, Any]:
    """Enough to repeat a request: model, tools and messages, and what a reader wants to know besides."""
    settings = state.settings
    assert settings is not None
    first: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    return {
        "id": state.session,
        "title": settings.title,
        "cwd": settings.cwd,
        "agent": settings.agent,
        "mode": settings.mode,
        "model": settings.model,
        "state": state.phase,
        "tools": [openai_tool(tool) for tool in tools],
        "messages": [*first, *(openai_message(each, full=True) for each in transcript(_settled(state)))],
    }


def _settled(state: State) -> State:
    """Up to a message whose calls have no end yet: without their results it could not be sent again."""
    if state.batch is None or not state.open_calls():
        return state
    ids = [each.message_id if isinstance(each, MessageAdded) else None for each in state.history]
    return replace(state, history=state.history[: ids.index(state.batch.id)])


def openai_tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def openai_message(message: Message, *, full: bool = False) -> dict[str, Any]:
    """`full` adds what is kept for readers and not sent: the name of a tool, the reasoning."""
    match message:
        case UserMessage():
            return {"role": "user", "content": message.text}
        case ToolMessage():
            named = {"name": message.name} if full else {}
            return {"role": "tool", "tool_call_id": message.call_id, **named, "content": message.text}
        case AssistantMessage():
            return _assistant(message, full)


def _assistant(message: AssistantMessage, full: bool) -> dict[str, Any]:
    text = text_of(message.blocks)
    said: dict[str, Any] = {"role": "assistant", "content": text or (None if message.calls else "")}
    if full and (thinking := thinking_of(message.blocks)):
        said["reasoning"] = thinking
    if message.calls:
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": _tool_name(call.name), "arguments": _json_object(call.arguments)},
            }
            for call in message.calls
        ]
    return said


def _json_object(arguments: str) -> str:
    """Servers parse the arguments they are sent back; what the model garbled cannot go back as it is."""
    try:
        msgspec.json.decode(arguments, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return "{}"
    return arguments


def _tool_name(name: str) -> str:
    """Servers refuse a name no tool could have; models make them up all the same."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in name)[:64] or "_"
