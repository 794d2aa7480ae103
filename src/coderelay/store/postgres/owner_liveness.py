"""Tells which processes are alive, on any machine, by advisory locks on the PostgreSQL server.

A live process holds a lock through a connection of its own; the server releases it when the process, and with it the
connection, is gone.
"""

import select
from contextlib import suppress
from typing import TypeVar

from coderelay.protocol.errors import StoreFailed
from coderelay.protocol.ids import OwnerId, new_id
from coderelay.store.owner_liveness_interface import Alive, Dead
from coderelay.store.postgres.connection import (
    PATIENCE_SECONDS,
    Connection,
    ConnectionPool,
    PostgresServer,
    StartedWork,
    Work,
    rows,
)
from coderelay.store.postgres.migrations import migrate
from coderelay.store.postgres.value_encoding import escape_nul

T = TypeVar("T")

# A lock is identified by two numbers: that of the owner table, since a database may hold several logs, and that of
# the owner. (Appends use the other kind of lock, with one number.) The row and the lock are made in one transaction,
# so that a process which removes dead owners never sees one without the other.
_ENTER = """
INSERT INTO owner (id, server_start) VALUES (%s, pg_postmaster_start_time())
ON CONFLICT (id) DO UPDATE SET server_start = excluded.server_start, beat_at = now()
"""
_LOCK = "SELECT pg_advisory_lock(tableoid::int, number) FROM owner WHERE id = %s"
# If an earlier connection broke on our side only, the server may take a while to notice; so its backend is ended.
_END_EARLIER = """
SELECT pg_terminate_backend(pid) FROM pg_locks, owner
WHERE owner.id = %s AND locktype = 'advisory' AND classid = owner.tableoid AND objid = number::oid AND objsubid = 2
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_SWEEP = """
DELETE FROM owner WHERE id != %s AND pg_try_advisory_xact_lock(tableoid::int, number)
AND (server_start = pg_postmaster_start_time() OR beat_at < now() - interval '1 day')
"""
_LEAVE = "DELETE FROM owner WHERE id = %s"
_BEAT = "UPDATE owner SET counter = counter + 1, beat_at = now() WHERE id = %s"
# The lock is shared, so that two observers do not take each other for the owner.
_LOOK = """
SELECT counter, server_start = pg_postmaster_start_time(), pg_try_advisory_xact_lock_shared(tableoid::int, number)
FROM owner WHERE id = %s
"""


class PostgresOwners:
    """Owners on many machines; `Owners` in store/owner_liveness_interface.py is the contract."""

    def __init__(self, url: str, *, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._server = PostgresServer(url, patience_seconds)
        self._lines = ConnectionPool(self._server, 1, self._enter)
        self._begun = StartedWork()
        self._id: OwnerId | None = None

    async def me(self) -> OwnerId:
        return await self._use(self._here)

    async def send_heartbeat(self) -> None:
        if self._id is not None:
            with suppress(StoreFailed):  # others see no heartbeat from this process, which is safe
                await self._use(lambda connection: connection.execute(_BEAT, (self._id,)))

    async def liveness(self, owner: OwnerId) -> Alive | Dead:
        found = await self._use(lambda connection: rows(connection, _LOOK, (escape_nul(owner),)))
        if not found:
            return Dead()
        counter, since_server_start, lock_is_free = found[0]
        # A server that restarts loses all locks. Its owners reconnect; until then, only a missing heartbeat counts.
        is_dead = lock_is_free and since_server_start and owner != self._id
        return Dead() if is_dead else Alive(counter)

    async def close(self) -> None:
        if self._id is not None:
            self._server.leaving = True
            with suppress(StoreFailed):  # the lock ends with the connection; another process removes the row
                await self._use(lambda connection: connection.execute(_LEAVE, (self._id,)))
            await self._begun.finish()
            await self._lines.close()
            self._id, self._server.leaving = None, False

    async def _use(self, work: Work[T]) -> T:
        return await self._begun.carry_out(self._lines.use(work))

    async def _enter(self, connection: Connection) -> None:
        """Runs on every new connection, and registers under the same id."""
        await migrate(connection, self._server.name)
        me = self._id or OwnerId(new_id())
        async with connection.transaction():
            await connection.execute(_ENTER, (me,))
            if self._id is not None:
                await connection.execute(_END_EARLIER, (me,))
            await connection.execute(_LOCK, (me,))
        self._id = me
        await connection.execute(_SWEEP, (me,))

    async def _here(self, connection: Connection) -> OwnerId:
        if _has_news(connection):
            await connection.execute("SELECT")  # raises if the server is gone; then `_enter` runs again
        assert self._id is not None
        return self._id


def _has_news(connection: Connection) -> bool:
    """The server sends something unasked only to say that it ends the connection."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))
