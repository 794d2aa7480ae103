"""The client of one running MCP server: initialisation, tools, resources, prompts and calls."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from coderelay import __version__
from coderelay.protocol.translatable import say
from coderelay.tools.mcp.protocol_types import (
    CallResult,
    Greeting,
    ListedPrompt,
    ListedTool,
    ListPage,
    PromptMessage,
    PromptResult,
    ReadResult,
    Resource,
    ResourceContent,
)
from coderelay.tools.mcp.server_transport_interface import ServerFailed, ServerRefused, ServerTimeout, ServerTransport
from coderelay.wire.message_repair_and_flood_limits import Tolerance
from coderelay.wire.messages_and_errors import NoAnswer, Params, PeerTimeout, RpcError
from coderelay.wire.peer import Method, Peer, PeerRequest

VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_PAGES = 100
_ITEMS = 1000

Decoded = TypeVar("Decoded")
Item = TypeVar("Item")


class McpClient:
    """`changed` is called when the server's list of tools has changed."""

    def __init__(self, line: ServerTransport, folders: Sequence[str], changed: Callable[[], None]) -> None:
        self._line = line
        self._folders = folders
        self._changed = changed
        self._peer = Peer(line, self, Tolerance(), _cancelled)
        self._serving: asyncio.Task[None] | None = None
        self._capabilities: Params = {}
        self._last_token = 0
        self._put_off: dict[str, Callable[[], None]] = {}  # the time-outs of calls, by progress token

    @property
    def connection_lost_reason(self) -> str:
        """Why the connection is lost; empty while the server can be asked."""
        return self._peer.end_reason

    @property
    def last_error_output(self) -> str:
        return self._line.last_error_output

    async def open(self, seconds: float) -> None:
        """Raises ServerFailed."""
        await self._line.open()
        self._serving = asyncio.ensure_future(self._peer.serve())
        said: Params = {
            "protocolVersion": VERSIONS[0],
            "capabilities": {"roots": {}},
            "clientInfo": {"name": "coderelay", "version": __version__},
        }
        greeting = _decoded(await self._ask("initialize", said, seconds), Greeting)
        if greeting.protocol_version not in VERSIONS:
            raise ServerFailed(
                say(
                    "speaks version {version} of the protocol, which coder does not support",
                    version=greeting.protocol_version[:40],
                )
            )
        self._capabilities = greeting.capabilities
        if (exchange := self._peer.send_notification("notifications/initialized", {})) is not None:
            await exchange
        self._line.set_protocol_version(greeting.protocol_version)

    async def close(self) -> None:
        self._peer.end_connection("was closed")
        if self._serving is None:
            self._serving = asyncio.ensure_future(self._peer.serve())  # which closes the transport
        await asyncio.wait({self._serving})

    def find(self, method: str) -> Method | None:
        return self._answer if method in ("ping", "roots/list", "elicitation/create") else None

    def notice(self, method: str, params: Params) -> None:
        if method == "notifications/tools/list_changed":
            self._changed()
        elif method == "notifications/progress" and (put_off := self._put_off.get(str(params.get("progressToken")))):
            put_off()

    async def tools(self, seconds: float) -> list[ListedTool]:
        return await self._listed("tools", seconds, lambda page: page.tools)

    async def resources(self, seconds: float) -> list[Resource]:
        return await self._listed("resources", seconds, lambda page: page.resources)

    async def prompts(self, seconds: float) -> list[ListedPrompt]:
        return await self._listed("prompts", seconds, lambda page: page.prompts)

    async def call(self, name: str, arguments: Mapping[str, Raw], seconds: float, most_seconds: float) -> CallResult:
        """Raises ServerFailed."""
        params: dict[str, Any] = {"name": name, "arguments": arguments}
        return _decoded(await self._ask("tools/call", params, seconds, most_seconds), CallResult)

    async def read(self, uri: str, seconds: float) -> tuple[ResourceContent, ...]:
        return _decoded(await self._ask("resources/read", {"uri": uri}, seconds), ReadResult).contents

    async def prompt(self, name: str, arguments: Mapping[str, str], seconds: float) -> tuple[PromptMessage, ...]:
        params = {"name": name, "arguments": arguments}
        return _decoded(await self._ask("prompts/get", params, seconds), PromptResult).messages

    async def is_alive(self, seconds: float) -> bool:
        try:
            await self._ask("ping", {}, seconds)
        except ServerFailed as failed:
            return not failed.sent and not self.connection_lost_reason
        return True

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
            raise ServerTimeout(say("did not answer within {seconds} s", seconds=f"{seconds:.0f}")) from error
        return listed[:_ITEMS]

    async def _pages(self, what: str, seconds: float) -> AsyncGenerator[ListPage]:
        """Yields no page for a server that does not declare this capability. Raises ServerFailed."""
        cursor, cursors = None, set[str]()
        for _ in range(_PAGES if what in self._capabilities else 0):
            page = _decoded(await self._ask(f"{what}/list", {"cursor": cursor} if cursor else {}, seconds), ListPage)
            yield page
            cursor = page.next_cursor
            if not cursor or cursor in cursors:
                return
            cursors.add(cursor)

    async def _ask(self, method: str, params: Params, seconds: float, most_seconds: float = 0.0) -> Any:
        """Each progress notification restarts the time-out of `seconds`, up to `most_seconds` in all. Raises
        ServerFailed."""
        if self.connection_lost_reason:
            raise ServerFailed(self.connection_lost_reason)
        clock = asyncio.get_running_loop().time
        began, limit = clock(), asyncio.timeout(seconds)

        def put_off() -> None:
            if not limit.expired():
                limit.reschedule(min(clock() + seconds, began + most_seconds))

        self._last_token += 1
        token = str(self._last_token)
        if most_seconds:
            params = {**params, "_meta": {"progressToken": self._last_token}}
            self._put_off[token] = put_off
        try:
            return await self._peer.send_request(method, params, limit)
        except RpcError as error:
            raise ServerRefused(error.code, error.message) from error
        except PeerTimeout as error:
            raise ServerTimeout(say("did not answer within {seconds} s", seconds=f"{clock() - began:.0f}")) from error
        except NoAnswer as error:
            raise ServerFailed(error.what, sent=True) from error
        finally:
            self._put_off.pop(token, None)

    async def _answer(self, request: PeerRequest) -> Params:
        match request.method:
            case "roots/list":
                return {"roots": [_root(folder) for folder in self._folders]}
            case "elicitation/create":
                return {"action": "decline"}  # people are never asked on behalf of a server
            case _:
                return {}


def _cancelled(number: int, reason: str) -> tuple[str, Params]:
    return "notifications/cancelled", {"requestId": number, "reason": reason}


def _decoded(result: Any, type_: type[Decoded]) -> Decoded:
    try:
        return msgspec.convert(result, type_)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ServerFailed(say("sent an answer that cannot be understood: {why}", why=error), sent=True) from error


def _root(folder: str) -> dict[str, str]:
    return {"uri": Path(folder).as_uri(), "name": Path(folder).name}
