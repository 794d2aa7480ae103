"""The web server: uvicorn on a loopback address, within limits that uvicorn does not have.

Anybody on the machine can open connections, without a token. So a request must arrive whole within some seconds, and
the number of such connections is limited: when there are too many, the oldest without a request is closed.
"""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState

from coderelay.surfaces.local_listener import Listening
from coderelay.surfaces.web.guard import HEADERS, Guard, addresses_of, error_body
from coderelay.surfaces.web.routes import OPEN_PATHS
from coderelay.surfaces.web.token_and_login_links import Token

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent

MOST_CONNECTIONS = 256
REQUEST_SECONDS = 10.0
_MOST_UNWRITTEN = 64 * 1024
_BACKLOG = 128
_MOST_HEADER_BYTES = 32 * 1024
_MOST_FRAME_BYTES = 16 * 1024 * 1024  # more than the contract allows: what is above its own limit can be answered
_CLOSE_SECONDS = 1.0
_SHUTDOWN_SECONDS = 3


class HttpConnection(H11Protocol):
    most_connections = MOST_CONNECTIONS
    request_seconds = REQUEST_SECONDS
    _deadline: asyncio.TimerHandle | None = None
    _since = 0.0
    _is_upgraded = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._since = self.loop.time()
        self._expect_request()
        all_of_us = [each for each in self.connections if isinstance(each, HttpConnection)]
        if len(all_of_us) > self.most_connections:
            min(all_of_us, key=HttpConnection._closing_order).transport.abort()

    def _closing_order(self) -> tuple[bool, float]:
        """The sort key for closing connections: first those without a request, and among them the oldest."""
        is_answered = bool(self.cycle) and not self.cycle.response_complete
        return is_answered, self._since

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_upgraded:
            return  # from now on it belongs to another protocol
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._expect_request()
        else:
            self._expect_nothing()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._is_upgraded = True
        self._expect_nothing()
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """For what is no HTTP at all; the guard never sees it."""
        self._expect_nothing()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):  # else an answer has begun, and there is no other
            body = error_body("this is no valid HTTP request")
            length = (b"content-length", str(len(body)).encode())
            headers = [*HEADERS, (b"content-type", b"application/json"), length, (b"connection", b"close")]
            answer = (h11.Response(status_code=400, headers=headers), h11.Data(data=body), h11.EndOfMessage())
            self.transport.write(b"".join(self.conn.send(each) or b"" for each in answer))
        self.transport.close()

    def _expect_request(self) -> None:
        """A request must be here in time, counted from its first byte or from the beginning of the connection."""
        if self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(self.request_seconds, self.transport.abort)

    def _expect_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class WebSocketConnection(WebSocketsSansIOProtocol):
    """What is sent in one cycle of the event loop is written at once: a write costs more than all else that is done
    for a message. Whatever uvicorn writes itself, such as a pong, takes along what waits before it."""

    _unwritten = 0

    async def send(self, message: "ASGISendEvent") -> None:
        text = message.get("text") if message["type"] == "websocket.send" else None
        if not isinstance(text, str) or not self.handshake_complete or self.close_sent or self.initial_response:
            await self._send_other(message)
            return
        await self.writable.wait()
        if self.disconnected:
            raise ClientDisconnected
        data = text.encode()
        try:
            self.conn.send_text(data)
        except InvalidState as error:
            raise ClientDisconnected from error
        if not self._unwritten:
            self.loop.call_soon(self._write)
        self._unwritten += len(data)
        if self._unwritten > _MOST_UNWRITTEN:
            self._write()

    def _write(self) -> None:
        self._unwritten = 0
        if (output := self.conn.data_to_send()) and not self.transport.is_closing():
            self.transport.write(b"".join(output))

    async def _send_other(self, message: "ASGISendEvent") -> None:
        """A refusal completes a handshake too. Without this, uvicorn logs an error for each, and anybody can cause
        as many as they like."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True


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
