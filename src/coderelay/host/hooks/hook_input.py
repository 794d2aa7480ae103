"""The JSON input of a hook, with the field names that hooks of other agents use."""

import json
from typing import Any

import msgspec

from coderelay.client.builtin_tool_specs_loader import tool_specs
from coderelay.client.views.cowork_messages import PERMISSION_MODES
from coderelay.config.settings import HookEvent
from coderelay.protocol.calls import Call, Finished, Need
from coderelay.session.state import State

Fields = dict[str, Any]


def in_json(fields: Fields) -> bytes:
    """Encode in ASCII: a model may have written half a surrogate pair, which UTF-8 cannot encode."""
    return json.dumps(fields).encode()


def of_session(event: HookEvent, state: State) -> Fields:
    settings = state.settings
    assert settings is not None
    parent = {"parent_session_id": settings.parent} if settings.parent is not None else {}
    return {
        **parent,
        "session_id": state.session,
        "cwd": settings.cwd,
        "hook_event_name": event,
        "permission_mode": PERMISSION_MODES[settings.mode],
        "model": settings.model,
    }


def of_call(call: Call, need: Need) -> Fields:
    """The fields about a call. `paths` are the absolute paths of all files it would touch; what the model wrote may
    be shorter."""
    given = tool_specs().external_input(call.name, _arguments(call))
    if "file_path" in given and need.paths:
        given["file_path"] = need.paths[0]
    return {
        "tool_name": tool_specs().external_name(call.name),
        "tool_input": given,
        "tool_use_id": call.id,
        "paths": list(need.paths),
    }


def of_result(finished: Finished) -> Fields:
    return {"tool_response": {"success": True, "output": finished.output, "summary": finished.summary}}


def _arguments(call: Call) -> Fields:
    try:
        return msgspec.json.decode(call.arguments, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return {}
