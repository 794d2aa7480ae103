"""Lists MCP servers for people, with what each offers, and finds the one whose prompt or resource they choose."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TypeVar

from coderelay.protocol.errors import BadInput
from coderelay.protocol.query_results import PromptRow, ResourceRow, ServerRow
from coderelay.protocol.translatable import say
from coderelay.tools.mcp.folder_servers import McpServers
from coderelay.tools.mcp.mcp_tool import content_text, part_text
from coderelay.tools.mcp.protocol_types import ListedPrompt, PromptMessage
from coderelay.tools.mcp.restarting_server import McpServer
from coderelay.tools.mcp.server_settings import ServerSettings, where_shown
from coderelay.tools.mcp.server_transport_interface import ServerFailed
from coderelay.tools.toolbox import shortened

Listed = TypeVar("Listed")


class ServerStatuses:
    def __init__(self, servers: Sequence[McpServers]) -> None:
        self._servers = servers

    async def rows(self) -> list[ServerRow]:
        """One row for each server, after a short wait for servers that have not started yet."""
        await asyncio.gather(*(each.ready() for each in self._servers))
        rows = [_row(each.settings[name], server) for each in self._servers for name, server in each.servers.items()]
        return await asyncio.gather(*rows)

    async def text(self, server: str, what: str, rest: str) -> str:
        """The text of a server's prompt with `rest` as its arguments, or of a resource followed by `rest`."""
        servers = {name: each for group in self._servers for name, each in group.servers.items()}
        found = servers.get(server)
        if found is None:
            raise BadInput(
                say("no MCP server {name}", name=repr(server)),
                say("Choose from {names}.", names=", ".join(servers)),
            )
        try:
            return await prompt_or_resource_text(found, what, rest)
        except ServerFailed as failed:
            raise BadInput(say("MCP server {name} {problem}", name=server, problem=failed.told)) from failed


async def _row(settings: ServerSettings, server: McpServer) -> ServerRow:
    prompts, resources = [], []
    if server.is_running:
        prompts, resources = await asyncio.gather(_or_none(server.prompts()), _or_none(server.resources()))
    return ServerRow(
        name=server.name,
        where=where_shown(settings),
        state="running"
        if server.is_running
        else "starting"
        if server.is_starting and not server.has_failed
        else "failed",
        note=server.note,
        tools=tuple(sorted(each.name for each in server.tools)),
        prompts=tuple(map(_prompt_row, prompts)),
        resources=tuple(ResourceRow(each.uri, each.name) for each in resources),
    )


async def _or_none(listing: Awaitable[list[Listed]]) -> list[Listed]:
    """A server that cannot list its prompts or resources still has its tools."""
    try:
        return await listing
    except ServerFailed:
        return []


def _prompt_row(prompt: ListedPrompt) -> PromptRow:
    optional = tuple(each.name for each in prompt.arguments if not each.required)
    return PromptRow(prompt.name, prompt.description or "", tuple(each.name for each in prompt.arguments), optional)


async def prompt_or_resource_text(server: McpServer, what: str, rest: str) -> str:
    prompts = {each.name: each for each in await server.prompts()}
    if what in prompts:
        return _in_one(await server.prompt(what, _arguments(prompts[what], rest)))
    if all(each.uri != what for each in await server.resources()):
        raise BadInput(
            say("{server} has no prompt or resource {name}", server=server.name, name=repr(what)),
            "/mcp lists the servers with their prompts and resources.",
        )
    contents = [content_text(each) for each in await server.read(what)]
    return "\n\n".join([shortened("\n\n".join(contents)), rest]).strip()


def _arguments(prompt: ListedPrompt, rest: str) -> dict[str, str]:
    """One word for each argument, in their order; the last argument gets all remaining words."""
    words = rest.split(maxsplit=max(len(prompt.arguments) - 1, 0))
    given = dict(zip((each.name for each in prompt.arguments), words, strict=False))
    missing = [each.name for each in prompt.arguments if each.required and each.name not in given]
    if missing:
        raise BadInput(say("the prompt {name} needs {names}", name=prompt.name, names=", ".join(missing)))
    return given


def _in_one(messages: Sequence[PromptMessage]) -> str:
    """Join the messages of a prompt. Most prompts are one message; if an assistant speaks too, the roles are
    marked."""
    said = [part_text(each.content) for each in messages]
    marked = [f"{each.role}:\n{text}" for each, text in zip(messages, said, strict=True)]
    return "\n\n".join(said if all(each.role == "user" for each in messages) else marked)
