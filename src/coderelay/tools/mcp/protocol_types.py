"""The types of the MCP protocol: what servers list and answer, and the check of parameter schemas.

Decoding is lenient, because there are many servers: unknown fields are skipped, missing ones have defaults.
"""

import re
from collections.abc import Iterable
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

_MOST_BYTES = 32 * 1024
_NOT_ON_TOP = ("$schema", "$id", "oneOf", "anyOf", "allOf", "not", "if", "then", "else")
"""Keywords that some provider refuses at the top level of a schema. The server checks its arguments anyway."""
_DEEPEST = 32
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")  # one provider refuses the whole request for any other name


class ListedTool(Struct, frozen=True, rename="camel"):
    """A tool as its server describes it. What the server says of its harmlessness (`annotations`) is not even
    read."""

    name: str
    description: str | None = None
    title: str | None = None
    input_schema: Any = None


class Resource(Struct, frozen=True, rename="camel"):
    uri: str
    name: str = ""
    description: str | None = None
    mime_type: str | None = None


class PromptArgument(Struct, frozen=True):
    name: str
    description: str | None = None
    required: bool = False


class Prompt(Struct, frozen=True):
    name: str
    description: str | None = None
    arguments: tuple[PromptArgument, ...] = ()


class ResourceContent(Struct, frozen=True, rename="camel"):
    """The content of a resource: `text`, or `blob` in base64."""

    uri: str = ""
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None


class ContentPart(Struct, frozen=True, rename="camel"):
    """A part of a result or a prompt. Which fields are set depends on `type`; there may be types we do not know."""

    type: str
    text: str | None = None
    data: str | None = None
    mime_type: str | None = None
    resource: ResourceContent | None = None
    uri: str | None = None
    name: str | None = None


class CallResult(Struct, frozen=True, rename="camel"):
    content: tuple[ContentPart, ...] = ()
    structured_content: Any = None
    is_error: bool = False


class PromptMessage(Struct, frozen=True):
    role: Literal["user", "assistant"]
    content: ContentPart


class Greeting(Struct, rename="camel"):
    protocol_version: str
    capabilities: dict[str, Any] = {}


class ReadResult(Struct):
    contents: tuple[ResourceContent, ...] = ()


class PromptResult(Struct):
    messages: tuple[PromptMessage, ...] = ()


class ListPage(Struct, rename="camel"):
    """One page of one of the lists; the other lists are empty."""

    tools: tuple[ListedTool, ...] = ()
    resources: tuple[Resource, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    next_cursor: str | None = None


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
