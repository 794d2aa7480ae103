"""SQLite's errors as errors of the store, with what to do."""

import os
import sqlite3

from coderelay.protocol.errors import (
    StoreDamaged,
    StoreFailed,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
)
from coderelay.protocol.translatable import say

UNCHANGED = "The log is unchanged."  # says nothing of the files that a turn works on
# SQLite would take a -wal file beside another database for a part of that database.
RESTORE_HINT = say(
    "Restore it from a backup, or move it away to start anew, always together with its -wal file. {rest}",
    rest=UNCHANGED,
)


def closed(path: str) -> StoreFailed:
    return StoreFailed(say("{path} was closed by this program", path=path), UNCHANGED)


def failure(error: sqlite3.Error, path: str) -> StoreFailed:
    """Translate an error of SQLite into one of our exceptions. What was being written has been rolled back as a
    whole."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL:
            return StoreLocked(
                say("{path} is locked by another program", path=path), say("Close it. {rest}", rest=UNCHANGED)
            )
        case sqlite3.SQLITE_READONLY:
            return _read_only(path)
        case sqlite3.SQLITE_CANTOPEN if not _writable(path):
            return _read_only(path)
        case _ if getattr(error, "sqlite_errorcode", 0) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE):
            return StoreFull(
                say("no space left to write {path}", path=path), say("Free some space. {rest}", rest=UNCHANGED)
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreDamaged(say("{path} is damaged or not a database: {why}", path=path, why=error), RESTORE_HINT)
        case sqlite3.SQLITE_IOERR:
            # A commit that could not be synced may still be there after a crash, so the hint promises nothing.
            return StoreFailed(
                say("{path} cannot be read or written: {why}", path=path, why=error),
                "Check the disk and your quota on it.",
            )
        case _:
            return StoreFailed(say("{path} cannot be used: {why}", path=path, why=error), UNCHANGED)


def _read_only(path: str) -> StoreFailed:
    return StoreReadOnly(
        say("{path} is read-only", path=path), say("Make it and its folder writable. {rest}", rest=UNCHANGED)
    )


def _writable(path: str) -> bool:
    """SQLite also writes files beside the database, so the folder must be writable too."""
    return all(os.access(each, os.W_OK) for each in (path, os.path.dirname(path) or "."))
