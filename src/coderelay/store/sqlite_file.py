"""Opening a SQLite file, and saying clearly what is wrong when it cannot be used."""

import os
import sqlite3

from coderelay.protocol.errors import (
    StoreDamaged,
    StoreFailed,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
)
from coderelay.store.migrations import migrate

_UNCHANGED = "Nothing was changed."


def open_file(path: str, lock_seconds: float) -> sqlite3.Connection:
    """A connection with the schema up to date. The file is made if it is missing, never replaced."""
    try:
        _create_private(path)
    except OSError as error:
        raise StoreFailed(f"cannot create {path}: {error.strerror}", "Set CODER_HOME to a folder you own.") from error
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(
            path, timeout=lock_seconds, isolation_level=None, check_same_thread=False, cached_statements=64
        )
        (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = FULL")
        migrate(connection, path)
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        raise failure(error, path) from error
    except BaseException:
        if connection is not None:
            connection.close()
        raise
    if journal != "wal":
        connection.close()
        raise StoreFailed(f"{path} is on a file system without shared memory", "Set CODER_HOME to a local folder.")
    return connection


def _create_private(path: str) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    if not os.path.exists(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def failure(error: sqlite3.Error, path: str) -> StoreFailed:
    """The engine's error as one of ours. Whatever was being written has been rolled back whole."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreLocked(f"{path} is locked by another program", f"Close it and try again. {_UNCHANGED}")
        case sqlite3.SQLITE_READONLY:
            return StoreReadOnly(f"{path} is read-only", f"Make it and its folder writable. {_UNCHANGED}")
        case sqlite3.SQLITE_FULL:
            return StoreFull(f"no space left to write {path}", f"Free some space and try again. {_UNCHANGED}")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreDamaged(
                f"{path} is damaged or not a database: {error}",
                f"Restore it from a backup, or move it away to start anew. {_UNCHANGED}",
            )
        case _:
            return StoreFailed(f"{path} cannot be used: {error}", _UNCHANGED)
