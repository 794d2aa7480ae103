"""Interface of a folder's MCP servers, as the host uses them."""

from typing import Protocol

from coderelay.protocol.errors import BadInput
from coderelay.protocol.query_results import ServerRow


class Servers(Protocol):
    async def rows(self) -> list[ServerRow]: ...

    async def text(self, server: str, what: str, rest: str) -> str:
        """The text of a prompt or a resource. Raises BadInput."""
        ...


class NoServers:
    """The servers of a folder that has none configured."""

    async def rows(self) -> list[ServerRow]:
        return []

    async def text(self, server: str, what: str, rest: str) -> str:
        raise BadInput("no MCP servers configured", "Add one with `coder mcp add`.")
