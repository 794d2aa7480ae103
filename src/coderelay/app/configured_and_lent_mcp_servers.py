"""Wires MCP servers: those of a folder's configuration, and those that clients have lent to a session. Without any of
them, the MCP code is not loaded."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from coderelay.client.client import LentServer
from coderelay.host.folder_config import FolderConfigs
from coderelay.host.machine_interface import NoServers, Servers
from coderelay.host.resources_lent_by_clients import ServerDescription
from coderelay.policy.secrets.masking import Secrets
from coderelay.protocol.ids import SessionId
from coderelay.session.state import State
from coderelay.workspace.processes.command_runner import Processes

if TYPE_CHECKING:
    from coderelay.agents.native.turn_toolbox import ExtraTools
    from coderelay.tools.mcp.folder_servers import McpServers
    from coderelay.tools.mcp.mcp_tool import McpTool
    from coderelay.tools.mcp.restarting_server import ServerLimits
    from coderelay.tools.mcp.server_pool import ServerPool


Lent = Mapping[str, LentServer]
"""The MCP servers that a client has lent to a session, by name."""


class ConfiguredAndLentServers:
    """`tools` is for agents, `servers` for people; both know the servers of the configuration as it is now."""

    def __init__(
        self, env: Mapping[str, str], folders: FolderConfigs, processes: Processes, secrets: Secrets
    ) -> None:
        self._env = env
        self._folders = folders
        self._processes = processes
        self._secrets = secrets
        self._pool: ServerPool | None = None

    def tools(self, cwd: str, state: State | None, lent: Lent) -> "ExtraTools | None":
        found = self._groups(cwd, state, lent)
        if len(found) < 2:
            return found[0] if found else None
        return _CombinedServers(found)

    def servers(self, cwd: str, state: State, lent: Lent) -> Servers:
        found = self._groups(cwd, state, lent)
        if not found:
            return NoServers()
        from coderelay.tools.mcp.server_status_and_prompt_text import ServerStatuses

        return ServerStatuses(found)

    def _groups(self, cwd: str, state: State | None, lent: Lent) -> "list[McpServers]":
        """The servers of the folder, and those lent to the session; a subagent uses those of its parent. A name that
        the folder's configuration has too is the folder's."""
        configured = self._folders.of(cwd).settings.mcp_servers
        found: list[McpServers | None] = []
        if configured or self._pool is not None:
            found.append(self._opened().of(cwd, configured))
        if state is not None and state.settings is not None and lent:
            own = {name: server for name, server in lent.items() if name not in configured}
            found.append(self._opened().of(cwd, own, session=state.settings.parent or state.session))
        return [each for each in found if each is not None]

    def describe(self, server: LentServer, cwd: str) -> ServerDescription:
        """What a person is told of a server before it is used."""
        from coderelay.tools.mcp.server_settings import mark_of, secrets_of, where_shown

        self._secrets.add(secrets_of(server))
        return ServerDescription(mark_of(server, cwd), self._secrets.hide(where_shown(server)))

    def end_lent(self, session: SessionId) -> None:
        if self._pool is not None:
            self._pool.end(session)

    def _opened(self) -> "ServerPool":
        if self._pool is None:
            from coderelay.tools.mcp.restarting_server import ServerLimits

            seconds = self._env.get("CODER_MCP_SECONDS")
            self._pool = self.new_pool(ServerLimits(step_wait_seconds=float(seconds)) if seconds else ServerLimits())
        return self._pool

    def new_pool(self, limits: "ServerLimits") -> "ServerPool":
        from coderelay.http.model_server_client import HttpClient
        from coderelay.tools.mcp.server_pool import ServerPool

        return ServerPool(self._env, self._processes, self._secrets, partial(HttpClient, env=self._env), limits)

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.close()


class _CombinedServers:
    """The servers of a folder and those that are lent to a session in it, as one."""

    def __init__(self, servers: "Sequence[McpServers]") -> None:
        self._servers = servers

    async def ready(self) -> None:
        await asyncio.gather(*(each.ready() for each in self._servers))

    async def ready_for(self, names: Collection[str]) -> None:
        """The server that has a tool is not known, so all are waited for."""
        for each in self._servers:
            await each.ready_for([name for name in names if not self._has(name)])

    @property
    def tools(self) -> "list[McpTool]":
        return [tool for each in self._servers for tool in each.tools]

    @property
    def notes(self) -> list[str]:
        return [note for each in self._servers for note in each.notes]

    def _has(self, name: str) -> bool:
        return any(tool.spec.name == name for tool in self.tools)
