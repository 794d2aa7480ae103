"""How an answer falls into pieces when it is streamed."""

import re

import msgspec

from tests.model_server.answers import Call

ARGUMENT_PIECES = 6


def words(text: str) -> list[str]:
    return re.findall(r"\s*\S+|\s+$", text)


def fragments(text: str) -> list[str]:
    size = max(4, -(-len(text) // ARGUMENT_PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]


def arguments_of(call: Call) -> str:
    if isinstance(call.arguments, str):
        return call.arguments
    return msgspec.json.encode(call.arguments).decode()
