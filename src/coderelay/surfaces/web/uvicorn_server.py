"""The web server: listens on a loopback address, and runs until it is told to stop."""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from coderelay.surfaces.local_listener import Listening
from coderelay.surfaces.web.guard import Guard, addresses_of
from coderelay.surfaces.web.http_connection_limits import HttpConnection, WebSocketConnection
from coderelay.surfaces.web.routes import OPEN_PATHS
from coderelay.surfaces.web.token_and_login_links import Token

_BACKLOG = 128
_MOST_HEADER_BYTES = 32 * 1024
_MOST_FRAME_BYTES = 16 * 1024 * 1024  # more than the contract allows: what is above its own limit can be answered
_CLOSE_SECONDS = 1.0
_SHUTDOWN_SECONDS = 3


async def serve(
    app: ASGIApp,
    listening: Listening,
    token: Token,
    *,
    until: Awaitable[object],
    ready: Callable[[], None] = lambda: None,
    dev_port: int | None = None,
    connection: type[HttpConnection] = HttpConnection,
) -> None:
    """Serve the app behind the guard. Returns when `until` is done and the connections are closed."""
    guarded = Guard(app, addresses_of(listening.address, listening.port, dev_port), token, OPEN_PATHS)
    config = uvicorn.Config(
        guarded,
        http=connection,
        ws=WebSocketConnection,
        ws_per_message_deflate=False,
        ws_max_size=_MOST_FRAME_BYTES,
        loop="asyncio",
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        h11_max_incomplete_event_size=_MOST_HEADER_BYTES,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        backlog=_BACKLOG,
    )
    await _Server(config, until, ready).serve(sockets=[listening.socket])


class _Server(uvicorn.Server):
    """Waits for one event where uvicorn would look ten times a second whether it should stop, and leaves signals to
    the command line."""

    def __init__(self, config: uvicorn.Config, until: Awaitable[object], ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._until = until
        self._ready = ready

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def main_loop(self) -> None:
        self._ready()
        await self._until

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Give the clients a second to read what is on its way. Log messages of uvicorn about the others are
        suppressed."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        patience = asyncio.get_running_loop().call_later(_CLOSE_SECONDS, self._abort)
        try:
            await super().shutdown(sockets)
        finally:
            patience.cancel()

    def _abort(self) -> None:
        for each in [*self.server_state.connections]:
            each.transport.abort()
        for task in self.server_state.tasks:
            task.cancel()
