"""The servers that are configured for one folder: started together, their tools in a stable order."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from coderelay.tools.mcp.http_line import HttpLine, OpenHttp
from coderelay.tools.mcp.line import Line
from coderelay.tools.mcp.names import tool_names
from coderelay.tools.mcp.schemas import parameters_of
from coderelay.tools.mcp.server import Limits, Server
from coderelay.tools.mcp.stdio_line import StdioLine
from coderelay.tools.mcp.tool import McpTool
from coderelay.tools.mcp.words import ListedTool
from coderelay.workspace.processes import Processes

_LIMITS = Limits()
_PATIENCE_SECONDS = 5.0
_MOST_TOOLS = 100
"""Of all servers together: some providers take 128, and every one of them costs in every request."""


class ServerSettings(Protocol):
    """A program that is started (`command`), or one that listens at `url`."""

    @property
    def command(self) -> str | None: ...

    @property
    def args(self) -> tuple[str, ...]: ...

    @property
    def env(self) -> Mapping[str, str]: ...

    @property
    def url(self) -> str | None: ...

    @property
    def headers(self) -> Mapping[str, str]: ...


class McpServers:
    """`environment` is what a program sees besides what its settings add. The first of `folders` is where it runs."""

    def __init__(
        self,
        settings: Mapping[str, ServerSettings],
        *,
        folders: Sequence[str],
        environment: Mapping[str, str],
        processes: Processes,
        open_http: OpenHttp,
        limits: Limits = _LIMITS,
    ) -> None:
        def line(of: ServerSettings) -> Line:
            if of.url is not None:
                return HttpLine(of.url, of.headers, open_http)
            return StdioLine(processes, [of.command or "", *of.args], folders[0], {**environment, **of.env})

        self.servers = {
            name: Server(name, lambda of=settings[name]: line(of), folders, limits) for name in sorted(settings)
        }
        self._tools: tuple[McpTool, ...] = ()
        self._listed: list[tuple[ListedTool, ...]] = []
        self._left_out: list[str] = []
        self._getting_ready: set[asyncio.Task[None]] = set()

    async def ready(self, patience: float = _PATIENCE_SECONDS) -> None:
        """To be awaited before every step. A server that needs longer than `patience` goes on starting, and its tools
        are there in a later step; one that failed is tried again, but not waited for."""
        idle = [each for each in self.servers.values() if not each.is_starting]
        waited_for = [self._get_ready(each) for each in idle if each.is_running or not each.was_started]
        for each in idle:
            if not each.is_running and each.was_started:
                self._get_ready(each)
        if waited_for:
            await asyncio.wait(waited_for, timeout=patience)

    def _get_ready(self, server: Server) -> asyncio.Task[None]:
        task = asyncio.ensure_future(server.ready())
        self._getting_ready.add(task)
        task.add_done_callback(self._getting_ready.discard)
        return task

    @property
    def tools(self) -> Sequence[McpTool]:
        """The same ones until a server lists others."""
        self._look()
        return self._tools

    @property
    def notes(self) -> list[str]:
        """What is wrong, for people."""
        self._look()
        wrong = [f"MCP server {each.name} {each.note}" for each in self.servers.values() if each.note]
        return [*wrong, *self._left_out]

    async def close(self) -> None:
        for task in self._getting_ready:
            task.cancel()
        await asyncio.gather(*self._getting_ready, return_exceptions=True)
        await asyncio.gather(*(each.close() for each in self.servers.values()))

    def _look(self) -> None:
        listed = [each.tools for each in self.servers.values()]
        if listed != self._listed:
            self._tools, self._left_out, self._listed = *self._offered(), listed

    def _offered(self) -> tuple[tuple[McpTool, ...], list[str]]:
        usable = {name: _usable(server.tools) for name, server in self.servers.items()}
        room = _shares({name: len(tools) for name, tools in usable.items()}, _MOST_TOOLS)
        chosen = [(name, *each) for name, tools in usable.items() for each in tools[: room[name]]]
        names = tool_names([(server, listed.name) for server, listed, _ in chosen])
        tools = tuple(
            McpTool(name, self.servers[server], listed, parameters)
            for name, (server, listed, parameters) in zip(names, chosen, strict=True)
        )
        offered = Counter(server for server, *_ in chosen)
        left_out = [
            f"MCP server {name} has {len(server.tools)} tools; {offered[name]} of them are offered"
            for name, server in self.servers.items()
            if offered[name] < len(server.tools)
        ]
        return tools, left_out


def _usable(tools: Sequence[ListedTool]) -> list[tuple[ListedTool, dict[str, Any]]]:
    """Each name once, in the order of names: a server may list them in another one tomorrow."""
    unique = {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}
    found = [(tool, parameters_of(tool.input_schema)) for tool in unique.values()]
    return [(tool, parameters) for tool, parameters in found if tool.name and parameters is not None]


def _shares(wanted: Mapping[str, int], most: int) -> dict[str, int]:
    """Room for all, or as much for each as is left by those that want less."""
    shares: dict[str, int] = {}
    for name in sorted(wanted, key=lambda name: (wanted[name], name)):
        shares[name] = min(wanted[name], (most - sum(shares.values())) // (len(wanted) - len(shares)))
    return shares
