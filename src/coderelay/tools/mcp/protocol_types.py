"""The types of the MCP protocol: what servers list and answer, and the check of parameter schemas.

Decoding is lenient, because there are many servers: unknown fields are skipped, missing ones have defaults.
"""

from typing import Any, Literal

from msgspec import Struct


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


class ListedPrompt(Struct, frozen=True):
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
    prompts: tuple[ListedPrompt, ...] = ()
    next_cursor: str | None = None
