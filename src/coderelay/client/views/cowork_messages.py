"""Events as messages of the Cowork contract, in the format of `stream-json`.

The messages of an event are made from that event alone, so that the store can keep them as rows and rebuild them from
the log. A message that the agent handed in itself is given as it is; events that are contained in it give no message
of their own.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from coderelay.client.builtin_tool_specs_loader import tool_specs
from coderelay.client.views.cowork_message_parser import COWORK
from coderelay.protocol.calls import Call, Finished, Unknown
from coderelay.protocol.events import (
    CallEnded,
    CallProposed,
    HistoryCleared,
    HistoryCompacted,
    MessageAdded,
    MessageKept,
    PartialsKept,
    PromptTaken,
    Recorded,
    TurnEnded,
    TurnStarted,
    TurnUndone,
)
from coderelay.protocol.ids import SessionId, derived_id
from coderelay.protocol.message_content import Text, text_of
from coderelay.protocol.modes import MODES
from coderelay.protocol.projected_rows import MessageRow, Summary
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.translatable import encode_plain
from coderelay.protocol.usage_and_cost import Usage
from coderelay.session.model_messages import result_text
from coderelay.session.summary_row import summarise

PERMISSION_MODES: dict[Mode, str] = {each.name: each.external_name for each in MODES}
_encode = msgspec.json.Encoder(enc_hook=encode_plain).encode


def rows(recorded: Recorded) -> list[MessageRow]:
    return [MessageRow(message_id, _encode(data).decode()) for message_id, data in _messages(recorded)]


class SessionRows:
    """Makes the rows of the store from events: a summary for each session, and a row for each message."""

    def summary(self, row: Summary | None, recorded: Recorded) -> Summary | None:
        return summarise(row, recorded)

    def messages(self, recorded: Recorded) -> Sequence[MessageRow]:
        return rows(recorded)


def lines(recorded: Recorded) -> list[str]:
    """The messages for programs that read one from each line. They know their prompts themselves."""
    if isinstance(recorded.event, PromptTaken):
        return []
    of_agent = _messages(recorded)[1:] if isinstance(recorded.event, TurnStarted) else _messages(recorded)
    return [_one_line(_encode(data).decode()) for _, data in of_agent]


def _one_line(data: str) -> str:
    """In JSON, line breaks are found only between values, where they mean nothing."""
    return data.replace("\r", " ").replace("\n", " ") if "\n" in data or "\r" in data else data


def _messages(recorded: Recorded) -> list[tuple[str, dict[str, Any] | msgspec.Raw]]:
    session = recorded.session
    match recorded.event:
        case TurnStarted() as event:
            init = derived_id(session, recorded.seq)
            prompt = _prompt(event)
            first = [] if event.verbatim else [(init, _init(session, init, event))]
            return [(event.prompt_id, prompt), *first]
        case MessageKept() as event:
            return [(event.message_id, msgspec.Raw(event.data.encode()))] if event.form == COWORK else []
        case PartialsKept() as event:
            from coderelay.client.views.cowork_stream_events import kept_messages  # imported late: few keep them

            return [(each["uuid"], each) for each in kept_messages(recorded, event)]
        case MessageAdded(verbatim=True) | CallProposed(verbatim=True):
            return []
        case CallEnded(verbatim=True) | TurnEnded(verbatim=True):
            return []
        case PromptTaken() as event:
            return [(event.prompt_id, _prompt(event))]
        case MessageAdded(author="workflow") as event:
            return _by_workflow(session, event)
        case MessageAdded(author="person") as event:
            return [(event.message_id, _assistant(session, event) | {"author": "person"})]
        case MessageAdded() as event:
            return [(event.message_id, _assistant(session, event))]
        case CallProposed() as event:
            row = derived_id(session, recorded.seq)
            return [(row, _proposed(session, row, event.call))]
        case HistoryCompacted() as event:
            row = derived_id(session, recorded.seq)
            return [(row, _compacted(session, row, event))]
        case HistoryCleared():
            row = derived_id(session, recorded.seq)
            return [(row, {"type": "system", "subtype": "history_cleared", "uuid": row, "session_id": session})]
        case TurnUndone() as event:
            row = derived_id(session, recorded.seq)
            return [(row, _undone(session, row, event))]
        case CallEnded() as event:
            row = derived_id(session, recorded.seq)
            return [(row, _tool_result(session, row, event))]
        case TurnEnded() as event:
            result = result_message(recorded, event)
            return [(result["uuid"], result)]
        case _:
            return []


def _prompt(event: TurnStarted | PromptTaken) -> dict[str, Any]:
    """With images, their number and the id to ask for them with."""
    images = {"promptId": event.prompt_id, "images": event.images} if event.images else {}
    steer = {"steer": True} if isinstance(event, PromptTaken) else {}
    return {"type": "user_prompt", "prompt": event.typed_text, **steer, **images}


def _init(session: SessionId, row: str, event: TurnStarted) -> dict[str, Any]:
    return {
        "type": "system",
        "subtype": "init",
        "uuid": row,
        "session_id": session,
        "cwd": event.cwd,
        "model": event.model,
        "permissionMode": PERMISSION_MODES[event.mode],
        "tools": [tool_specs().external_name(tool) for tool in event.tools],
        "mcp_servers": _servers(event.tools),
        "slash_commands": [],
        "apiKeySource": "none",
        "agent": event.agent,
    }


def _servers(tools: Sequence[str]) -> list[dict[str, str]]:
    """The MCP servers whose tools the turn has."""
    names = dict.fromkeys(tool.split("__", 2)[1] for tool in tools if tool.startswith("mcp__"))
    return [{"name": name, "status": "connected"} for name in names]


def _assistant(session: SessionId, event: MessageAdded) -> dict[str, Any]:
    said = [
        {"type": "text", "text": block.text}
        if isinstance(block, Text)
        else {"type": "thinking", "thinking": block.thinking, "signature": ""}
        for block in event.blocks
        if isinstance(block, Text) or block.thinking
    ]
    stop_reason = "tool_use" if event.calls else event.stop_reason
    return {
        "type": "assistant",
        "uuid": event.message_id,
        "session_id": session,
        "parent_tool_use_id": None,
        "message": {
            "id": event.message_id,
            "type": "message",
            "role": "assistant",
            "model": event.model,
            "content": [*said, *map(tool_use, event.calls)],
            "stop_reason": stop_reason,
            "usage": usage_fields(event.usage),
        },
    }


def _proposed(session: SessionId, row: str, call: Call) -> dict[str, Any]:
    """A call of an agent that proposes them one by one. What the agent said is in messages of their own."""
    return {
        "type": "assistant",
        "uuid": row,
        "session_id": session,
        "parent_tool_use_id": None,
        "message": {
            "id": row,
            "type": "message",
            "role": "assistant",
            "model": "",
            "content": [tool_use(call)],
            "stop_reason": "tool_use",
        },
    }


def _by_workflow(session: SessionId, event: MessageAdded) -> list[tuple[str, dict[str, Any] | msgspec.Raw]]:
    """A call by the workflow looks like one by the assistant, which front ends know. Its text is a system message,
    since it is nobody's answer."""
    if event.calls:
        return [(event.message_id, _assistant(session, event) | {"author": "workflow"})]
    said = {
        "type": "system",
        "subtype": "workflow",
        "uuid": event.message_id,
        "session_id": session,
        "text": text_of(event.blocks),
    }
    return [(event.message_id, said)]


def _compacted(session: SessionId, row: str, event: HistoryCompacted) -> dict[str, Any]:
    return {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": row,
        "session_id": session,
        "summary": event.summary,
    }


def _undone(session: SessionId, row: str, event: TurnUndone) -> dict[str, Any]:
    files = {"restored": event.restored, "removed": event.removed, "conflicts": event.conflicts}
    return {
        "type": "system",
        "subtype": "turn_undone",
        "uuid": row,
        "session_id": session,
        "turn_id": event.turn_id,
        **files,
    }


def tool_use(call: Call) -> dict[str, Any]:
    try:
        arguments = msgspec.json.decode(call.arguments, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        arguments = {}
    return {
        "type": "tool_use",
        "id": call.id,
        "name": tool_specs().external_name(call.name),
        "input": tool_specs().external_input(call.name, arguments),
    }


def _tool_result(session: SessionId, row: str, event: CallEnded) -> dict[str, Any]:
    result = {
        "type": "tool_result",
        "tool_use_id": event.call_id,
        "content": result_text(event.outcome),
        "is_error": not isinstance(event.outcome, Finished),
    }
    return {
        "type": "user",
        "uuid": row,
        "session_id": session,
        "parent_tool_use_id": None,
        "message": {"role": "user", "content": [result]},
        **({"duration_ms": event.ms} if event.ms else {}),
        **({"outcome": "unknown"} if isinstance(event.outcome, Unknown) else {}),
    }


_SUBTYPES = {
    "done": "success",
    "step_limit": "error_max_turns",
    "failed": "error_during_execution",
    "stopped": "error_during_execution",
}


def result_message(recorded: Recorded, event: TurnEnded) -> dict[str, Any]:
    """The end of a turn. A surface that has followed the turn adds what this event does not say: how long the model
    took, and what was denied."""
    error = {"error": event.error, "errors": [event.error]} if event.error is not None else {}
    return {
        "type": "result",
        "subtype": _SUBTYPES[event.ending],
        "uuid": derived_id(recorded.session, recorded.seq),
        "session_id": recorded.session,
        "is_error": event.ending != "done",
        "duration_ms": event.ms,
        "duration_api_ms": 0,
        "num_turns": event.steps,
        "result": event.text,
        "stop_reason": event.stop_reason,
        "usage": usage_fields(event.usage),
        "total_cost_usd": event.cost or 0.0,
        "permission_denials": [],
        **error,
    }


def usage_fields(usage: Usage) -> dict[str, int]:
    return {
        "input_tokens": usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
    }
