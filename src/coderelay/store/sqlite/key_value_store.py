"""A key-value store in the SQLite file of the log."""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

from coderelay.protocol.errors import CoderError
from coderelay.protocol.key_value_store import Change, Entry
from coderelay.store.event_row_encoding import LAST_CHARACTER, checked_changes, new_version

T = TypeVar("T")

_COLUMNS = "SELECT key, value, version, at FROM notebook"
_READ = f"{_COLUMNS} WHERE book = ? AND key = ?"
_LIST = f"{_COLUMNS} WHERE book = ? AND key >= ? AND key < ? AND key > ? ORDER BY key LIMIT ?"
_VERSION = "SELECT version FROM notebook WHERE book = ? AND key = ?"
_PUT = (
    "INSERT INTO notebook (book, key, value, version, at) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (book, key) DO UPDATE SET value = excluded.value, version = excluded.version, at = excluded.at"
)
_ERASE = "DELETE FROM notebook WHERE book = ? AND key = ?"
_ERASE_OLD = "DELETE FROM notebook WHERE book = ? AND key >= ? AND key < ? AND at < ?"


class _Write(Protocol):
    def __call__(self, work: Callable[[sqlite3.Connection], T], /) -> Awaitable[T]: ...


class SqliteKeyValueStore:
    """A KeyValueStore; see protocol/key_value_store.py. It shares the writer's thread with the log, so that what
    is written at the same time shares a commit."""

    def __init__(
        self,
        book: str,
        write: _Write,
        query: Callable[[str, Sequence[str | int]], Awaitable[list[tuple[Any, ...]]]],
        clock: Callable[[], int],
    ) -> None:
        self._book = book
        self._write = write
        self._query = query
        self._clock = clock

    async def read(self, key: str) -> Entry | None:
        found = await self._query(_READ, (self._book, key))
        return Entry(*found[0]) if found else None

    async def list(self, beginning: str, *, after: str = "", limit: int = 1000) -> Sequence[Entry]:
        bounds = (beginning, beginning + LAST_CHARACTER, after)
        return [Entry(*row) for row in await self._query(_LIST, (self._book, *bounds, limit))]

    async def write(self, *changes: Change) -> int:
        checked_changes(changes)
        version = new_version()

        def work(connection: sqlite3.Connection) -> int:
            for change in changes:
                found = connection.execute(_VERSION, (self._book, change.key)).fetchone()
                if change.at is not None and change.at != (found[0] if found else 0):
                    raise _EntryMoved(change.key)
                if change.value is None:
                    connection.execute(_ERASE, (self._book, change.key))
                else:
                    connection.execute(_PUT, (self._book, change.key, change.value, version, self._clock()))
            return version

        try:
            return await self._write(work)
        except _EntryMoved:
            return 0

    async def erase(self, beginning: str, *, before: int) -> int:
        values = (self._book, beginning, beginning + LAST_CHARACTER, before)
        return await self._write(lambda connection: connection.execute(_ERASE_OLD, values).rowcount)


class _EntryMoved(CoderError):
    """Rolls the transaction of a write back."""
