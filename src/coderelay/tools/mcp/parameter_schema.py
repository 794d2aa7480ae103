"""Checks the parameters of a tool of an MCP server, so that every provider takes them."""

import re
from collections.abc import Iterable
from typing import Any, cast

import msgspec

_MOST_BYTES = 32 * 1024
_NOT_ON_TOP = ("$schema", "$id", "oneOf", "anyOf", "allOf", "not", "if", "then", "else")
"""Keywords that some provider refuses at the top level of a schema. The server checks its arguments anyway."""
_DEEPEST = 32
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")  # one provider refuses the whole request for any other name


def parameters_of(schema: Any) -> dict[str, Any] | None:
    """The parameters to show to models; None if the schema cannot be used."""
    if schema is None:
        schema = {}
    if not isinstance(schema, dict):
        return None
    given = cast(dict[str, Any], schema)
    properties: Any = given.get("properties", {})
    if given.get("type", "object") != "object" or not _are_properties(properties):
        return None
    if not _are_names(given.get("required", [])) or is_deep(given):
        return None
    if len(msgspec.json.encode(given)) > _MOST_BYTES:
        return None
    kept = {name: value for name, value in given.items() if name not in _NOT_ON_TOP}
    return {**kept, "type": "object", "properties": cast(dict[str, Any], properties)}


def is_deep(value: Any) -> bool:
    """Whether a value is nested too deep for recursive functions."""
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return False
    return True


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast(dict[str, Any], value).values()
    return cast(list[Any], value) if isinstance(value, list) else ()


def _are_properties(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    properties = cast(dict[str, Any], value)
    return all(_NAME.fullmatch(name) and isinstance(each, dict) for name, each in properties.items())


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in cast(list[Any], value))
