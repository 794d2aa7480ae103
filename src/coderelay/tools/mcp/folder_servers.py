"""The MCP servers configured for one folder: started together, their tools in a stable order."""

import asyncio
from collections.abc import Collection, Coroutine, Mapping, Sequence
from typing import Any

from coderelay.protocol.translatable import say
from coderelay.tools.mcp.http_transport import HttpTransport, OpenHttp
from coderelay.tools.mcp.mcp_tool import McpTool
from coderelay.tools.mcp.offered_tools import choose_tools
from coderelay.tools.mcp.protocol_types import ListedTool
from coderelay.tools.mcp.restarting_server import McpServer, ServerLimits
from coderelay.tools.mcp.server_settings import ServerSettings, fill_variables, mark_of
from coderelay.tools.mcp.server_transport_interface import ServerTransport
from coderelay.tools.mcp.stdio_transport import StdioTransport
from coderelay.workspace.processes.command_runner import Processes


class McpServers:
    """`environment` is what a server program sees besides what its settings add; `variables` are the values of
    `${NAME}` in those settings. Programs run in the first of `folders`."""

    def __init__(
        self,
        settings: Mapping[str, ServerSettings],
        *,
        folders: Sequence[str],
        environment: Mapping[str, str],
        processes: Processes,
        open_http: OpenHttp,
        variables: Mapping[str, str],
        limits: ServerLimits,
    ) -> None:
        self._folders = folders
        self._environment = environment
        self._variables = variables
        self._processes = processes
        self._open_http = open_http
        self._limits = limits
        self.servers: dict[str, McpServer] = {}
        self.settings: dict[str, ServerSettings] = {}
        self._tools: tuple[McpTool, ...] = ()
        self._listed: list[tuple[McpServer, tuple[ListedTool, ...]]] = []
        self._left_out: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.configure(settings)

    def configure(self, settings: Mapping[str, ServerSettings]) -> None:
        """Servers whose settings changed are closed and replaced by new ones; the others go on."""
        for name in [name for name, known in self.settings.items() if settings.get(name) != known]:
            self._do(self.servers.pop(name).close())
        self.settings = dict(settings)
        self.servers = {name: self.servers.get(name) or self._server(name) for name in sorted(settings)}

    def _server(self, name: str) -> McpServer:
        settings = self.settings[name]
        return McpServer(
            name, mark_of(settings, self._folders[0]), lambda: self._line(settings), self._folders, self._limits
        )

    def _line(self, of: ServerSettings) -> ServerTransport:
        """Raises ServerFailed."""
        if of.url is not None:
            headers = dict(of.headers) if of.literal else fill_variables(of.headers, self._variables)
            return HttpTransport(of.url, headers, self._open_http)
        given = of.env if of.literal else fill_variables(of.env, self._variables)
        env = {**self._environment, **given}
        return StdioTransport(self._processes, [of.command or "", *of.args], self._folders[0], env)

    async def ready(self) -> None:
        """To be awaited before every step. A server that takes longer than `step_wait_seconds` goes on starting, and
        its tools are there in a later step; one that failed is tried again, but not waited for."""
        idle = [each for each in self.servers.values() if not each.is_starting]
        waited_for = [self._do(each.ready()) for each in idle if each.is_running or not each.was_started]
        for each in idle:
            if not each.is_running and each.was_started:
                self._do(each.ready())
        if waited_for:
            await asyncio.wait(waited_for, timeout=self._limits.step_wait_seconds)

    async def ready_for(self, names: Collection[str]) -> None:
        """To be awaited before calls that were judged long ago, maybe in another process. Waits for as long as the
        servers that may have these tools take to start."""
        starting = {self._do(each.ready()) for each in self.servers.values() if not each.tools}
        while starting and not {each.spec.name for each in self.tools}.issuperset(names):
            _, starting = await asyncio.wait(starting, return_when=asyncio.FIRST_COMPLETED)

    def _do(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run the work as a task, which goes on when nobody waits for it any more."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    @property
    def tools(self) -> Sequence[McpTool]:
        """The tools of all servers; the same objects until a server lists others."""
        self._look()
        return self._tools

    @property
    def notes(self) -> list[str]:
        """What is wrong with the servers, for people."""
        self._look()
        wrong = [
            say("MCP server {name} {problem}", name=each.name, problem=each.note)
            for each in self.servers.values()
            if each.note
        ]
        return [*wrong, *self._left_out]

    async def close(self) -> None:
        await asyncio.gather(*(each.close() for each in self.servers.values()))
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _look(self) -> None:
        listed = [(each, each.tools) for each in self.servers.values()]
        if listed != self._listed:
            self._tools, self._left_out, self._listed = *choose_tools(self.servers), listed
