"""Detects appends by other processes, by PostgreSQL notifications (LISTEN/NOTIFY) and by polling.

A notification names sessions and nothing else. It is sent after the commit, never within it (that would make appends
several times slower), and many appends of a few milliseconds share one. So a notification can be lost when its sender
dies or a connection breaks. Then the poll every few seconds finds the change.
"""

import asyncio
from contextlib import suppress
from itertools import takewhile

from coderelay.protocol.errors import CoderError
from coderelay.protocol.ids import SessionId
from coderelay.store.postgres.connection import (
    Connection,
    ConnectionPool,
    PostgresServer,
    pauses_between_attempts,
    psycopg,
    rows,
)
from coderelay.store.postgres.value_encoding import Texts, escape_nul, unescape_nul

POLL_SECONDS = 5.0
SEND_SECONDS = 0.015
_CANCEL_AGAIN_SECONDS = 1.0
_NAMES_KEPT = 1000
_LISTEN = "LISTEN coder_change"
_NOTIFY = "SELECT pg_notify('coder_change', name) FROM unnest(%s) AS name"
_LONGEST_NAME = 1900  # characters; the server accepts less than 8000 bytes
# This text changes whenever any writing transaction has begun or ended on the server. Reading it touches no table.
# It also changes for writes that are not appends; that costs each follower one needless query.
_SNAPSHOT = "SELECT pg_current_snapshot()::text"


class AppendNotifications:
    """`counter` changes when any process has appended: at once for this process, within milliseconds for another. The
    most recently changed sessions are remembered, each with the number of its last change."""

    def __init__(
        self, server: PostgresServer, reader: ConnectionPool, writers: ConnectionPool, poll_seconds: float
    ) -> None:
        self.counter = 0
        self._changed: dict[SessionId, int] = {}  # the last change comes last
        self._unnamed = 0  # up to this number, other sessions may have changed as well
        self._server = server
        self._reader = reader
        self._writers = writers
        self._poll_seconds = poll_seconds
        self._snapshot = ""
        self._unsent: set[SessionId] = set()
        self._appended = asyncio.Event()
        self._listening_again = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._first_listener: Connection | None = None

    async def start(self) -> None:
        """Once it has returned, no change is missed."""
        listener = await self._server.connect()
        try:
            await listener.execute(_LISTEN)
            ((self._snapshot,),) = await rows(listener, _SNAPSHOT)
        except BaseException:
            await listener.close()
            raise
        self._first_listener = listener
        self._tasks = [asyncio.create_task(task) for task in (self._listen(listener), self._poll(), self._send())]

    def appended(self, session: SessionId) -> None:
        """Record an append by this process."""
        self._count(session)
        self._unsent.add(session)
        self._appended.set()

    def since(self, number: int) -> list[SessionId] | None:
        """Return the sessions that changed after this value of `counter`; None if that is not known."""
        if number < self._unnamed:
            return None
        return list(takewhile(lambda session: self._changed[session] > number, reversed(self._changed)))

    def _count(self, session: SessionId | None) -> None:
        """Count a change, of any session if it is None."""
        self.counter += 1
        if session is None:
            self._unnamed = self.counter
            self._changed.clear()
            return
        self._changed.pop(session, None)
        self._changed[session] = self.counter
        if len(self._changed) > _NAMES_KEPT:
            self._unnamed = self._changed.pop(next(iter(self._changed)))

    async def close(self) -> None:
        running = set(self._tasks)
        while running:  # more than once, because an error of the connection may take the place of a cancellation
            for task in running:
                task.cancel()
            _, running = await asyncio.wait(running, timeout=_CANCEL_AGAIN_SECONDS)
        await asyncio.gather(*self._tasks, return_exceptions=True)  # their results and errors are not needed
        if self._first_listener is not None:
            await self._first_listener.close()  # a task that was cancelled before it began closes nothing
        await self._notify()

    async def _listen(self, listener: Connection) -> None:
        """Runs until cancelled. A connection that breaks is opened again, and a poll finds what was missed
        meanwhile."""
        while True:
            try:
                await self._hear(listener)
            except psycopg.Error:
                pass  # the connection is lost; it is opened again below
            finally:
                await listener.close()
            listener = await self._listen_again()
            self._listening_again.set()

    async def _hear(self, listener: Connection) -> None:
        async for notice in listener.notifies():
            if notice.pid not in self._writers.pids():  # our own appends were counted when they were written
                self._count(SessionId(unescape_nul(notice.payload)) if len(notice.payload) < _LONGEST_NAME else None)

    async def _listen_again(self) -> Connection:
        for pause in pauses_between_attempts():
            await asyncio.sleep(pause)
            with suppress(psycopg.Error, CoderError):
                listener = await self._server.connect()
                try:
                    await listener.execute(_LISTEN)
                    return listener
                except BaseException:
                    await listener.close()
                    raise
        raise AssertionError("pauses do not end")

    async def _poll(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._poll_seconds):
                    await self._listening_again.wait()
            self._listening_again.clear()
            with suppress(CoderError):  # the server is unreachable; whoever reads next reports it
                ((snapshot,),) = await self._reader.use(lambda connection: rows(connection, _SNAPSHOT))
                if snapshot != self._snapshot:
                    self._snapshot = snapshot
                    self._count(None)

    async def _send(self) -> None:
        """Notify of the first append after a silence at once, and of further ones together a little later."""
        while True:
            await self._appended.wait()
            await self._notify()
            await asyncio.sleep(SEND_SECONDS)

    async def _notify(self) -> None:
        self._appended.clear()
        if self._unsent:
            sessions, self._unsent = self._unsent, set()
            names = Texts(escape_nul(session)[:_LONGEST_NAME] for session in sessions)
            try:
                with suppress(CoderError):  # then the other processes find out by polling
                    await self._writers.use(lambda connection: rows(connection, _NOTIFY, (names,)))
            except BaseException:  # cancelled by `close`, which sends them
                self._unsent |= sessions
                raise
