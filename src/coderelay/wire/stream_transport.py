"""A transport over two open files, such as standard input and output: one message on each line.

Threads read and write, because the files may be pipes, sockets, terminals or plain files, and whoever started this
process may share them.
"""

import asyncio
import os
import queue
import threading
from collections.abc import Callable

from coderelay.wire.transport import CLOSED, MOST_BYTES, Oversized, Take

_PIECE, _PIECES = 1 << 16, 4
_MOST_WAITING = 1 << 20  # bytes that nobody has read yet
_LEAVING_SECONDS = 2.0


class StreamTransport:
    """`reads` and `writes` are file descriptors."""

    def __init__(self, reads: int, writes: int, most_bytes: int = MOST_BYTES) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines = MessageLineBuffer(most_bytes)
        self._arrived: asyncio.Queue[bytes] = asyncio.Queue()
        self._places = threading.Semaphore(_PIECES)  # for pieces that nobody has received yet
        self._to_write: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._waiting = 0
        self._room = asyncio.Event()
        self._room.set()
        self._written = asyncio.Event()
        threading.Thread(target=self._read, args=(reads,), name="messages in", daemon=True).start()
        threading.Thread(target=self._write, args=(writes,), name="messages out", daemon=True).start()

    async def deliver(self, take: Take) -> str:
        data = b"begun"
        while data:
            data = await self._arrived.get()
            self._places.release()
            for message in self._lines.take(data) if data else self._lines.finish():
                take(message)
                await self.drained()
        return CLOSED

    def send(self, message: bytes) -> None:
        self._waiting += len(message)
        if self._waiting > _MOST_WAITING:
            self._room.clear()
        self._to_write.put(message + b"\n")

    async def drained(self) -> None:
        await self._room.wait()

    async def close(self) -> None:
        self._to_write.put(None)
        try:
            async with asyncio.timeout(_LEAVING_SECONDS):
                await self._written.wait()
        except TimeoutError:
            return  # the other program does not read

    def _read(self, file: int) -> None:
        data = b"begun"
        while data:
            try:
                data = os.read(file, _PIECE)
            except BlockingIOError:  # another process that shares the file has made it non-blocking
                _wait_to_read(file)
                continue
            except OSError:
                data = b""
            self._places.acquire()
            if not self._tell(self._arrived.put_nowait, data):
                return

    def _write(self, file: int) -> None:
        is_broken = False
        while (message := self._to_write.get()) is not None:
            is_broken = is_broken or not _written(file, message)
            if not self._tell(self._note_written, len(message) - 1):
                return
        self._tell(self._written.set)

    def _tell(self, what: Callable[..., None], *values: int | bytes) -> bool:
        try:
            self._loop.call_soon_threadsafe(what, *values)
        except RuntimeError:  # the event loop has ended
            return False
        return True

    def _note_written(self, size: int) -> None:
        self._waiting -= size
        if self._waiting <= _MOST_WAITING:
            self._room.set()


class MessageLineBuffer:
    """Splits what arrives into lines. Blank lines are left out, and a line of more than `most_bytes` is skipped."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._pieces: list[bytes] = []
        self._size = 0

    def take(self, data: bytes) -> list[bytes | Oversized]:
        *ends, rest = data.split(b"\n")
        found: list[bytes | Oversized] = []
        for end in ends:
            self._add(end)
            found += self.finish()
        self._add(rest)
        return found

    def finish(self) -> list[bytes | Oversized]:
        """The line that has arrived until now."""
        line, size = b"".join(self._pieces), self._size
        self._pieces, self._size = [], 0
        if size > self._most_bytes:
            return [Oversized()]
        return [line] if line.strip() else []

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._most_bytes:
            self._pieces = []
        elif piece:
            self._pieces.append(piece)


def _written(file: int, message: bytes) -> bool:
    left = memoryview(message)
    while left:
        try:
            left = left[os.write(file, left) :]
        except BlockingIOError:
            _wait_to_write(file)
        except OSError:
            return False
    return True


def _wait_to_read(file: int) -> None:
    import select  # seldom needed

    select.select([file], [], [])


def _wait_to_write(file: int) -> None:
    import select  # seldom needed

    select.select([], [file], [])
