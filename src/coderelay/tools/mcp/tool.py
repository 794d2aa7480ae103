"""One tool of a server, as the agent has it."""

from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Raw

from coderelay.protocol.calls import Finished, Need, ToolSpec
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.translatable import say
from coderelay.tools.mcp.failures import Refused, ServerFailed
from coderelay.tools.mcp.results import finished
from coderelay.tools.mcp.schema import ListedTool
from coderelay.tools.mcp.server import Server
from coderelay.tools.mcp.tool_names import on_one_line, plain_name, short
from coderelay.workspace.workspace import Workspace

DESCRIPTION_CHARS = 2000
_SHOWN_ARGUMENTS = 2000

Object = dict[str, Raw]
"""Handed on as the model wrote it: only the server knows what it means."""


class McpTool:
    arguments = Object

    def __init__(self, name: str, server: Server, listed: ListedTool, parameters: dict[str, Any]) -> None:
        plain = plain_name(server.name, listed.name)
        self.spec = ToolSpec(name, _description(server, listed), parameters, "mcp", plain if plain != name else "")
        self._server = server
        self._tool = listed.name

    def need(self, arguments: Object, workspace: Workspace) -> Need:
        """All arguments are shown. An approval that is remembered is for this tool of this server."""
        return Need(
            tool=self.spec.name,
            kind="mcp",
            title=f"{short(self._server.name)}: {short(self._tool)} {_shown(arguments)}".rstrip(),
            server=self._server.mark,
            server_tool=self._tool,
            plain=self.spec.plain,
        )

    async def run(self, arguments: Object, workspace: Workspace) -> Finished:
        try:
            return finished(await self._server.call(self._tool, arguments))
        except Refused as refused:
            raise ToolFailed(f"{self._server.name} {refused.what}") from refused
        except ServerFailed as failed:
            raise ToolFailed(
                say("the MCP server {name} {problem}", name=self._server.name, problem=failed.what),
                detail="The call may have run; check before repeating it." if failed.sent else "",
            ) from failed


def _description(server: Server, listed: ListedTool) -> str:
    text = (listed.description or listed.title or f"{listed.name} of {server.name}").strip()
    return text if len(text) <= DESCRIPTION_CHARS else f"{text[:DESCRIPTION_CHARS]}…"


def _shown(arguments: Object) -> str:
    """What is too long to read is told apart by its hash."""
    if not arguments:
        return ""
    text = on_one_line(msgspec.json.encode(arguments).decode())
    if len(text) <= _SHOWN_ARGUMENTS:
        return text
    mark = sha256(text.encode()).hexdigest()[:16]
    return f"{text[:_SHOWN_ARGUMENTS]}… ({len(text)} characters, sha256 {mark})"
