"""One configured MCP server: started when it is needed, restarted after it died."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from msgspec import Raw, Struct
from msgspec.structs import replace

from coderelay.protocol.translatable import say
from coderelay.tools.mcp.client import McpClient
from coderelay.tools.mcp.parameter_schema import is_deep
from coderelay.tools.mcp.protocol_types import (
    CallResult,
    ListedPrompt,
    ListedTool,
    PromptMessage,
    Resource,
    ResourceContent,
)
from coderelay.tools.mcp.server_transport_interface import (
    ServerFailed,
    ServerRefused,
    ServerTimeout,
    ServerTransport,
    SessionForgotten,
    StartedTooOften,
)

_SAID_LINES = 5
_SAID_CHARS = 600

Value = TypeVar("Value")
MakeLine = Callable[[], ServerTransport]


class ServerLimits(Struct, frozen=True):
    """Limits in seconds, except `starts`, which is how often a server may be started in `starts_within` seconds.
    `step_wait_seconds` is how long a step waits for all servers together."""

    step_wait_seconds: float = 5.0

    start: float = 30.0
    answer: float = 30.0
    ping: float = 5.0
    call: float = 120.0
    call_with_progress: float = 1800.0
    starts: int = 3
    starts_within: float = 60.0


class McpServer:
    """`tools` stay known when the server dies: the next call starts it again. `mark` is a fingerprint that
    distinguishes it from other servers of the same name."""

    def __init__(
        self, name: str, mark: str, make_line: MakeLine, folders: Sequence[str], limits: ServerLimits
    ) -> None:
        self.name = name
        self.mark = mark
        self.tools: tuple[ListedTool, ...] = ()
        self._make_line = make_line
        self._folders = folders
        self._limits = limits
        self._client: McpClient | None = None
        self._starting: asyncio.Task[McpClient] | None = None
        self._started: deque[float] = deque(maxlen=limits.starts)
        self._trouble = ""
        self._changed = False
        self._closed = False

    @property
    def is_running(self) -> bool:
        return self._client is not None and not self._client.connection_lost_reason

    @property
    def is_starting(self) -> bool:
        return self._starting is not None

    @property
    def has_failed(self) -> bool:
        """Whether the last attempt to start it failed, also while another one is being made."""
        return bool(self._trouble)

    @property
    def was_started(self) -> bool:
        return bool(self._started)

    @property
    def note(self) -> str:
        """What is wrong with the server, for people, as the end of a sentence; empty while all is well."""
        if self.is_starting:
            return self._trouble or "is still starting"
        if self._client is not None and self._client.connection_lost_reason and not self._trouble:
            return self._explained(self._client, ServerFailed(self._client.connection_lost_reason)).told
        return self._trouble

    async def ready(self) -> None:
        """Start the server if its tools are not known, and list them again if they changed. An error is kept as the
        `note`."""
        if self.tools and not self.is_running:
            return
        try:
            client = await self._running()
            if self._changed:
                await self._list(client)
                self._trouble = ""
        except StartedTooOften as failed:
            self._trouble = self._trouble or failed.told
        except ServerFailed as failed:
            self._trouble = failed.told

    async def call(self, tool: str, arguments: Mapping[str, Raw]) -> CallResult:
        """Raises ServerFailed. The server acts on the call once at most; if it dies in the middle, it may have
        acted."""
        limits = self._limits
        return await self._asked(lambda client: client.call(tool, arguments, limits.call, limits.call_with_progress))

    async def resources(self) -> list[Resource]:
        return await self._asked(lambda client: client.resources(self._limits.answer))

    async def read(self, uri: str) -> tuple[ResourceContent, ...]:
        return await self._asked(lambda client: client.read(uri, self._limits.answer))

    async def prompts(self) -> list[ListedPrompt]:
        return await self._asked(lambda client: client.prompts(self._limits.answer))

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[PromptMessage, ...]:
        return await self._asked(lambda client: client.prompt(name, arguments, self._limits.answer))

    async def close(self) -> None:
        self._closed = True
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        if self._client is not None:
            await self._client.close()

    async def _asked(self, ask: Callable[[McpClient], Awaitable[Value]]) -> Value:
        """Raises ServerFailed."""
        try:
            return await self._asked_once(ask)
        except SessionForgotten:
            return await self._asked_once(ask)

    async def _asked_once(self, ask: Callable[[McpClient], Awaitable[Value]]) -> Value:
        client = await self._running()
        try:
            return await ask(client)
        except SessionForgotten:
            await client.close()
            raise
        except ServerTimeout:
            if not await client.is_alive(self._limits.ping):
                await client.close()
            raise
        except ServerFailed as failed:
            raise self._explained(client, failed) from failed

    async def _running(self) -> McpClient:
        """The client of the running server. However many callers ask at once, the server is started once; the start
        goes on even if they stop waiting."""
        if self._client is not None and not self._client.connection_lost_reason:
            return self._client
        if self._starting is None:
            self._check_starts()
            self._starting = asyncio.ensure_future(self._start())
            self._starting.add_done_callback(self._over)
        return await asyncio.shield(self._starting)

    def _over(self, starting: asyncio.Task[McpClient]) -> None:
        self._starting = None
        if starting.cancelled():
            return
        failed = starting.exception()
        self._trouble = failed.told if isinstance(failed, ServerFailed) else ""

    def _check_starts(self) -> None:
        if self._closed:
            raise ServerFailed("was closed")
        now, limits = time.monotonic(), self._limits
        if len(self._started) == limits.starts and now - self._started[0] < limits.starts_within:
            often = say(
                "was started {count} times in {seconds} s", count=limits.starts, seconds=f"{limits.starts_within:g}"
            )
            note = self.note
            raise StartedTooOften(say("{problem}; at last it {rest}", problem=often, rest=note) if note else often)
        self._started.append(now)

    async def _start(self) -> McpClient:
        if self._client is not None:
            await self._client.close()
        client = McpClient(self._make_line(), self._folders, self._note_change)
        try:
            async with asyncio.timeout(self._limits.start):
                await client.open(self._limits.start)
                await self._list(client)
        except TimeoutError as error:
            await client.close()
            slow = ServerFailed(say("did not start within {seconds} s", seconds=f"{self._limits.start:g}"))
            raise self._explained(client, slow) from error
        except ServerFailed as failed:
            await client.close()
            raise self._explained(client, failed) from failed
        except BaseException:
            await client.close()
            raise
        self._client = client
        return client

    async def _list(self, client: McpClient) -> None:
        self._changed = False
        tools = await client.tools(self._limits.answer)
        self.tools = tuple(
            replace(each, input_schema=False) if is_deep(each.input_schema) else each for each in tools
        )

    def _note_change(self) -> None:
        self._changed = True

    def _explained(self, client: McpClient, failed: ServerFailed) -> ServerFailed:
        """Add the end of the server's error output, unless the server is alive and answered with an error itself."""
        if isinstance(failed, ServerRefused):
            return failed
        lines = client.last_error_output.splitlines()[-_SAID_LINES:]
        said = "\n".join(lines)[-_SAID_CHARS:]
        return ServerFailed(failed.what, sent=failed.sent, output=said) if said else failed
