"""The servers of a folder and those that are lent to a session in it, as one."""

import asyncio
from collections.abc import Collection, Sequence

from coderelay.tools.mcp.folder_servers import McpServers
from coderelay.tools.mcp.mcp_tool import McpTool


class CombinedServers:
    def __init__(self, servers: Sequence[McpServers]) -> None:
        self._servers = servers

    async def ready(self) -> None:
        await asyncio.gather(*(each.ready() for each in self._servers))

    async def ready_for(self, names: Collection[str]) -> None:
        """The server that has a tool is not known, so all are waited for."""
        for each in self._servers:
            await each.ready_for([name for name in names if not self._has(name)])

    @property
    def tools(self) -> list[McpTool]:
        return [tool for each in self._servers for tool in each.tools]

    @property
    def notes(self) -> list[str]:
        return [note for each in self._servers for note in each.notes]

    def _has(self, name: str) -> bool:
        return any(tool.spec.name == name for tool in self.tools)
