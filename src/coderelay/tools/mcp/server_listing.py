"""Lists MCP servers for people, with what each offers, and finds the one whose prompt or resource they choose."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TypeVar

from coderelay.protocol.errors import BadInput
from coderelay.protocol.query_results import PromptRow, ResourceRow, ServerRow
from coderelay.protocol.translatable import say
from coderelay.tools.mcp.errors import ServerFailed
from coderelay.tools.mcp.folder_servers import McpServers
from coderelay.tools.mcp.prompt_and_resource_text import prompt_or_resource_text
from coderelay.tools.mcp.protocol_types import Prompt
from coderelay.tools.mcp.restarting_server import McpServer
from coderelay.tools.mcp.secrets_in_server_settings import where_shown
from coderelay.tools.mcp.server_settings_interface import ServerSettings

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
            raise BadInput(say("MCP server {name} {problem}", name=server, problem=failed.what)) from failed


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


def _prompt_row(prompt: Prompt) -> PromptRow:
    optional = tuple(each.name for each in prompt.arguments if not each.required)
    return PromptRow(prompt.name, prompt.description or "", tuple(each.name for each in prompt.arguments), optional)
