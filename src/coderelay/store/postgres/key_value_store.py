"""A key-value store in the PostgreSQL database of the log."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import LiteralString, Protocol, TypeVar

from coderelay.protocol.key_value_store import Change, Entry
from coderelay.store.event_row_encoding import LAST_CHARACTER, checked_changes, is_key, new_version
from coderelay.store.postgres.connection import Connection, Row, psycopg, rows

T = TypeVar("T")

_READ = "SELECT key, value, version, at FROM notebook WHERE book = %s AND key = %s"
_LIST = """
SELECT key, value, version, at FROM notebook WHERE book = %s AND key >= %s AND key < %s AND key > %s
ORDER BY key LIMIT %s
"""
_PUT = """
INSERT INTO notebook (book, key, value, version, at) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (book, key) DO UPDATE SET value = excluded.value, version = excluded.version, at = excluded.at
"""
_PUT_NEW = "INSERT INTO notebook (book, key, value, version, at) VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
_CHANGE = "UPDATE notebook SET value = %s, version = %s, at = %s WHERE book = %s AND key = %s AND version = %s"
_ERASE = "DELETE FROM notebook WHERE book = %s AND key = %s"
_ERASE_VERSION = "DELETE FROM notebook WHERE book = %s AND key = %s AND version = %s"
_ERASE_OLD = """
WITH erased AS (DELETE FROM notebook WHERE book = %s AND key >= %s AND key < %s AND at < %s RETURNING 1)
SELECT count(*) FROM erased
"""
_ARRIVED = "SELECT 1 FROM notebook WHERE book = %s AND key = ANY(%s) AND version = %s LIMIT 1"


class _Use(Protocol):
    def __call__(self, work: Callable[[Connection], Awaitable[T]], /) -> Awaitable[T]: ...


class PostgresKeyValueStore:
    """A KeyValueStore; see protocol/key_value_store.py. `use` runs work again from its start if its connection
    breaks; the version, which belongs to one write alone, tells whether that write had arrived."""

    def __init__(
        self,
        book: str,
        use: _Use,
        query: Callable[[LiteralString, Sequence[object]], Awaitable[list[Row]]],
        clock: Callable[[], int],
    ) -> None:
        self._book = book
        self._use = use
        self._query = query
        self._clock = clock

    async def read(self, key: str) -> Entry | None:
        found = await self._query(_READ, (self._book, key)) if is_key(key) else []
        return Entry(*found[0]) if found else None

    async def list(self, beginning: str, *, after: str = "", limit: int = 1000) -> Sequence[Entry]:
        if not is_key(beginning) or not is_key(after):
            return []
        bounds = (beginning, beginning + LAST_CHARACTER, after)
        return [Entry(*row) for row in await self._query(_LIST, (self._book, *bounds, limit))]

    async def write(self, *changes: Change) -> int:
        checked_changes(changes)
        in_order = sorted(changes, key=lambda change: change.key)  # two writes never wait for each other
        version = new_version()

        async def work(connection: Connection) -> int:
            if await self._written(connection, in_order, version):
                return version
            keys = [each.key for each in changes if each.value is not None]
            return version if await rows(connection, _ARRIVED, (self._book, keys, version)) else 0

        return await self._use(work)

    async def _written(self, connection: Connection, changes: Sequence[Change], version: int) -> bool:
        with suppress(psycopg.Rollback):  # passes through if the connection breaks in the rollback
            async with connection.transaction():
                for change in changes:
                    if not await self._carry_out(connection, change, version):
                        raise psycopg.Rollback
                return True
        return False

    async def _carry_out(self, connection: Connection, change: Change, version: int) -> bool:
        key = change.key
        if change.value is None and change.at:
            return (await connection.execute(_ERASE_VERSION, (self._book, key, change.at))).rowcount == 1
        if change.value is None:
            erased = (await connection.execute(_ERASE, (self._book, key))).rowcount
            return change.at is None or not erased
        if change.at:
            values = (change.value, version, self._clock(), self._book, key, change.at)
            return (await connection.execute(_CHANGE, values)).rowcount == 1
        values = (self._book, key, change.value, version, self._clock())
        return (await connection.execute(_PUT if change.at is None else _PUT_NEW, values)).rowcount == 1

    async def erase(self, beginning: str, *, before: int) -> int:
        values = (self._book, beginning, beginning + LAST_CHARACTER, before)
        ((count,),) = await self._use(lambda connection: rows(connection, _ERASE_OLD, values))
        return count
