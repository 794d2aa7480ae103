"""MCP servers, for people."""

from typing import Literal

from msgspec import Struct


class PromptRow(Struct, frozen=True):
    """`arguments` in their order; those in `optional` may be left out."""

    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


class ResourceRow(Struct, frozen=True):
    uri: str
    name: str = ""


class ServerRow(Struct, frozen=True):
    """`where` is its command or address, `note` what is wrong with it, as the end of a sentence."""

    name: str
    where: str
    state: Literal["running", "starting", "failed"]
    note: str = ""
    tools: tuple[str, ...] = ()
    prompts: tuple[PromptRow, ...] = ()
    resources: tuple[ResourceRow, ...] = ()
