"""Statements that are prepared once for each connection and then run directly with libpq.

For appends, which are written all the time, this costs the client a third of what the driver's general way costs: the
driver does not inspect the arguments to choose an encoding, and the task waits on the event loop once instead of
twice.
"""

import asyncio
import struct
from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any, LiteralString

from psycopg.errors import error_from_result

from coderelay.store.postgres.connection import Connection, InvalidSqlStatementName, pq
from coderelay.store.postgres.value_encoding import Numbers, Texts, dump_numbers, dump_texts

_NUMBER = struct.Struct(">q")
_DUMPERS: dict[type, Callable[[Any], bytes | None]] = {
    str: str.encode,
    int: _NUMBER.pack,
    bool: lambda value: b"\1" if value else b"\0",
    NoneType: lambda _: None,
    Texts: dump_texts,
    Numbers: dump_numbers,
}

Rows = list[list[bytes | None]]
"""Rows as PostgreSQL writes them in text."""
Answered = Callable[[Rows | Exception], None]


class PreparedStatement:
    """`types` are the types of the arguments of `sql`, in which they are called $1, $2 and so on."""

    def __init__(self, name: str, types: Sequence[LiteralString], sql: LiteralString) -> None:
        self._name = name.encode()
        self._formats = [pq.Format.BINARY] * len(types)
        self._declaration = f"PREPARE {name} ({', '.join(types)}) AS {sql}".encode()

    async def prepare(self, connection: Connection) -> None:
        """To be called for each connection before the statement is run."""
        await connection.execute(self._declaration)

    async def run(self, connection: Connection, values: Sequence[object]) -> Rows:
        """Return the rows. An interrupted connection cannot be used again. It must not be in a transaction."""
        try:
            return await self._run(connection, values)
        except InvalidSqlStatementName:  # after a rollback, the driver lets the server forget all statements
            await self.prepare(connection)
            return await self._run(connection, values)

    def start(self, connection: Connection, values: Sequence[object], answered: Answered) -> "RunningStatement":
        """Send the statement at once, and call `answered` when its rows or an error have come. Until then, nobody may
        use the connection. Raises if it cannot be sent; that the server does not know the statement is an error."""
        dumped = [_DUMPERS[type(value)](value) for value in values]
        return RunningStatement(connection.pgconn, self._name, dumped, self._formats, answered)

    async def _run(self, connection: Connection, values: Sequence[object]) -> Rows:
        answer: asyncio.Future[Rows | Exception] = asyncio.get_running_loop().create_future()
        running = self.start(connection, values, answer.set_result)
        try:
            outcome = await answer
        except BaseException:
            running.abandon()
            raise
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class RunningStatement:
    """A statement on its way to the server and back."""

    def __init__(
        self,
        pgconn: pq.abc.PGconn,
        name: bytes,
        dumped: Sequence[bytes | None],
        formats: Sequence[int],
        answered: Answered,
    ) -> None:
        self._pgconn = pgconn
        self._answered = answered
        self._results: list[pq.abc.PGresult] = []
        self._loop = asyncio.get_running_loop()
        self._is_waiting = self._is_sending = False
        try:
            pgconn.send_query_prepared(name, dumped, formats)
            self._socket = pgconn.socket
            self._wait(is_sending=bool(pgconn.flush()))
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Close the connection, on which the answer would still come."""
        self._stop_waiting()
        self._pgconn.finish()

    def _go_on(self) -> None:
        if not self._is_waiting:
            return  # the callback for the other direction of the socket has already finished the statement
        is_sending = self._is_sending
        self._stop_waiting()  # first: libpq closes the socket of a lost connection by itself
        try:
            self._pgconn.consume_input()
            is_sending = is_sending and bool(self._pgconn.flush())
            while not self._pgconn.is_busy():
                result = self._pgconn.get_result()
                if result is None:
                    break
                self._results.append(result)
            else:
                self._wait(is_sending=is_sending)
                return
            outcome = _rows_or_error(self._results)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is for whoever waits for the rows
            self.abandon()
            outcome = error
        self._answered(outcome)

    def _wait(self, *, is_sending: bool) -> None:
        self._is_waiting, self._is_sending = True, is_sending
        self._loop.add_reader(self._socket, self._go_on)
        if is_sending:
            self._loop.add_writer(self._socket, self._go_on)

    def _stop_waiting(self) -> None:
        if self._is_waiting:
            self._is_waiting = False
            if self._is_sending:
                self._loop.remove_writer(self._socket)
            self._loop.remove_reader(self._socket)


def _rows_or_error(results: Sequence[pq.abc.PGresult]) -> Rows | Exception:
    for result in results:
        if result.status != pq.ExecStatus.TUPLES_OK:
            return error_from_result(result)
    return [
        [result.get_value(row, column) for column in range(result.nfields)]
        for result in results
        for row in range(result.ntuples)
    ]
