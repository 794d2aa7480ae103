"""The client of one running MCP server: initialisation, tools, resources, prompts and calls."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from coderelay import __version__
from coderelay.tools.mcp.json_rpc import Peer
from coderelay.tools.mcp.schema import (
    CallResult,
    Greeting,
    ListedTool,
    ListPage,
    Prompt,
    PromptMessage,
    PromptResult,
    ReadResult,
    Resource,
    ResourceContent,
)
from coderelay.tools.mcp.transport import ServerFailed, ServerTimeout, Transport

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_PAGES = 100
_ITEMS = 1000

Decoded = TypeVar("Decoded")
Item = TypeVar("Item")


class McpClient:
    """`changed` is called when the server's list of tools has changed."""

    def __init__(self, line: Transport, folders: Sequence[str], changed: Callable[[], None]) -> None:
        answers = {
            "ping": dict[str, Any],
            "roots/list": lambda: {"roots": [_root(folder) for folder in folders]},
            "elicitation/create": lambda: {"action": "decline"},  # people are never asked on behalf of a server
        }
        self._peer = Peer(line, answers, self._heard)
        self._changed = changed
        self._capabilities: dict[str, Any] = {}

    @property
    def lost(self) -> str:
        """Why the connection is lost; empty while the server can be asked."""
        return self._peer.lost

    @property
    def last_words(self) -> str:
        return self._peer.line.last_words

    async def open(self, seconds: float) -> None:
        """Raises ServerFailed."""
        await self._peer.open()
        said: dict[str, Any] = {
            "protocolVersion": VERSIONS[0],
            "capabilities": {"roots": {}},
            "clientInfo": {"name": "coderelay", "version": __version__},
        }
        greeting = _decoded(await self._peer.ask("initialize", said, seconds), Greeting)
        if greeting.protocol_version not in VERSIONS:
            raise ServerFailed(f"speaks version {greeting.protocol_version[:40]} of the protocol, which we do not")
        self._capabilities = greeting.capabilities
        await self._peer.tell("notifications/initialized")
        self._peer.line.settle(greeting.protocol_version)

    async def tools(self, seconds: float) -> list[ListedTool]:
        return await self._listed("tools", seconds, lambda page: page.tools)

    async def resources(self, seconds: float) -> list[Resource]:
        return await self._listed("resources", seconds, lambda page: page.resources)

    async def prompts(self, seconds: float) -> list[Prompt]:
        return await self._listed("prompts", seconds, lambda page: page.prompts)

    async def call(self, name: str, arguments: Mapping[str, Raw], seconds: float, most_seconds: float) -> CallResult:
        """Raises ServerFailed."""
        params: dict[str, Any] = {"name": name, "arguments": arguments}
        return _decoded(await self._peer.ask("tools/call", params, seconds, most_seconds), CallResult)

    async def read(self, uri: str, seconds: float) -> tuple[ResourceContent, ...]:
        return _decoded(await self._peer.ask("resources/read", {"uri": uri}, seconds), ReadResult).contents

    async def prompt(self, name: str, arguments: Mapping[str, str], seconds: float) -> tuple[PromptMessage, ...]:
        params = {"name": name, "arguments": arguments}
        return _decoded(await self._peer.ask("prompts/get", params, seconds), PromptResult).messages

    async def is_alive(self, seconds: float) -> bool:
        try:
            await self._peer.ask("ping", {}, seconds)
        except ServerFailed as failed:
            return not failed.sent and not self.lost
        return True

    async def close(self) -> None:
        await self._peer.close()

    async def _listed(self, what: str, seconds: float, items: Callable[[ListPage], Sequence[Item]]) -> list[Item]:
        """Collect the items of a list from its pages, up to `_ITEMS`. Raises ServerFailed, also if the whole list
        takes too long."""
        listed: list[Item] = []
        try:
            async with asyncio.timeout(seconds), aclosing(self._pages(what, seconds)) as pages:
                async for page in pages:
                    listed += items(page)
                    if len(listed) >= _ITEMS:
                        break
        except TimeoutError as error:
            raise ServerTimeout(f"did not answer within {seconds:.0f} s") from error
        return listed[:_ITEMS]

    async def _pages(self, what: str, seconds: float) -> AsyncGenerator[ListPage]:
        """Yields no page for a server that does not declare this capability. Raises ServerFailed."""
        cursor, cursors = None, set[str]()
        for _ in range(_PAGES if what in self._capabilities else 0):
            page = _decoded(
                await self._peer.ask(f"{what}/list", {"cursor": cursor} if cursor else {}, seconds), ListPage
            )
            yield page
            cursor = page.next_cursor
            if not cursor or cursor in cursors:
                return
            cursors.add(cursor)

    def _heard(self, method: str) -> None:
        if method == "notifications/tools/list_changed":
            self._changed()


def _decoded(result: Raw, type_: type[Decoded]) -> Decoded:
    try:
        return msgspec.json.decode(result, type=type_)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ServerFailed(f"sent an answer that cannot be understood: {error}", sent=True) from error


def _root(folder: str) -> dict[str, str]:
    return {"uri": Path(folder).as_uri(), "name": Path(folder).name}
