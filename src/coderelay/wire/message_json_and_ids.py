"""The JSON of one message, and the ids that a request may have."""

import json
from typing import Any

import msgspec

ID_CHARS = 256
Params = dict[str, Any]
MessageKey = str | int | float | None
"""The id of a request."""


def decoded(data: bytes) -> object:
    """The value in a message. Halves of characters, which JavaScript programs write as escapes, become U+FFFD. Raises
    ValueError, and RecursionError if it is nested too deep."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if b"\\u" not in data:
            raise ValueError(str(error)) from error
    text = json.dumps(json.loads(data, parse_constant=_refuse_constant), ensure_ascii=False)
    try:
        return msgspec.json.decode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from error


def key_of(key: object) -> MessageKey:
    """An id, if an answer can repeat it; else None."""
    if isinstance(key, bool) or not isinstance(key, str | int | float):
        return None
    return None if isinstance(key, str) and len(key) > ID_CHARS else key


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
