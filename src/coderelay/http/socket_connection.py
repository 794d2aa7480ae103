"""One socket connection: sends bytes, and receives them with an idle timeout."""

import asyncio
import socket
import ssl
from typing import cast

from coderelay.http.errors import ServerMisbehaved
from coderelay.protocol.translatable import say

_BUFFER_BYTES = 64 * 1024
_PAUSE_BYTES = 1024 * 1024
_KEEPALIVE_SECONDS = 60


class SocketConnection(asyncio.BufferedProtocol):
    """Created by `dial`, and closed by the caller of `dial`.

    It is a buffered protocol because a plain one allocates 256 KiB for every read, which is noticeable when a
    response arrives token by token.
    """

    _transport: asyncio.Transport  # set by `connection_made`

    def __init__(self) -> None:
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        self._arrived: list[bytes] = []
        self._arrived_bytes = 0
        self._paused = False
        self._ended = False  # nothing more will arrive
        self._lost = False  # the transport is gone and must not be used any more: in Python 3.11 it may raise
        self._waiter: asyncio.Future[None] | None = None
        self._deadline: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def start_tls(self, context: ssl.SSLContext, host: str) -> None:
        loop = asyncio.get_running_loop()
        encrypted = await loop.start_tls(self._transport, self, context, server_hostname=host)
        if encrypted is None:  # the connection was lost just as TLS was ready
            raise ConnectionResetError
        self._transport = encrypted

    def send(self, *parts: bytes) -> None:
        """Does not wait and does not fail: if the connection has ended, the next `receive` reports it."""
        if not self._lost:
            for part in parts:  # not writelines, which copies the parts into one
                self._transport.write(part)

    async def receive(self, seconds: float | None) -> bytes:
        """Return what has arrived. Empty bytes mean that the connection has ended. Raises Broken after `seconds`
        without data."""
        if not self._arrived and not self._ended:
            await self._arrival(seconds)
        data = b"".join(self._arrived)
        self._arrived.clear()
        self._arrived_bytes = 0
        if self._paused:
            self._paused = False
            self._transport.resume_reading()
        return data

    @property
    def is_quiet(self) -> bool:
        """The connection is open, everything was sent, and nothing has arrived: it can be used for another
        request."""
        return not self._ended and not self._arrived and not self._transport.get_write_buffer_size()

    def close(self) -> None:
        self._ended = True
        self._stop_looking()
        if not self._lost:
            self._transport.abort()

    async def _arrival(self, seconds: float | None) -> None:
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        self._deadline = None if seconds is None else loop.time() + seconds
        if self._deadline is not None:
            self._look_at(self._deadline)
        try:
            await self._waiter
        except TimeoutError as error:
            raise ServerMisbehaved(say("was silent for {seconds} s", seconds=f"{seconds:g}")) from error
        finally:
            self._waiter = None

    def _look_at(self, deadline: float) -> None:
        """One timer serves many reads, because a timer for each read is noticeable too: it fires when it was first
        due, and is set again if data has arrived meanwhile."""
        if self._timer is not None and self._timer.when() <= deadline:
            return
        self._stop_looking()
        self._timer = asyncio.get_running_loop().call_at(deadline, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._waiter is None or self._waiter.done() or self._deadline is None:
            return
        if asyncio.get_running_loop().time() < self._deadline:
            self._look_at(self._deadline)
        else:
            self._waiter.set_exception(TimeoutError())

    def _stop_looking(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # Callbacks of asyncio.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        _keep_alive(transport.get_extra_info("socket"))

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._arrived.append(bytes(self._buffer[:nbytes]))
        self._arrived_bytes += nbytes
        if self._arrived_bytes > _PAUSE_BYTES and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """A reset is treated like a normal end; if it comes too early, the reader of the response reports it."""
        self._ended = self._lost = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _keep_alive(sock: socket.socket) -> None:
    """A model may think for minutes without sending anything; routers drop silent connections sooner than that."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_KEEPIDLE"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _KEEPALIVE_SECONDS)
