"""Reads the content of a message of the Cowork contract. The message may come from another program, so nothing about
its form is certain."""

from typing import Any, cast

import msgspec

from coderelay.protocol.errors import BadInput
from coderelay.protocol.translatable import say

COWORK = "cowork"
"""The form in which `cowork_messages` writes the messages of a session. Some agents emit their messages in it."""


def read_message(data: str) -> dict[str, Any]:
    """The message in a JSON text. Halves of characters, which some programs write as escapes, become U+FFFD. Raises
    BadInput for anything but a JSON object."""
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass  # halves of characters are no reason to refuse it
    import json  # seldom needed

    try:
        message: object = json.loads(data, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BadInput(say("a message is no JSON object: {why}", why=error)) from error
    if not isinstance(message, dict):
        raise BadInput("a message is no JSON object")
    return {_whole(name): _whole(each) for name, each in cast("dict[str, Any]", message).items()}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _whole(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {_whole(name): _whole(each) for name, each in cast("dict[str, Any]", value).items()}
        case list():
            return [_whole(each) for each in cast("list[Any]", value)]
        case _:
            return value


def blocks_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The content blocks of a message. A content that is only a text is one block of it."""
    inner = message.get("message")
    content: Any = cast("dict[str, Any]", inner).get("content") if isinstance(inner, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [each for each in _items(content) if isinstance(each, dict)]


def result_content(content: object) -> str:
    """The content of a `tool_result` as text. Of other blocks than text, their type is told."""
    if isinstance(content, list):
        return "\n".join(_text(each) for each in _items(cast("object", content)))
    return "" if content is None else str(content)


def _items(content: object) -> list[Any]:
    return cast("list[Any]", content) if isinstance(content, list) else []


def _text(block: object) -> str:
    match block:
        case {"type": "text", "text": str() as text}:
            return text
        case {"type": str() as kind}:
            return f"[{kind}]"
        case _:
            return str(block)
