"""A message as the program of an agent emitted it: what is read from it, and what of it may be stored."""

from collections.abc import Callable
from typing import Any, cast

import msgspec

from coderelay.client.views.cowork_message_parser import COWORK, blocks_of, read_message
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import MessageKept
from coderelay.protocol.ids import CallId, MessageId, TurnId, new_id
from coderelay.protocol.translatable import say

MOST_BYTES = 8 * 1024 * 1024
_MOST_OF_AN_ID = 200
_MOST_OF_A_FIELD = 500
_SAID_BY_A_MODEL = ("assistant", "stream_event")


def raw_message_event(turn_id: TurnId, data: str, form: str, mask_secrets: Callable[[str], str]) -> MessageKept:
    """The event that stores a message. Secrets are masked as in the events of other agents: not in what a model says,
    but in results and in all else. A message without secrets is stored as it is, byte for byte."""
    message = read_message(data)
    try:
        size = len(data.encode())
    except UnicodeEncodeError as error:
        raise BadInput(say("a message is not valid Unicode: {why}", why=error)) from error
    if size > MOST_BYTES:
        data = _encode(_outline(message) | {"left_out_bytes": size})
    elif message.get("type") not in _SAID_BY_A_MODEL or form != COWORK:
        masked = _masked(message, mask_secrets)
        data = data if masked == message else _encode(masked)
    blocks = blocks_of(message) if form == COWORK else []
    return MessageKept(
        turn_id=turn_id,
        message_id=_id_of(message),
        data=data,
        form=form,
        calls=_ids(blocks, "tool_use", "id"),
        results=_ids(blocks, "tool_result", "tool_use_id"),
        is_last=form == COWORK and message.get("type") == "result",
        left_out=size if size > MOST_BYTES else 0,
    )


def _id_of(message: dict[str, Any]) -> MessageId:
    known = message.get("uuid")
    return MessageId(known if isinstance(known, str) and 0 < len(known) <= _MOST_OF_AN_ID else new_id())


def _ids(blocks: list[dict[str, Any]], kind: str, field: str) -> tuple[CallId, ...]:
    found = [each.get(field) for each in blocks if each.get("type") == kind]
    return tuple(CallId(each) for each in found if isinstance(each, str))


def _outline(message: dict[str, Any]) -> dict[str, Any]:
    """The short fields of a message, which say what it is and where it belongs."""
    plain = {name: each for name, each in message.items() if not isinstance(each, dict | list)}
    return {name: each for name, each in plain.items() if len(str(each)) <= _MOST_OF_A_FIELD}


def _masked(value: Any, mask_secrets: Callable[[str], str]) -> Any:
    match value:
        case str():
            return mask_secrets(value)
        case {"type": "base64", "data": str()}:
            return cast("dict[str, Any]", value)  # an image
        case dict():
            return {name: _masked(each, mask_secrets) for name, each in cast("dict[str, Any]", value).items()}
        case list():
            return [_masked(each, mask_secrets) for each in cast("list[Any]", value)]
        case _:
            return value


def _encode(message: dict[str, Any]) -> str:
    return msgspec.json.encode(message).decode()
