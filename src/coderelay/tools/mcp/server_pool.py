"""The MCP servers of a process, by folder; all sessions in a folder share them."""

from collections.abc import Mapping

from coderelay.policy.secrets.masking import Secrets
from coderelay.policy.secrets.secret_value_recognition import secret_values
from coderelay.tools.mcp.folder_servers import McpServers
from coderelay.tools.mcp.http_transport import OpenHttp
from coderelay.tools.mcp.restarting_server import ServerLimits
from coderelay.tools.mcp.server_settings import ServerSettings, private_values
from coderelay.workspace.processes.command_runner import Processes
from coderelay.workspace.processes.environment import command_environment


class ServerPool:
    """`env` has the values of `${NAME}` in settings; server programs see of it only what any command may see."""

    def __init__(
        self,
        env: Mapping[str, str],
        processes: Processes,
        secrets: Secrets,
        open_http: OpenHttp,
        limits: ServerLimits,
    ) -> None:
        self._env = env
        self._processes = processes
        self._secrets = secrets
        self._open_http = open_http
        self._limits = limits
        self._servers: dict[tuple[str, str], McpServers] = {}

    def of(self, folder: str, wanted: Mapping[str, ServerSettings], session: str = "") -> McpServers | None:
        """The servers that are configured for a folder now, or that are lent to a session in it; None if there never
        were any."""
        servers = self._servers.get((folder, session))
        if servers is None and wanted:
            servers = self._servers[folder, session] = self._open(folder)
        if servers is not None and servers.settings != wanted:
            for each in wanted.values():
                self._secrets.add(secret_values(private_values(each, self._env)))
            servers.configure(wanted)
        return servers

    def end(self, session: str) -> None:
        """End the servers that were lent to a session."""
        for (_, of), servers in self._servers.items():
            if of == session:
                servers.configure({})

    async def close(self) -> None:
        for servers in self._servers.values():
            await servers.close()

    def _open(self, folder: str) -> McpServers:
        return McpServers(
            {},
            folders=[folder],
            environment=command_environment(self._env),
            variables=self._env,
            processes=self._processes,
            open_http=self._open_http,
            limits=self._limits,
        )
