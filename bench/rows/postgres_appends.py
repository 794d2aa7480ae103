"""One committed append to the log on PostgreSQL beside one bare INSERT of the same bytes, on the same server.

The bare insert keeps no head, no epoch and no projection: it writes one row where the store writes three, and tells
nobody. Many of them have a connection each, where the store has four for all and writes in groups. Needs psycopg, so
it is loaded by `postgres.py` only.
"""

import asyncio
from typing import LiteralString

import psycopg

from bench.appenders import BODY, Appenders
from bench.compare import Compared, alternate
from bench.stopwatch import Took, stopwatch
from bench.table import Budget, Row, at_least_times
from coderelay.client.views.cowork_messages import SessionRows
from coderelay.store.postgres.store import PostgresStore
from tests.postgres_server import PrivateServer

ALONE = 40
APPENDERS, EACH = 32, 10
_TABLE: LiteralString = "CREATE TABLE bare (appender INTEGER, seq INTEGER, body TEXT, PRIMARY KEY (appender, seq))"
_INSERT: LiteralString = "INSERT INTO bare VALUES (%s, %s, %s)"


class Bare:
    """Connections, each with a number of the next row."""

    def __init__(self) -> None:
        self._connections: list[psycopg.AsyncConnection] = []
        self._seqs: list[int] = []

    async def open(self, url: str, count: int) -> None:
        for _ in range(count):
            self._connections.append(await psycopg.AsyncConnection.connect(url, autocommit=True))
            self._seqs.append(0)
        await self._connections[0].execute(_TABLE)

    async def append(self, connections: int, times: int) -> Took:
        with stopwatch() as took:
            await asyncio.gather(*(self._append(number, times) for number in range(connections)))
        return took

    async def close(self) -> None:
        for each in self._connections:
            await each.close()

    async def _append(self, number: int, times: int) -> None:
        for _ in range(times):
            self._seqs[number] += 1
            await self._connections[number].execute(_INSERT, (number, self._seqs[number], BODY))


def measure() -> list[Row]:
    with PrivateServer() as server, asyncio.Runner() as runner:
        appenders, bare = Appenders(PostgresStore(server.new_schema(), SessionRows())), Bare()
        runner.run(appenders.open(APPENDERS))
        runner.run(bare.open(server.new_schema(), APPENDERS))

        def compare(at_once: int, times: int) -> Compared[Took]:
            return alternate(
                10,
                lambda: runner.run(appenders.append(at_once, times)),
                lambda: runner.run(bare.append(at_once, times)),
            )

        alone, together = compare(1, ALONE), compare(APPENDERS, EACH)
        runner.run(appenders.close())
        runner.run(bare.close())
    return [
        _row("appends on PostgreSQL, 1 appender (floor: psycopg)", ALONE, alone, at_least_times(0.6)),
        _row("appends on PostgreSQL, 32 appenders (floor: 32)", APPENDERS * EACH, together, at_least_times(0.8)),
    ]


def _row(what: str, appends: int, runs: Compared[Took], budget: Budget) -> Row:
    rates = runs.median(lambda took: appends / took.ms * 1000)
    return Row(what, "/s", *rates, budget, runs.median(lambda took: took.cpu))
