"""The SQLite file through which the processes of this machine share the live output of running sessions.

Nobody relies on this file, which lies beside the log: it is not synced, it may be deleted at any time, and every
failure with it is ignored. The owner of a session writes here only while another process follows the session.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec
from msgspec import Struct

from coderelay.protocol.ids import OwnerId, SessionId
from coderelay.protocol.live_updates import Live

T = TypeVar("T")

EVERY_SESSION = SessionId("*")
"""Who follows all sessions is registered as a follower of this one."""

FOLLOWED_SECONDS = 3.0
_KEPT_SECONDS = 600.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS piece (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL, by TEXT NOT NULL, after INTEGER NOT NULL, body TEXT NOT NULL, at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS piece_by_session ON piece (session_id, number);
CREATE TABLE IF NOT EXISTS follower (
    session_id TEXT NOT NULL, process TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (session_id, process)
) WITHOUT ROWID;
"""
_decoder = msgspec.json.Decoder(Live)


class LivePiece(Struct, frozen=True):
    """One piece of live output. `after` is the last event in the log that precedes it."""

    number: int
    session: SessionId
    after: int
    live: Live


class LiveOutputDatabase:
    """Times are from the machine's monotonic clock, which all its processes share."""

    def __init__(self, path: str, me: OwnerId) -> None:
        self._path = path
        self._me = me
        self._connection: sqlite3.Connection | None = None
        self._inode = 0

    def follow(self, sessions: Iterable[SessionId], now: float) -> None:
        """Register that this process follows these sessions now. Must be repeated about once a second."""
        rows = [(session, self._me, now) for session in sessions]
        self._try(lambda db: db.executemany("INSERT OR REPLACE INTO follower VALUES (?, ?, ?)", rows), None)

    def followed(self, sessions: Iterable[SessionId], now: float) -> set[SessionId]:
        """Return which of these sessions other processes follow."""
        since = now - FOLLOWED_SECONDS
        sql = "SELECT session_id FROM follower WHERE process != ? AND at > ?"
        rows = self._try(lambda db: db.execute(sql, (self._me, since)).fetchall(), [])
        followed = {row[0] for row in rows}
        return set(sessions) if EVERY_SESSION in followed else followed & set(sessions)

    def show(self, pieces: Iterable[tuple[SessionId, int, Live]], now: float) -> None:
        """Write pieces, each with the position in the log that it comes after."""
        rows = [
            (session, self._me, after, msgspec.json.encode(live).decode(), now) for session, after, live in pieces
        ]
        sql = "INSERT INTO piece (session_id, by, after, body, at) VALUES (?, ?, ?, ?, ?)"
        self._try(lambda db: db.executemany(sql, rows), None)

    def pieces(self, number: int) -> list[LivePiece]:
        """Return what other processes wrote after this piece number."""
        return self._pieces("number > ?", number)

    def current(self, session: SessionId, head: int) -> list[LivePiece]:
        """Return what other processes wrote for a session since its last event: a new follower starts with this."""
        return self._pieces("session_id = ? AND after >= ?", session, head)

    def _pieces(self, where: str, *values: str | int) -> list[LivePiece]:
        sql = f"SELECT number, session_id, after, body FROM piece WHERE {where} AND by != ? ORDER BY number"
        rows = self._try(lambda db: db.execute(sql, (*values, self._me)).fetchall(), [])
        return [LivePiece(number, session, after, _decoder.decode(body)) for number, session, after, body in rows]

    def last(self) -> int:
        return self._try(lambda db: db.execute("SELECT max(number) FROM piece").fetchone()[0] or 0, 0)

    def change_counter(self) -> int:
        return self._try(lambda db: db.execute("PRAGMA data_version").fetchone()[0], 0)

    def sweep(self, now: float) -> None:
        """Delete what is old. Any process may do so."""
        self._try(lambda db: db.execute("DELETE FROM piece WHERE at < ?", (now - _KEPT_SECONDS,)), None)
        self._try(lambda db: db.execute("DELETE FROM follower WHERE at < ?", (now - _KEPT_SECONDS,)), None)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _try(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        try:
            return work(self._open())
        except (sqlite3.Error, OSError, msgspec.DecodeError):
            self.close()  # deleted, damaged or busy: nothing is lost, and the next call reopens it
            return otherwise

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and _inode(self._path) == self._inode:
            return self._connection
        self.close()
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        if not os.path.exists(self._path):
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(self._path, timeout=0.02, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(_SCHEMA)
        self._connection, self._inode = connection, _inode(self._path)
        return connection


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return 0
