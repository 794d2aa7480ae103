"""A transport over a WebSocket: one message in each text frame."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol

from websockets.exceptions import ConnectionClosed

from coderelay.wire.transport import CLOSED, MOST_BYTES, Oversized, Take

_MOST_WAITING = 1 << 20  # bytes that nobody has read yet
_LEAVING_SECONDS = 2.0
_PONG_SECONDS = 1.0
_CONTROL = b"//"
READY = "//ready"
Join = Callable[[bytes, bytes], bytes | None]
"""Returns two messages as one, or None if they cannot be joined."""


class WebSocket(Protocol):
    """What is needed of a connection of the library `websockets`."""

    async def recv(self) -> str | bytes: ...

    async def send(self, message: str) -> None: ...

    async def ping(self) -> Awaitable[float]:
        """Send a ping; the result waits for the pong."""
        ...

    async def close(self) -> None: ...


class WebSocketTransport:
    """A client that says nothing for `silence` seconds is told `//ready`, because it may wait for that. Some clients
    lose frames that arrive together; with a `pause`, each frame is sent only after the client has read the previous
    one and that many seconds have passed. Messages that wait are joined where `join` can do it."""

    def __init__(self, socket: WebSocket, *, silence: float, pause: float, join: Join) -> None:
        self._socket = socket
        self._silence = silence
        self._pause = pause
        self._join = join
        self._is_begun = False
        self.was_told_ready = False
        self._to_write: deque[bytes] = deque()
        self._waiting = 0
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._is_closing = False
        self._writing = asyncio.get_running_loop().create_task(self._write())

    async def deliver(self, take: Take) -> str:
        while (message := await self.receive()) is not None:
            take(message)
            await self.drained()
        return CLOSED

    async def receive(self) -> bytes | Oversized | None:
        """The next message; None when nothing will arrive any more. Binary frames and control lines are skipped."""
        while True:
            try:
                frame = await self._next_frame()
            except ConnectionClosed:
                return None
            data = frame.encode() if isinstance(frame, str) else b""
            if len(data) > MOST_BYTES:
                return Oversized()
            if data.strip() and not data.startswith(_CONTROL):
                return data

    async def _next_frame(self) -> str | bytes:
        if self._is_begun:
            return await self._socket.recv()
        self._is_begun = True
        try:
            async with asyncio.timeout(self._silence):
                return await self._socket.recv()
        except TimeoutError:
            self.was_told_ready = True
            self.send(READY.encode())
            return await self._socket.recv()

    def send(self, message: bytes) -> None:
        if self._writing.done():
            return
        if self._to_write and (joined := self._join(self._to_write[-1], message)) is not None:
            self._waiting += len(joined) - len(self._to_write[-1])
            self._to_write[-1] = joined
        else:
            self._waiting += len(message)
            self._to_write.append(message)
        if self._waiting > _MOST_WAITING:
            self._room.clear()
        self._changed.set()

    async def drained(self) -> None:
        await self._room.wait()

    async def close(self) -> None:
        self._is_closing = True
        self._changed.set()
        await asyncio.wait([self._writing], timeout=_LEAVING_SECONDS)
        self._writing.cancel()
        await self._socket.close()

    async def _write(self) -> None:
        """Send one frame after the other. The text of a frame may grow by joining until it is its turn."""
        try:
            while self._to_write or not self._is_closing:
                if not self._to_write:
                    self._changed.clear()
                    await self._changed.wait()
                    continue
                message = self._to_write.popleft()
                self._waiting -= len(message)
                if self._waiting <= _MOST_WAITING:
                    self._room.set()
                await self._socket.send(message.decode())
                if self._pause:
                    await self._until_read()
        except ConnectionClosed:
            return
        finally:
            self._to_write.clear()
            self._room.set()

    async def _until_read(self) -> None:
        """A pong means that the frames before its ping were read."""
        pong = await self._socket.ping()
        try:
            async with asyncio.timeout(_PONG_SECONDS):
                await pong
        except TimeoutError:
            return  # a client that does not answer pings still gets the next frame
        await asyncio.sleep(self._pause)
