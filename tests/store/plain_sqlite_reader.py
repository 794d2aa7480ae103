"""Reads the database with plain sqlite3, as a program does that knows nothing of coderelay."""

import hashlib
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Row = tuple[Any, ...]


@contextmanager
def connected(path: Path) -> Generator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def rows(path: Path, sql: str) -> list[Row]:
    with connected(path) as connection:
        return connection.execute(sql).fetchall()


def dictionaries(path: Path, sql: str) -> list[dict[str, Any]]:
    with connected(path) as connection:
        cursor = connection.execute(sql)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]


def tables(path: Path) -> tuple[list[Row], list[Row]]:
    """All of `sessions` and `messages`; the order of messages within a session counts. Of `changed`, which orders the
    lists, only the order counts (decision 0035)."""
    sessions = dictionaries(path, "SELECT *, rank() OVER (ORDER BY changed) AS place FROM sessions ORDER BY id")
    return (
        [tuple(value for name, value in row.items() if name != "changed") for row in sessions],
        rows(path, "SELECT * FROM messages ORDER BY session_id, rowid"),
    )


def events(path: Path) -> list[Row]:
    return rows(path, "SELECT session_id, seq, epoch, kind, at, body FROM event ORDER BY session_id, seq")


def is_whole(path: Path) -> bool:
    return rows(path, "PRAGMA integrity_check") == [("ok",)]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
