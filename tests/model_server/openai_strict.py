"""What both forms of OpenAI refuse."""

import re
from typing import Any, Literal

import msgspec
from msgspec import Struct

from tests.model_server.violation import Refused


def param_in(wrong: str) -> str | None:
    """`… unknown field `x` - at `$.messages[0]`` names messages[0].x."""
    path = re.search(r" - at `\$\.?(.*)`$", wrong)
    name = re.search(r"(?:unknown|required) field `(.*?)`", wrong)
    return ".".join(found[1] for found in (path, name) if found) or None


class _Schema(Struct, frozen=True):
    type: Literal["object"]
    properties: dict[str, dict[str, Any] | bool] = {}
    required: list[str] = []


def check_schema(parameters: dict[str, Any], param: str) -> None:
    try:
        schema = msgspec.convert(parameters, _Schema)
    except msgspec.ValidationError as wrong:
        raise Refused(f"not the JSON schema of an object: {wrong}", param) from wrong
    if unknown := set(schema.required) - schema.properties.keys():
        raise Refused(f"required but not among the properties: {', '.join(sorted(unknown))}", param)


def check_strict_schema(parameters: dict[str, Any], param: str) -> None:
    """A model that must keep to a schema can leave nothing out and add nothing."""
    if set(parameters.get("required", ())) != set(parameters.get("properties", ())):
        raise Refused("a strict schema requires all its properties", param)
    if parameters.get("additionalProperties") is not False:
        raise Refused("a strict schema has additionalProperties: false", param)
