"""One committed append to the log beside one bare INSERT and COMMIT of the same bytes in the same folder.

The bare insert keeps no head, no epoch and no projection, and waits on its own thread.
"""

import asyncio
import sqlite3
import tempfile
from pathlib import Path

from bench.appenders import BODY, Appenders
from bench.compare import Compared, alternate
from bench.stopwatch import Took, stopwatch
from bench.table import INFORMATIONAL, Budget, Row, at_least_times
from coderelay.client.views.cowork_messages import SessionRows
from coderelay.store.sqlite.store import SqliteStore

ALONE = 40
APPENDERS, EACH = 64, 10
_TABLE = "CREATE TABLE event (session_id TEXT, seq INTEGER, body TEXT, PRIMARY KEY (session_id, seq))"


class Bare:
    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute(_TABLE)
        self._seq = 0

    def append(self, times: int) -> Took:
        with stopwatch() as took:
            for _ in range(times):
                self._seq += 1
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.execute("INSERT INTO event VALUES ('bench', ?, ?)", (self._seq, BODY))
                self._connection.execute("COMMIT")
        return took

    def close(self) -> None:
        self._connection.close()


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="coder-bench-") as folder, asyncio.Runner() as runner:
        store = SqliteStore(str(Path(folder) / "sessions.db"), SessionRows())
        appenders, bare = Appenders(store), Bare(Path(folder) / "bare.db")
        runner.run(appenders.open(APPENDERS))
        alone = alternate(20, lambda: runner.run(appenders.append(1, ALONE)), lambda: bare.append(ALONE))
        many = APPENDERS * EACH
        together = alternate(10, lambda: runner.run(appenders.append(APPENDERS, EACH)), lambda: bare.append(many))
        runner.run(appenders.close())
        bare.close()
    return [
        _row("committed appends, 1 appender", ALONE, alone, at_least_times(0.6)),
        _row("committed appends, 64 appenders (floor: 1)", many, together, INFORMATIONAL),
    ]


def _row(what: str, appends: int, runs: Compared[Took], budget: Budget) -> Row:
    rates = runs.median(lambda took: appends / took.ms * 1000)
    return Row(what, "/s", *rates, budget, runs.median(lambda took: took.cpu))
