"""The log on SQLite: WAL, every commit on disk, any number of processes on one file."""

import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from coderelay.protocol.codec import decode, encode, kind_of
from coderelay.protocol.errors import Fenced, HeadMoved, StoreDamaged
from coderelay.protocol.events import AnyEvent, Recorded, SessionClaimed, SessionDeleted
from coderelay.protocol.ids import SessionId
from coderelay.protocol.summary import MessageRow, Summary
from coderelay.store.sqlite_file import failure, open_file
from coderelay.store.sqlite_writer import Writer
from coderelay.store.store import Projection

_summaries = msgspec.json.Decoder(Summary)
_EVENTS = "SELECT seq, epoch, at, kind, body FROM event WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?"


def wall_clock() -> int:
    return time.time_ns() // 1_000_000


class SqliteStore:
    """A Store in one file; see store.py for what it promises."""

    def __init__(
        self,
        path: str,
        projection: Projection,
        *,
        lock_seconds: float = 10.0,
        clock: Callable[[], int] = wall_clock,
    ) -> None:
        self.path = path
        self._projection = projection
        self._clock = clock
        self._reader = open_file(path, lock_seconds)
        self._writer = Writer(open_file(path, lock_seconds), path, lock_seconds)

    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        bodies = [(kind_of(event), encode(event).decode()) for event in events]

        def work(connection: sqlite3.Connection) -> list[Recorded]:
            head, current, last_at = _head(connection, session)
            if epoch is not None and epoch != current:
                raise Fenced(session, epoch, current)
            if head != at:
                raise HeadMoved(session, at, head)
            recorded = _place(session, head, current, events, max(self._clock(), last_at))
            _insert(connection, session, recorded, bodies)
            self._project(connection, session, recorded)
            return recorded

        return await self._writer.submit(work)

    async def read(self, session: SessionId, after: int = 0, limit: int = 1000) -> list[Recorded]:
        return [self._recorded(session, row) for row in self._query(_EVENTS, (session, after, limit))]

    async def heads(self, sessions: Sequence[SessionId]) -> dict[SessionId, int]:
        heads = {session: _head(self._reader, session)[0] for session in sessions}
        return {session: head for session, head in heads.items() if head}

    async def sessions(self, *, cwd: str | None = None, limit: int = 100) -> list[Summary]:
        where, values = ("", (limit,)) if cwd is None else ("WHERE cwd = ?", (cwd, limit))
        rows = self._query(f"SELECT summary FROM sessions {where} ORDER BY updated_at DESC, id LIMIT ?", values)
        return [_summaries.decode(summary) for (summary,) in rows]

    async def session(self, session: SessionId) -> Summary | None:
        rows = self._query("SELECT summary FROM sessions WHERE id = ?", (session,))
        return _summaries.decode(rows[0][0]) if rows else None

    async def messages(self, session: SessionId) -> list[MessageRow]:
        rows = self._query(
            "SELECT id, data FROM messages WHERE session_id = ? ORDER BY created_at, rowid", (session,)
        )
        return [MessageRow(*row) for row in rows]

    def change_counter(self) -> int:
        return self._query("PRAGMA data_version")[0][0]

    async def rebuild(self) -> None:
        await self._writer.submit(self._rebuild)

    async def close(self) -> None:
        await self._writer.close()
        self._reader.close()

    def _project(self, connection: sqlite3.Connection, session: SessionId, recorded: Sequence[Recorded]) -> None:
        before = _summary(connection, session)
        row = before
        for each in recorded:
            row = self._projection.summary(row, each)
        if row is not None:
            _write_summary(connection, row)
            connection.executemany(
                "INSERT OR IGNORE INTO messages (id, session_id, data, created_at) VALUES (?, ?, ?, ?)",
                [(m.id, session, m.data, each.at) for each in recorded for m in self._projection.messages(each)],
            )
        elif before is not None:
            connection.execute("DELETE FROM sessions WHERE id = ?", (session,))
            connection.execute("DELETE FROM messages WHERE session_id = ?", (session,))

    def _rebuild(self, connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM sessions")
        connection.execute("DELETE FROM messages")
        order = "SELECT session_id FROM event GROUP BY session_id ORDER BY max(at), session_id"
        for (session,) in connection.execute(order).fetchall():
            rows = connection.execute(_EVENTS, (session, 0, -1)).fetchall()
            self._project(connection, session, [self._recorded(session, row) for row in rows])

    def _recorded(self, session: SessionId, row: tuple[int, int, int, str, str]) -> Recorded:
        seq, epoch, at, kind, body = row
        try:
            return Recorded(session, seq, epoch, at, decode(kind, body))
        except msgspec.DecodeError as error:
            raise StoreDamaged(f"{self.path}: event {seq} of session {session} is damaged: {error}") from error

    def _query(self, sql: str, values: Sequence[str | int] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._reader.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise failure(error, self.path) from error


def _head(connection: sqlite3.Connection, session: SessionId) -> tuple[int, int, int]:
    """Where the log stands: last number, epoch and time."""
    row = connection.execute(
        "SELECT seq, epoch, at FROM event WHERE session_id = ? ORDER BY seq DESC LIMIT 1", (session,)
    ).fetchone()
    return row or (0, 0, 0)


def _place(session: SessionId, head: int, epoch: int, events: Sequence[AnyEvent], at: int) -> list[Recorded]:
    """Number the events. A claim raises the epoch for itself and all that follows it."""
    recorded: list[Recorded] = []
    for seq, event in enumerate(events, head + 1):
        if isinstance(event, SessionClaimed):
            epoch = event.epoch
        recorded.append(Recorded(session, seq, epoch, at, event))
    return recorded


def _insert(
    connection: sqlite3.Connection,
    session: SessionId,
    recorded: Sequence[Recorded],
    bodies: Sequence[tuple[str, str]],
) -> None:
    connection.executemany(
        "INSERT INTO event (session_id, seq, epoch, at, kind, body) VALUES (?, ?, ?, ?, ?, ?)",
        [(session, r.seq, r.epoch, r.at, *body) for r, body in zip(recorded, bodies, strict=True)],
    )
    last = recorded[-1]
    if isinstance(last.event, SessionDeleted):
        connection.execute("DELETE FROM event WHERE session_id = ? AND seq < ?", (session, last.seq))


def _summary(connection: sqlite3.Connection, session: SessionId) -> Summary | None:
    row = connection.execute("SELECT summary FROM sessions WHERE id = ?", (session,)).fetchone()
    return None if row is None else _summaries.decode(row[0])


def _write_summary(connection: sqlite3.Connection, row: Summary) -> None:
    connection.execute(
        "INSERT INTO sessions (id, title, claude_session_id, cwd, allowed_tools, last_prompt, created_at,"
        " updated_at, phase, summary) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET title = excluded.title,"
        " claude_session_id = excluded.claude_session_id, allowed_tools = excluded.allowed_tools,"
        " last_prompt = excluded.last_prompt, updated_at = excluded.updated_at, phase = excluded.phase,"
        " summary = excluded.summary",
        (
            row.id,
            row.title,
            row.agent_session_id,
            row.cwd,
            ",".join(row.allowed_tools),
            row.last_prompt,
            row.created_at,
            row.updated_at,
            row.phase,
            msgspec.json.encode(row).decode(),
        ),
    )
