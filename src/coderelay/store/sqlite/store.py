"""The store in a SQLite file: WAL mode, every commit is synced to disk, any number of processes share one file."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from typing import Any, TypeVar

import msgspec

from coderelay.protocol.errors import Fenced, HeadMoved, StoreDamaged, StoreFailed, StoreFull, StoreLocked
from coderelay.protocol.events import AnyEvent, Recorded, SessionDeleted
from coderelay.protocol.ids import SessionId
from coderelay.protocol.key_value_store import KeyValueStore
from coderelay.protocol.projected_rows import Messages, Summary
from coderelay.protocol.translatable import say
from coderelay.protocol.wall_clock import now
from coderelay.store.event_row_encoding import (
    LAST_CHARACTER,
    LogHead,
    bodies,
    messages_read,
    place,
    read_event,
    read_summary,
    refuse_holes,
)
from coderelay.store.sqlite import select_statements
from coderelay.store.sqlite.busy_retry_and_lock_holder import TELL_SECONDS, is_busy, waiting_words
from coderelay.store.sqlite.error_translation import closed, failure
from coderelay.store.sqlite.open_file import open_alone, open_file
from coderelay.store.sqlite.removed_files import FileRemoved, OpenFiles
from coderelay.store.sqlite.writer import KnownHeads, Writer
from coderelay.store.store import ChangeCursor, Changes, Projection

T = TypeVar("T")

_OPENINGS = 3
_READ_PAUSE = 0.02


def _ignore_message(_: str) -> None:
    pass


class SqliteStore:
    """A Store in one file; see store/store.py for the contract."""

    def __init__(
        self,
        path: str,
        projection: Projection,
        *,
        lock_seconds: float | None = None,
        open_seconds: float = 10.0,
        clock: Callable[[], int] = now,
        tell: Callable[[str], None] = _ignore_message,
    ) -> None:
        """`lock_seconds` is how long to wait for the locks of other programs; None waits without limit, and then
        `tell` is called with a message about who holds them. Opening waits no longer than `open_seconds`."""
        self.path = path
        self._projection = projection
        self._clock = clock
        self._lock_seconds = lock_seconds
        self._open_seconds = open_seconds if lock_seconds is None else lock_seconds
        self._tell = tell
        self._counter = 0
        self._is_closed = False
        self._lost: StoreFailed | None = None
        self._opening = asyncio.Lock()
        self._open()

    def _open(self) -> None:
        """If there is no space for the files that SQLite keeps beside the database, it can still be read, by one
        process at a time."""
        self._writer: Writer | None = None
        try:
            self._reader = open_file(self.path, self._open_seconds)
        except StoreFull:
            self._reader = open_alone(self.path)
            return
        with ExitStack() as if_that_fails:
            if_that_fails.callback(self._reader.close)
            self._files = OpenFiles(self.path)
            if_that_fails.callback(self._files.release)
            writer = open_file(self.path, self._open_seconds)
            if_that_fails.pop_all()
        self._reader.execute("PRAGMA busy_timeout = 0")  # the event loop must not block on a lock
        self._known = KnownHeads()
        self._writer = Writer(
            writer, self.path, self._files, self._lock_seconds, self._tell, rolled_back=self._known.forget
        )

    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        events = tuple(events)
        encoded = bodies(session, events)

        def work(connection: sqlite3.Connection) -> list[Recorded]:
            head = self._known.take(connection, session) or self._head(connection, session)
            if epoch is not None and epoch != head.epoch:
                raise Fenced(session, epoch, head.epoch)
            if head.seq != at:
                raise HeadMoved(session, at, head.seq)
            recorded = place(session, head.seq, head.epoch, events, max(self._clock(), head.at))
            if recorded:
                _insert(connection, session, recorded, encoded)
                row = self._project(connection, session, head.row, recorded)
                self._known.keep(session, LogHead(recorded[-1].seq, recorded[-1].epoch, recorded[-1].at, row))
            return recorded

        return await self._write(work)

    async def read(self, session: SessionId, after: int = 0, limit: int = 1000) -> list[Recorded]:
        page = [
            self._recorded(session, row)
            for row in await self._query(select_statements.EVENTS, (session, after, limit))
        ]
        refuse_holes(session, after, page, self._damaged)
        return page

    async def heads(self, sessions: Sequence[SessionId]) -> dict[SessionId, int]:
        found = {session: await self._query(select_statements.HEAD, (session,)) for session in sessions}
        return {session: rows[0][0] for session, rows in found.items() if rows}

    async def all_heads(self) -> dict[SessionId, int]:
        return dict(await self._query(select_statements.ALL_HEADS))

    async def changed(self, cursor: ChangeCursor | None) -> Changes:
        """Row numbers are assigned in the order of commits. The highest one is never assigned twice, because a
        deletion erases only what precedes it. VACUUM assigns all numbers anew: if the cursor's row is not the one it
        was, the heads of all logs are compared. (The deletion of its session has the same effect.)"""
        if cursor is None:
            return Changes(_cursor(await self._query(select_statements.LAST)), {})
        rows = await self._query(select_statements.FROM, (cursor.number,))
        if cursor.last is not None:
            if not rows or rows[0] != (cursor.number, *cursor.last):
                return Changes(_cursor(await self._query(select_statements.LAST)), await self.all_heads())
            del rows[0]
        return Changes(_cursor(rows[-1:]) if rows else cursor, {session: seq for _, session, seq in rows})

    async def sessions(self, *, cwd: str | None = None, limit: int = 100) -> list[Summary]:
        if cwd is None:
            return [self._summary(*row) for row in await self._query(select_statements.SESSIONS, (limit,))]
        return [self._summary(*row) for row in await self._query(select_statements.SESSIONS_IN, (cwd, limit))]

    async def recent_folders(self, limit: int) -> list[str]:
        return [cwd for (cwd,) in await self._query(select_statements.RECENT_FOLDERS, (limit,))]

    async def waiting(self) -> list[Summary]:
        return [self._summary(*row) for row in await self._query(select_statements.WAITING)]

    async def named(self, beginning: str) -> list[Summary]:
        found = await self._query(select_statements.NAMED, (beginning, beginning + LAST_CHARACTER))
        return [self._summary(*row) for row in found]

    async def session(self, session: SessionId) -> Summary | None:
        rows = await self._query(select_statements.SUMMARY, (session,))
        return self._summary(*rows[0]) if rows else None

    async def messages(self, session: SessionId) -> Messages:
        return messages_read(await self._query(select_statements.MESSAGES, (session, session)))

    def key_value_store(self, name: str) -> KeyValueStore:
        from coderelay.store.sqlite.key_value_store import SqliteKeyValueStore  # imported late: few surfaces keep one

        return SqliteKeyValueStore(name, self._write, self._query, self._clock)

    def change_counter(self) -> int:
        if self._is_closed:
            raise closed(self.path)
        if self._must_open_anew() or self._opening.locked():
            return -1  # the next read reopens the database
        with suppress(sqlite3.OperationalError):  # locked or broken: the next read reports it
            (self._counter,) = self._reader.execute("PRAGMA data_version").fetchone()
        return self._counter

    async def rebuild(self) -> None:
        await self._write(self._rebuild)

    def limit_lock_waits(self) -> None:
        if self._writer is not None:
            self._writer.limit_lock_waits()

    async def close(self) -> None:
        """The reader is closed here, on the event loop that uses it, and the writer by its own thread: a connection
        must not be closed while another thread might be using it."""
        self._is_closed = True
        async with self._opening:
            if self._writer is not None:
                self._files.guard_from_folding_others()
            self._reader.close()
            if self._writer is not None:
                await self._writer.close()
                self._files.release()

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        for _ in range(_OPENINGS):
            if self._is_closed or self._lost is not None or self._opening.locked():
                await self._be_open()
            if self._writer is None:
                await self._open_anew()
            assert self._writer is not None
            with suppress(FileRemoved):
                return await self._writer.submit(work)
            await self._open_anew()
        raise FileRemoved(f"{self.path}-wal")

    async def _be_open(self) -> None:
        if self._opening.locked():
            async with self._opening:
                pass
        if self._is_closed:
            raise closed(self.path)
        if isinstance(self._lost, StoreFull | StoreLocked):
            await self._open_anew()  # the cause may be gone by now
        elif self._lost is not None:
            raise self._lost

    def _must_open_anew(self) -> bool:
        return self._writer is not None and self._files.removed() is not None

    async def _open_anew(self) -> None:
        """Reopen the database because its -wal or -shm file was removed, or because there was no space to write when
        it was opened."""
        async with self._opening:
            if self._is_closed:
                raise closed(self.path)
            removed = None if self._writer is None else self._files.removed()
            if self._writer is not None and removed is None:
                return  # another task has done it
            try:
                if self._writer is not None:
                    await self._writer.close_removed()
                    self._reader.close()
                    self._files.release()
                    self._tell(say("{path} was removed while coder used it; its content was saved", path=removed))
                else:
                    self._reader.close()
                self._open()
            except StoreFailed as error:
                self._lost = error
                raise
            self._lost = None
            if self._writer is None:
                raise StoreFull(
                    say("no space left to write {path}", path=self.path),
                    "Free some space. The log is unchanged.",
                )

    def _head(self, connection: sqlite3.Connection, session: SessionId) -> LogHead:
        head = connection.execute(select_statements.HEAD, (session,)).fetchone()
        if head is None:
            return LogHead()
        seq, epoch, at = head
        found = connection.execute(select_statements.SUMMARY, (session,)).fetchone()
        return LogHead(seq, epoch, at, self._summary(*found) if found else None)

    def _project(
        self, connection: sqlite3.Connection, session: SessionId, row: Summary | None, recorded: Sequence[Recorded]
    ) -> Summary | None:
        """Compute the rows from the events one by one, beginning with the session's present `row`, and return the new
        one: how the events were grouped into appends makes no difference."""
        messages: list[tuple[str, str, str, int]] = []
        stored = row
        for each in recorded:
            before, row = row, self._projection.summary(row, each)
            if row is not None:
                messages += [(m.id, session, m.data, each.at) for m in self._projection.messages(each)]
            elif before is not None:
                messages.clear()
                _drop_rows(connection, session)
                stored = None
        if row is not None:
            _write_summary(connection, row, stored)
            connection.executemany(
                "INSERT OR IGNORE INTO messages (id, session_id, data, created_at) VALUES (?, ?, ?, ?)", messages
            )
        return row

    def _rebuild(self, connection: sqlite3.Connection) -> None:
        self._known.forget()
        connection.execute("DELETE FROM sessions")
        connection.execute("DELETE FROM messages")
        for (session,) in connection.execute(select_statements.LOGS).fetchall():
            rows = connection.execute(select_statements.EVENTS, (session, 0, -1)).fetchall()
            recorded = [self._recorded(session, row) for row in rows]
            refuse_holes(session, 0, recorded, self._damaged)
            self._project(connection, session, None, recorded)

    def _recorded(self, session: SessionId, row: tuple[int, int, int, str, bytes]) -> Recorded:
        return read_event(session, row, self._damaged)

    def _summary(self, session: str, summary: str) -> Summary:
        return read_summary(session, summary, self._damaged)

    def _damaged(self, what: str, why: str) -> StoreDamaged:
        hint = "Restore the file from a backup. The log is unchanged."
        return StoreDamaged(say("{path} is damaged: {what}: {why}", path=self.path, what=what, why=why), hint)

    async def _query(self, sql: str, values: Sequence[str | int] = ()) -> list[tuple[Any, ...]]:
        await self._be_open()
        if self._must_open_anew():
            await self._open_anew()
        began = time.monotonic()
        is_told = False
        while True:
            try:
                return self._reader.execute(sql, values).fetchall()
            except UnicodeEncodeError:
                return []  # no session has an id that cannot be encoded
            except sqlite3.Error as error:
                waited = time.monotonic() - began
                if not is_busy(error) or (self._lock_seconds is not None and waited > self._lock_seconds):
                    raise failure(error, self.path) from error
            if not is_told and waited > TELL_SECONDS:
                is_told = True
                self._tell(waiting_words(self.path))
            await asyncio.sleep(_READ_PAUSE)
            await self._be_open()


def _cursor(last: Sequence[tuple[Any, ...]]) -> ChangeCursor:
    return ChangeCursor(last[0][0], (last[0][1], last[0][2])) if last else ChangeCursor(0)


def _insert(
    connection: sqlite3.Connection,
    session: SessionId,
    recorded: Sequence[Recorded],
    encoded: Sequence[tuple[str, str]],
) -> None:
    connection.executemany(
        "INSERT INTO event (session_id, seq, epoch, at, kind, body) VALUES (?, ?, ?, ?, ?, ?)",
        [(session, r.seq, r.epoch, r.at, *body) for r, body in zip(recorded, encoded, strict=True)],
    )
    for each in recorded:
        if isinstance(each.event, SessionDeleted):
            connection.execute("DELETE FROM event WHERE session_id = ? AND seq < ?", (session, each.seq))


def _drop_rows(connection: sqlite3.Connection, session: SessionId) -> None:
    connection.execute("DELETE FROM sessions WHERE id = ?", (session,))
    connection.execute("DELETE FROM messages WHERE session_id = ?", (session,))


def _write_summary(connection: sqlite3.Connection, row: Summary, stored: Summary | None) -> None:
    """Most appends change only the summary and the time of a session. If nothing else is named, SQLite leaves the
    indexes alone; a trigger moves the session to the top of the lists unless it is there already."""
    summary, columns = msgspec.json.encode(row).decode(), _columns(row)
    if stored is not None and columns == _columns(stored):
        connection.execute(
            "UPDATE sessions SET updated_at = ?, summary = ? WHERE id = ?", (row.updated_at, summary, row.id)
        )
        return
    connection.execute(
        "INSERT INTO sessions (id, title, claude_session_id, cwd, allowed_tools, last_prompt, created_at,"
        " phase, updated_at, summary, changed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
        " max((SELECT coalesce(max(changed), 0) + 1 FROM sessions),"
        " (SELECT rowid FROM event WHERE session_id = ? ORDER BY seq DESC LIMIT 1)))"
        " ON CONFLICT (id) DO UPDATE SET title = excluded.title,"
        " claude_session_id = excluded.claude_session_id, cwd = excluded.cwd,"
        " allowed_tools = excluded.allowed_tools, last_prompt = excluded.last_prompt,"
        " created_at = excluded.created_at, updated_at = excluded.updated_at, phase = excluded.phase,"
        " summary = excluded.summary, changed = excluded.changed",
        (row.id, *columns, row.updated_at, summary, row.id),
    )


def _columns(row: Summary) -> tuple[str | int | None, ...]:
    tools = ",".join(row.allowed_tools)
    return row.title, row.agent_session_id, row.cwd, tools, row.last_prompt, row.created_at, row.phase
