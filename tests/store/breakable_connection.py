"""A proxy between a PostgreSQL store and its server that breaks the connection at a chosen moment."""

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from urllib.parse import quote

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.events import AnyEvent
from coderelay.protocol.ids import SessionId
from coderelay.store.postgres.store import PostgresStore
from coderelay.testing.store_suite import created, messages_of, summary_of, write
from tests.postgres_server import PrivateServer

A = SessionId("a")
_APPENDS = (b"\0append_events\0", b"\0append_group\0")  # the prepared statements, as they are called by name
_NOTIFICATIONS = (b"pg_notify('coder_change'",)
_CANCEL_REQUEST = b"\0\0\0\x10\x04\xd2\x16\x2e"
_END_OF_ANSWER = b"Z\0\0\0\5I"
Meanwhile = Callable[[], Awaitable[object]]


async def nothing() -> None:
    pass


class Wire:
    """Between a store and the server. Breaks the connection with the next append, or the next notification."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._break: Callable[[asyncio.StreamReader, asyncio.StreamWriter, bytes], Awaitable[None]] | None = None
        self._at = _APPENDS
        self.holds_notification = asyncio.Event()
        self._cancelled = asyncio.Event()
        self._ends_while_sending = False
        self._loose: list[asyncio.StreamWriter] = []
        self._open: set[asyncio.Task[None]] = set()

    def lose_request(self, meanwhile: Meanwhile = nothing) -> None:
        """The server never gets it. `meanwhile` happens before the store knows."""

        async def lose(up: asyncio.StreamReader, down: asyncio.StreamWriter, request: bytes) -> None:
            await meanwhile()

        self._break = lose

    def lose_answer(self, meanwhile: Meanwhile = nothing) -> None:
        """The server has written it, and the store does not hear of that."""

        async def lose(up: asyncio.StreamReader, down: asyncio.StreamWriter, request: bytes) -> None:
            down.write(request)
            await up.readuntil(_END_OF_ANSWER)
            await meanwhile()

        self._break = lose

    def lose_sight(self) -> None:
        """The server has it and is still at it, and does not know that nobody waits for the answer."""

        async def lose(up: asyncio.StreamReader, down: asyncio.StreamWriter, request: bytes) -> None:
            down.write(request)
            self._loose.append(down)

        self._break = lose

    def end_while_sending(self) -> None:
        """The server never gets the whole of it: nobody reads, until the store is told that the connection ends."""
        self._ends_while_sending = True

    def lose_notification(self) -> None:
        """The server never gets it, and the connection breaks once the store wants it to be cancelled."""

        async def lose(up: asyncio.StreamReader, down: asyncio.StreamWriter, request: bytes) -> None:
            self.holds_notification.set()
            await self._cancelled.wait()

        self._break, self._at = lose, _NOTIFICATIONS

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def close(self) -> None:
        """When all who used it have left."""
        await asyncio.gather(*self._open)
        for down in self._loose:
            await _close(down)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up, down = await asyncio.open_unix_connection(self._server)
        answers = asyncio.create_task(_copy(up, writer))
        try:
            while request := await reader.read(1 << 20):
                if request.startswith(_CANCEL_REQUEST):
                    self._cancelled.set()
                if self._ends_while_sending and any(name in request for name in _APPENDS):
                    self._ends_while_sending = False
                    await _end(answers)
                    await asyncio.sleep(0.1)  # the store fills what the kernel keeps for us
                    writer.write_eof()
                    await asyncio.sleep(0.1)
                    break
                if self._break is not None and any(name in request for name in self._at):
                    lose, self._break = self._break, None
                    await _end(answers)
                    await lose(up, down, request)
                    break
                down.write(request)
        finally:
            await _end(answers)
            await _close(writer)
            if down not in self._loose:
                await _close(down)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 20):
        writer.write(data)
    writer.close()


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):  # whoever was at the other end is gone
        await writer.wait_closed()


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})


@asynccontextmanager
async def wired(postgres: PrivateServer, database: str) -> AsyncGenerator[tuple[Wire, PostgresStore]]:
    """A store on a wire, with a session in it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        wire = Wire(os.path.join(postgres.folder, ".s.PGSQL.5432"))
        door = await asyncio.start_unix_server(wire.connected, os.path.join(folder, ".s.PGSQL.5432"))
        url = database.replace(quote(postgres.folder, safe=""), quote(folder, safe=""))
        assert url != database
        store = PostgresStore(url, SessionRows(), patience_seconds=10.0)
        try:
            await write(store, A, [[created()]])
            yield wire, store
            assert summary_of(await store.read(A)) == await store.session(A)
            assert messages_of(await store.read(A)) == (await store.messages(A)).rows
        finally:
            await store.close()
            door.close()
            await wire.close()


def elsewhere(database: str, at: int, *events: AnyEvent) -> Meanwhile:
    """Another process appends to the session."""

    async def append() -> None:
        other = PostgresStore(database, SessionRows())
        await other.append(A, at, events)
        await other.close()

    return append
