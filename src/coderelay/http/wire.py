"""Bytes in and out of one socket."""

import asyncio
import socket
import ssl
from typing import cast

from coderelay.http.failures import Broken
from coderelay.protocol.translatable import say

_BUFFER_BYTES = 64 * 1024
_PAUSE_BYTES = 1024 * 1024
_KEEPALIVE_SECONDS = 60


class Wire(asyncio.BufferedProtocol):
    """Made by `dial`, and closed by whoever dialled.

    A buffered protocol, because the plain one allocates 256 KiB for every read, which is felt when an
    answer comes token by token.
    """

    _transport: asyncio.Transport  # from `connection_made` on

    def __init__(self) -> None:
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        self._arrived: list[bytes] = []
        self._arrived_bytes = 0
        self._paused = False
        self._ended = False  # nothing more will arrive
        self._lost = False  # the transport is gone, and must not be touched any more: in Python 3.11 it may raise
        self._waiter: asyncio.Future[None] | None = None
        self._deadline: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def start_tls(self, context: ssl.SSLContext, host: str) -> None:
        loop = asyncio.get_running_loop()
        encrypted = await loop.start_tls(self._transport, self, context, server_hostname=host)
        if encrypted is None:  # lost in the moment it was ready
            raise ConnectionResetError
        self._transport = encrypted

    def send(self, *parts: bytes) -> None:
        """Does not wait, and does not fail: if the connection has ended, the next `receive` tells."""
        if not self._lost:
            for part in parts:  # not writelines, which copies them together
                self._transport.write(part)

    async def receive(self, seconds: float | None) -> bytes:
        """What has arrived; nothing means that the connection has ended. Raises Broken after `seconds`."""
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
        """Open, all sent, and nothing has arrived: fit for another request."""
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
            raise Broken(say("was silent for {seconds} s", seconds=f"{seconds:g}")) from error
        finally:
            self._waiter = None

    def _look_at(self, deadline: float) -> None:
        """One timer for many reads, because one for each is felt too: it looks when it was first due, and waits on if
        something has arrived meanwhile."""
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

    # What asyncio calls.

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
        """A reset is an end like any other; where it is too early, the reader of the answer says so."""
        self._ended = self._lost = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _keep_alive(sock: socket.socket) -> None:
    """A model may think for minutes without a word; routers forget connections sooner than that."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_KEEPIDLE"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _KEEPALIVE_SECONDS)
