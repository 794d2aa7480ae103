"""The store on PostgreSQL, for teams: any number of processes on any number of machines share one log.

Nothing is opened before the first use, so an unreachable server is reported there. A server that restarts is waited
for; whether an interrupted append arrived is found out before its outcome is reported.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, LiteralString, TypeVar

from coderelay.protocol.errors import StoreDamaged
from coderelay.protocol.events import AnyEvent, Recorded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.key_value_store import KeyValueStore
from coderelay.protocol.projected_rows import Messages, Summary
from coderelay.protocol.translatable import say
from coderelay.protocol.wall_clock import now
from coderelay.store.event_row_encoding import LAST_CHARACTER, messages_read, read_event, read_summary, refuse_holes
from coderelay.store.postgres.append import APPEND, Append, LogHead, project
from coderelay.store.postgres.append_notifications import POLL_SECONDS, AppendNotifications
from coderelay.store.postgres.connection import (
    PATIENCE_SECONDS,
    Connection,
    ConnectionPool,
    PostgresServer,
    Row,
    StartedWork,
    psycopg,
    rows,
)
from coderelay.store.postgres.grouped_appends import APPEND_GROUP, AppendQueue
from coderelay.store.postgres.migrations import migrate
from coderelay.store.postgres.value_encoding import Texts, escape_nul, is_encodable, unescape_nul
from coderelay.store.store import ChangeCursor, Changes, Projection

T = TypeVar("T")

_WRITERS = 4
_HEADS_KEPT = 256
_EVENTS = "SELECT seq, epoch, at, kind, body FROM event WHERE session_id = %s AND seq > %s ORDER BY seq LIMIT %s"
_HEADS = """
SELECT name, (SELECT seq FROM event WHERE session_id = name ORDER BY seq DESC LIMIT 1)
FROM unnest(%s) AS name
"""
# Jumps from one session to the next in the index, instead of reading every event.
_ALL_HEADS = """
WITH RECURSIVE log (id) AS (
    (SELECT session_id FROM event ORDER BY session_id LIMIT 1)
    UNION ALL
    SELECT (SELECT session_id FROM event WHERE session_id > log.id ORDER BY session_id LIMIT 1)
    FROM log WHERE log.id IS NOT NULL
)
SELECT id, (SELECT seq FROM event WHERE session_id = log.id ORDER BY seq DESC LIMIT 1) FROM log WHERE id IS NOT NULL
"""
# Orders by when events were appended, since clocks may be wrong. Events without a number are ordered by their time.
_BY_CHANGE = "changed DESC NULLS LAST, updated_at DESC, id"
_WAITING = f"SELECT id, summary FROM sessions WHERE phase = 'waiting' ORDER BY {_BY_CHANGE}"
_SESSIONS = f"SELECT id, summary FROM sessions ORDER BY {_BY_CHANGE} LIMIT %s"
_SESSIONS_IN = f"""
SELECT id, summary FROM sessions WHERE hashtextextended(cwd, 0) = hashtextextended(%s, 0) AND cwd = %s
ORDER BY {_BY_CHANGE} LIMIT %s
"""
# Jumps from one folder to the next in the index, which holds hashes because names may be too long for it.
_RECENT_FOLDERS = f"""
WITH RECURSIVE folder (hash) AS (
    (SELECT hashtextextended(cwd, 0) FROM sessions ORDER BY hashtextextended(cwd, 0) LIMIT 1)
    UNION ALL
    SELECT (
        SELECT hashtextextended(cwd, 0) FROM sessions WHERE hashtextextended(cwd, 0) > folder.hash
        ORDER BY hashtextextended(cwd, 0) LIMIT 1
    ) FROM folder WHERE folder.hash IS NOT NULL
)
SELECT newest.cwd FROM folder CROSS JOIN LATERAL (
    SELECT * FROM sessions WHERE hashtextextended(cwd, 0) = folder.hash
    ORDER BY changed DESC NULLS LAST, updated_at DESC LIMIT 1
) AS newest ORDER BY {_BY_CHANGE} LIMIT %s
"""
_NAMED = "SELECT id, summary FROM sessions WHERE id >= %s AND id < %s ORDER BY id"
_SESSION = "SELECT id, summary FROM sessions WHERE id = %s"
# One statement, so that the head belongs to the messages. Without messages it returns one row with the head alone.
_MESSAGES = """
SELECT head.seq, messages.id, messages.data
FROM (SELECT max(seq) AS seq FROM event WHERE session_id = %s) AS head
LEFT JOIN messages ON messages.session_id = %s
ORDER BY messages.created_at, messages.number
"""
_WRITE_ROWS = "SELECT write_rows(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"


class PostgresStore:
    """A Store in one database; see store/store.py for the contract."""

    def __init__(
        self,
        url: str,
        projection: Projection,
        *,
        clock: Callable[[], int] = now,
        patience_seconds: float = PATIENCE_SECONDS,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self._server = PostgresServer(url, patience_seconds)
        self._projection = projection
        self._clock = clock
        self._reader = ConnectionPool(self._server, 1, self._prepare)
        self._writers = ConnectionPool(self._server, _WRITERS, self._prepare_to_write)
        self._changes = AppendNotifications(self._server, self._reader, self._writers, poll_seconds)
        self._heads: dict[SessionId, LogHead] = {}
        self._begun = StartedWork()
        self._appends = AppendQueue(self._writers, self._begun, self._written)
        self._is_open = False
        self._opening: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        append = Append(
            session,
            at,
            events,
            epoch,
            projection=self._projection,
            now=self._clock(),
            known=self._heads.get(session),
            read_summary=self._summary,
        )
        if self._is_open and self._closing is None:
            return await self._appends.submit(append)
        return await self._carry_out(lambda: self._appends.submit(append))

    async def read(self, session: SessionId, after: int = 0, limit: int = 1000) -> list[Recorded]:
        found = await self._query(_EVENTS, (escape_nul(session), after, limit)) if is_encodable(session) else []
        page = [self._recorded(session, row) for row in found]
        refuse_holes(session, after, page, self._damaged)
        return page

    async def heads(self, sessions: Sequence[SessionId]) -> dict[SessionId, int]:
        names = {escape_nul(session): session for session in sessions if is_encodable(session)}
        found = await self._query(_HEADS, (Texts(names),))
        return {names[name]: head for name, head in found if head is not None}

    async def all_heads(self) -> dict[SessionId, int]:
        return {SessionId(unescape_nul(name)): head for name, head in await self._query(_ALL_HEADS, ())}

    async def changed(self, cursor: ChangeCursor | None) -> Changes:
        if cursor is None:
            await self.heads([])  # once the store is open, it listens to changes
            return Changes(ChangeCursor(self._changes.counter), {})
        number, names = self._changes.counter, self._changes.since(cursor.number)
        heads = await self.all_heads() if names is None else await self.heads(names)
        return Changes(ChangeCursor(number), heads)

    async def sessions(self, *, cwd: str | None = None, limit: int = 100) -> list[Summary]:
        if cwd is None:
            return [self._summary(*row) for row in await self._query(_SESSIONS, (limit,))]
        if not is_encodable(cwd):
            return []
        return [
            self._summary(*row) for row in await self._query(_SESSIONS_IN, (escape_nul(cwd), escape_nul(cwd), limit))
        ]

    async def recent_folders(self, limit: int) -> list[str]:
        return [unescape_nul(cwd) for (cwd,) in await self._query(_RECENT_FOLDERS, (limit,))]

    async def waiting(self) -> list[Summary]:
        return [self._summary(*row) for row in await self._query(_WAITING, ())]

    async def named(self, beginning: str) -> list[Summary]:
        if not is_encodable(beginning):
            return []
        found = await self._query(_NAMED, (escape_nul(beginning), escape_nul(beginning) + LAST_CHARACTER))
        return [self._summary(*row) for row in found]

    async def session(self, session: SessionId) -> Summary | None:
        found = await self._query(_SESSION, (escape_nul(session),)) if is_encodable(session) else []
        return self._summary(*found[0]) if found else None

    async def messages(self, session: SessionId) -> Messages:
        name = escape_nul(session)
        found = await self._query(_MESSAGES, (name, name)) if is_encodable(session) else []
        return messages_read([(head, each and unescape_nul(each), data) for head, each, data in found])

    def key_value_store(self, name: str) -> KeyValueStore:
        from coderelay.store.postgres.key_value_store import (
            PostgresKeyValueStore,  # imported late: few surfaces keep one
        )

        return PostgresKeyValueStore(name, self._use_writer, self._query, self._clock)

    def change_counter(self) -> int:
        return self._changes.counter

    async def rebuild(self) -> None:
        await self._use_writer(self._rebuild)

    def limit_lock_waits(self) -> None:
        """Nothing to do: the database itself limits how long a lock is waited for."""

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _use_writer(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        return await self._carry_out(lambda: self._writers.use(work))

    async def _carry_out(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._closing is not None:
            raise self._server.closed()
        return await self._begun.carry_out(self._opened(work))

    async def _opened(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        await asyncio.shield(self._opening)
        return await work()

    async def _open(self) -> None:
        try:
            await self._reader.use(self._nothing)
            await self._changes.start()
            self._is_open = True
        except psycopg.Error as error:
            self._opening = None  # the next use tries again
            raise self._server.told(error) from error
        except BaseException:
            self._opening = None
            raise

    async def _close(self) -> None:
        self._server.leaving = True
        await self._begun.finish()
        await self._changes.close()
        await self._reader.close()
        await self._writers.close()

    async def _prepare(self, connection: Connection) -> None:
        await migrate(connection, self._server.name)

    async def _prepare_to_write(self, connection: Connection) -> None:
        await self._prepare(connection)
        await APPEND.prepare(connection)
        await APPEND_GROUP.prepare(connection)

    def _written(self, append: Append) -> None:
        """Keep the heads of the sessions written to most recently: that saves the next append a query."""
        self._heads.pop(append.session, None)
        if append.head is not None:
            self._heads[append.session] = append.head
        if len(self._heads) > _HEADS_KEPT:
            del self._heads[next(iter(self._heads))]
        self._changes.appended(append.session)

    async def _rebuild(self, connection: Connection) -> None:
        async with connection.transaction():
            await connection.execute("LOCK TABLE event IN EXCLUSIVE MODE")  # reads continue, appends wait
            await connection.execute("DELETE FROM sessions")
            await connection.execute("DELETE FROM messages")
            for (name,) in await rows(connection, "SELECT DISTINCT session_id FROM event"):
                session = SessionId(unescape_nul(name))
                recorded = [self._recorded(session, row) for row in await rows(connection, _EVENTS, (name, 0, None))]
                refuse_holes(session, 0, recorded, self._damaged)
                changed = project(self._projection, None, recorded)
                await rows(connection, _WRITE_ROWS, (name, *changed.values()))
        self._heads.clear()

    async def _query(self, sql: LiteralString, values: Sequence[object]) -> list[Row]:
        return await self._carry_out(lambda: self._reader.use(lambda connection: rows(connection, sql, values)))

    def _recorded(self, session: SessionId, row: Row) -> Recorded:
        seq, epoch, at, kind, body = row
        return read_event(session, (seq, epoch, at, unescape_nul(kind), body), self._damaged)

    def _summary(self, session: str, summary: str) -> Summary:
        return read_summary(session, summary, self._damaged)

    def _damaged(self, what: str, why: str) -> StoreDamaged:
        hint = "Restore the database from a backup. The log is unchanged."
        return StoreDamaged(
            say("the log on {name} is damaged: {what}: {why}", name=self._server.name, what=what, why=why), hint
        )

    @staticmethod
    async def _nothing(connection: Connection) -> None:
        pass
