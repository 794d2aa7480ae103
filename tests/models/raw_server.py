"""A server that says exactly the bytes a test gives it, for HTTP that no proper server would speak."""

import asyncio
import gc
import ssl
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import wraps
from typing import Any, ParamSpec

from coderelay.http.model_server_client import HttpClient
from tests.patience import PATIENCE

P = ParamSpec("P")

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


def in_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Runs an async test. What is left open or fails unseen in the background fails the test."""

    async def limited(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: unseen.append(context))
        async with asyncio.timeout(PATIENCE):
            await test(*args, **kwargs)

    unseen: list[dict[str, Any]] = []

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        unseen.clear()
        asyncio.run(limited(*args, **kwargs))
        gc.collect(1)  # an unclosed socket warns when it is collected, and a warning is an error
        assert unseen == []

    return run


async def settle() -> None:
    """Lets everything that is on its way in this loop arrive, where there is no event to wait for."""
    for _ in range(20):
        await asyncio.sleep(0)


class RawConnection:
    """One connection, seen from the server."""

    def __init__(self, number: int, reader: StreamReader, writer: StreamWriter) -> None:
        self.number = number
        self.reader = reader
        self.writer = writer

    async def request(self) -> bytes:
        """A whole request, or nothing if the client has gone."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            head = await self.reader.readuntil(b"\r\n\r\n")
            fields = dict(line.lower().split(b": ", 1) for line in head.splitlines()[1:] if line)
            return head + await self.reader.readexactly(int(fields.get(b"content-length", 0)))
        return b""

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def left(self) -> None:
        """Until the client has closed the connection."""
        with suppress(ConnectionError):
            while await self.reader.read(65536):
                pass


Talk = Callable[[RawConnection], Awaitable[None]]


class RawServer:
    def __init__(self, talk: Talk) -> None:
        self.port = 0
        self.requests: list[bytes] = []
        self.connections = 0
        self.ended = 0
        self._talk = talk
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[StreamWriter] = set()
        self._change = asyncio.Condition()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def all_left(self, but: int = 0) -> None:
        """Until the client has closed every connection `but` so many, or the script has."""
        async with self._change:
            await self._change.wait_for(lambda: self.connections - self.ended == but)

    def connect(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(self._serve(RawConnection(self.connections, reader, writer)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._writers.add(writer)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            with suppress(AttributeError):  # of Python 3.11, if it was closed with something left to send
                writer.transport.abort()  # an encrypted one would wait for the client's farewell

    async def _serve(self, connection: RawConnection) -> None:
        try:
            with suppress(ConnectionError):
                await self._talk(connection)
        finally:
            connection.writer.close()
            async with self._change:
                self.ended += 1
                self._change.notify_all()


@asynccontextmanager
async def raw_server(
    talk: Talk, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncGenerator[RawServer]:
    server = RawServer(talk)
    listener = await asyncio.start_server(server.connect, host, 0, ssl=tls)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        await server.stop()
        await listener.wait_closed()


def answers(*each: bytes) -> Talk:
    """On every connection: one answer per request, in order, and then the end of the connection."""

    async def talk(connection: RawConnection) -> None:
        for answer in each:
            if await connection.request():
                await connection.send(answer)

    return talk


def keeps_answering(answer: bytes = OK) -> Talk:
    async def talk(connection: RawConnection) -> None:
        while await connection.request():
            await connection.send(answer)

    return talk


_SETTINGS: dict[str, Any] = {"env": {}, "connect_seconds": 10.0, "idle_seconds": 10.0}


@asynccontextmanager
async def client(url: str, **settings: Any) -> AsyncGenerator[HttpClient]:
    opened = HttpClient(url, **(_SETTINGS | settings))
    try:
        yield opened
    finally:
        await opened.close()


async def fetch(opened: HttpClient, body: bytes = b"{}", path: str = "/chat") -> bytes:
    async with opened.post(path, {"authorization": "Bearer key"}, body) as response:
        return await response.read(1 << 30)


async def fetch_from(url: str, **settings: Any) -> bytes:
    async with client(url, **settings) as opened:
        return await fetch(opened)
