"""The words of the protocol: what servers say they have, and what they answer.

Read loosely, because there are many servers: unknown fields are skipped, missing ones have defaults.
"""

from typing import Any, Literal

from msgspec import Struct


class ListedTool(Struct, frozen=True, rename="camel"):
    """As a server describes it. What it says of its own harmlessness (`annotations`) is not even read."""

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


class Content(Struct, frozen=True, rename="camel"):
    """Of a resource: `text`, or `blob` in base64."""

    uri: str = ""
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None


class Part(Struct, frozen=True, rename="camel"):
    """Of a result or a prompt; which fields there are depends on `type`, and there may be types we do not know."""

    type: str
    text: str | None = None
    data: str | None = None
    mime_type: str | None = None
    resource: Content | None = None
    uri: str | None = None
    name: str | None = None


class CallResult(Struct, frozen=True, rename="camel"):
    content: tuple[Part, ...] = ()
    structured_content: Any = None
    is_error: bool = False


class PromptMessage(Struct, frozen=True):
    role: Literal["user", "assistant"]
    content: Part


class Greeting(Struct, rename="camel"):
    protocol_version: str
    capabilities: dict[str, Any] = {}


class ReadResult(Struct):
    contents: tuple[Content, ...] = ()


class PromptResult(Struct):
    messages: tuple[PromptMessage, ...] = ()


class Page(Struct, rename="camel"):
    """Of one of the lists; the others are empty."""

    tools: tuple[ListedTool, ...] = ()
    resources: tuple[Resource, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    next_cursor: str | None = None
