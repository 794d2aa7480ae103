"""What a server says of a tool's arguments, in a form that every provider takes."""

from typing import Any, cast

import msgspec

_MOST_BYTES = 32 * 1024
_NOT_ON_TOP = ("$schema", "$id", "oneOf", "anyOf", "allOf", "not", "if", "then", "else")
"""Refused there by one provider or the other. The server checks what it is given anyway."""


def parameters_of(schema: Any) -> dict[str, Any] | None:
    """None if no model could be told of it."""
    if schema is None:
        schema = {}
    if not isinstance(schema, dict):
        return None
    given = cast(dict[str, Any], schema)
    properties: Any = given.get("properties", {})
    if given.get("type", "object") != "object" or not isinstance(properties, dict):
        return None
    if len(msgspec.json.encode(given)) > _MOST_BYTES:
        return None
    kept = {name: value for name, value in given.items() if name not in _NOT_ON_TOP}
    return {**kept, "type": "object", "properties": cast(dict[str, Any], properties)}
