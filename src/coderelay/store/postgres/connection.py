"""Connections to a PostgreSQL server: opened on demand, reopened when they break, with clear error messages.

Only a direct connection works: a connection pooler in transaction mode would lose locks and notifications.
"""

import asyncio
import os
import random
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from typing import Any, LiteralString, TypeVar

from coderelay.protocol.errors import (
    BadInput,
    CoderError,
    StoreDamaged,
    StoreFailed,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
)
from coderelay.protocol.install_command import install_command
from coderelay.protocol.translatable import say

T = TypeVar("T")
Row = tuple[Any, ...]


try:
    import psycopg
    from psycopg import adapt, conninfo, pq
    from psycopg.errors import InvalidSqlStatementName
except ImportError as error:
    raise StoreFailed(
        "PostgreSQL needs psycopg", say("Install it: {command}", command=install_command("psycopg[binary]"))
    ) from error


Connection = psycopg.AsyncConnection[Row]
Work = Callable[[Connection], Awaitable[T]]
UNCHANGED = "The log is unchanged."  # says nothing of the files that a turn works on
PATIENCE_SECONDS = 30.0
_OLDEST = 130000
_LONGEST_PAUSE = 1.0
_DEFAULTS: dict[str, str | int] = {
    "application_name": "coder",
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
# Settings that the log relies on and that a role or a database may have changed: a commit is on disk, each statement
# sees what was committed before it, nobody waits or is waited for without end, and the server notices soon when a
# machine is gone.
_SETTINGS = """
SET default_transaction_isolation = 'read committed';
SET lock_timeout = '10s';
SET idle_in_transaction_session_timeout = '60s';
SET tcp_keepalives_idle = 10;
SET tcp_keepalives_interval = 5;
SET tcp_keepalives_count = 3;
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
"""
# With an unescaped @ or / in a password, a part of it would be taken for the host name and show up in messages.
_URL = re.compile(r"postgres(ql)?://([^@/?#]*@)?[^@/?#]*(/[^@/?#]*)?(\?[^@#]*)?")


class Unreachable(StoreFailed):
    """The connection is lost. The outcome of the last statement, if there was one, is unknown."""


class PostgresServer:
    """One database on a server. `name` identifies it in messages, without the password."""

    def __init__(self, url: str, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._parameters = _DEFAULTS | _parse_url(url) | {"client_encoding": "UTF8"}
        self.name = _name(self._parameters)
        self._patience_seconds = patience_seconds
        self._reached = False
        self._lost_at: float | None = None
        self.leaving = False

    async def connect(self) -> Connection:
        connection: Connection = await psycopg.AsyncConnection.connect(
            conninfo.make_conninfo("", **self._parameters), autocommit=True
        )
        try:
            await connection.execute(_SETTINGS)
            self._refuse_unfit(connection)
        except BaseException:
            await connection.close()
            raise
        self._reached, self._lost_at = True, None
        return connection

    def is_worth_waiting_for(self) -> bool:
        """To be called when a connection failed. A server that restarts is waited for; one that was never reached, or
        has been away for too long, is not."""
        now = time.monotonic()
        self._lost_at = now if self._lost_at is None else self._lost_at
        return self._reached and not self.leaving and now - self._lost_at < self._patience_seconds

    def told(self, error: psycopg.Error) -> CoderError:
        return self.unreachable(error) if is_lost(error) else self.failure(error)

    def unreachable(self, error: Exception) -> Unreachable:
        return Unreachable(
            say("PostgreSQL at {name} cannot be reached: {why}", name=self.name, why=_line(error)), UNCHANGED
        )

    def closed(self) -> StoreFailed:
        return StoreFailed(say("the log on {name} was closed by this program", name=self.name), UNCHANGED)

    def failure(self, error: psycopg.Error) -> CoderError:
        """Translate an error of the server into one of our exceptions. What was being written has been rolled back as
        a whole."""
        text = say("PostgreSQL at {name}: {why}", name=self.name, why=error.diag.message_primary or _line(error))
        match error.sqlstate or "":
            case "25006":
                return StoreReadOnly(text, say("Use a server that can be written to. {rest}", rest=UNCHANGED))
            case "42501":
                return StoreReadOnly(
                    text, say("Ask the owner of the database for the right to use it. {rest}", rest=UNCHANGED)
                )
            case "53100":
                return StoreFull(text, say("Free some space on the server. {rest}", rest=UNCHANGED))
            case "55P03":
                return StoreLocked(text, say("Another program holds a lock. {rest}", rest=UNCHANGED))
            case "XX001" | "XX002":
                return StoreDamaged(text, say("Restore the database from a backup. {rest}", rest=UNCHANGED))
            case state if state[:2] in ("22", "54"):
                return BadInput(text, UNCHANGED)
            case _:
                return StoreFailed(text, UNCHANGED)

    def _refuse_unfit(self, connection: Connection) -> None:
        if connection.info.server_version < _OLDEST:
            raise StoreFailed(
                say("PostgreSQL at {name} is too old", name=self.name),
                say("Use version 13 or newer. {rest}", rest=UNCHANGED),
            )
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            hint = say("Make one: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0. {rest}", rest=UNCHANGED)
            raise StoreFailed(
                say("the database {name} keeps text as {encoding}, not as UTF8", name=self.name, encoding=encoding),
                hint,
            )


class StartedWork:
    """Runs work to its end, even if those who wait for it are cancelled."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Future[Any]] = set()

    async def carry_out(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.shield(self.start(work))

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def expect(self) -> asyncio.Future[None]:
        """Expect something that no task does. It has ended when the future is done."""
        end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tasks.add(end)
        end.add_done_callback(self._done)
        return end

    async def finish(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _done(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as retrieved: a cancelled caller will not ask for it


class ConnectionPool:
    """A few connections, opened on demand; the most recently used one is used first.

    If a connection breaks, the work of `use` is run again from its start on a new one, so the work itself must find
    out what it did before.
    """

    def __init__(self, server: PostgresServer, count: int, prepare: Callable[[Connection], Awaitable[None]]) -> None:
        self._server = server
        self._prepare = prepare
        self._slots = asyncio.Semaphore(count)
        self._lines = tuple(PostgresConnection() for _ in range(count))
        self._free = list(self._lines)

    async def use(self, work: Work[T]) -> T:
        async with self._slots:
            line = self._free.pop()
            try:
                return await self._insist(line, work)
            finally:
                self._free.append(line)

    async def take(self) -> "PostgresConnection | None":
        """Take a connection that is open and free, until `give_back`. None if there is none at this moment."""
        if self._slots.locked() or self._free[-1].usable() is None:
            return None
        await self._slots.acquire()  # without waiting, because it is not locked
        return self._free.pop()

    def give_back(self, line: "PostgresConnection") -> None:
        self._free.append(line)
        self._slots.release()

    def failure(self, error: Exception) -> CoderError | None:
        """The failure of work on a connection that was taken; None if it may succeed on another one."""
        if not isinstance(error, psycopg.Error) or is_lost(error) or isinstance(error, InvalidSqlStatementName):
            return None
        return self._server.failure(error)

    def pids(self) -> set[int]:
        """Return the process ids of the server's backends for these connections."""
        return {connection.info.backend_pid for line in self._lines if (connection := line.usable())}

    async def close(self) -> None:
        for line in self._lines:
            await line.drop()

    async def _insist(self, line: "PostgresConnection", work: Work[T]) -> T:
        pauses = pauses_between_attempts()
        while True:
            try:
                return await work(line.usable() or await self._open(line))
            except psycopg.Error as error:
                if not is_lost(error):
                    raise self._server.failure(error) from error
                await line.drop()
                if not self._server.is_worth_waiting_for():
                    raise self._server.unreachable(error) from error
            await asyncio.sleep(next(pauses))

    async def _open(self, line: "PostgresConnection") -> Connection:
        connection = await self._server.connect()
        try:
            await self._prepare(connection)
        except BaseException:
            await connection.close()
            raise
        line.connection = connection
        return connection


class PostgresConnection:
    """One slot of the pool. Its connection is None while it is not open."""

    connection: Connection | None = None

    def usable(self) -> Connection | None:
        return None if self.connection is None or self.connection.closed else self.connection

    async def drop(self) -> None:
        if self.connection is not None:
            connection, self.connection = self.connection, None
            await connection.close()


def pauses_between_attempts() -> Iterator[float]:
    """The first retry comes at once, because often only this one connection broke."""
    yield 0.0
    pause = 0.05
    while True:
        yield pause * random.uniform(0.5, 1.0)
        pause = min(pause * 2, _LONGEST_PAUSE)


def is_lost(error: psycopg.Error) -> bool:
    """Return whether the connection is gone, or was never made, so that the outcome of the last statement is
    unknown."""
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return error.diag.severity_nonlocalized in ("FATAL", "PANIC")


async def rows(connection: Connection, sql: LiteralString, values: Sequence[object] = ()) -> list[Row]:
    return await (await connection.execute(sql, values)).fetchall()


def _parse_url(url: str) -> dict[str, Any]:
    hint = "It looks like postgresql://user:password@host/database, with @ : / ? # in a password written as %40 %3A …"
    malformed = StoreFailed("CODER_DATABASE_URL is not the address of a PostgreSQL database", hint)
    if not _URL.fullmatch(url):
        raise malformed
    try:
        return conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        raise malformed from None  # the original message may hold a part of the password


def _name(parameters: dict[str, Any]) -> str:
    host = parameters.get("host") or os.environ.get("PGHOST") or "localhost"
    port = parameters.get("port") or os.environ.get("PGPORT")
    database = parameters.get("dbname") or os.environ.get("PGDATABASE") or parameters.get("user") or ""
    return f"{host}:{port}/{database}" if port else f"{host}/{database}"


def _line(error: Exception) -> str:
    return " ".join(str(error).removeprefix("connection failed: ").split())


__all__ = ["InvalidSqlStatementName", "adapt", "conninfo", "pq", "psycopg"]
