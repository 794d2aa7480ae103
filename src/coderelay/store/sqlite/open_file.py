"""Opens SQLite files, and checks them."""

import errno
import os
import sqlite3
from urllib.parse import quote

from coderelay.protocol.errors import (
    StoreDamaged,
    StoreFailed,
    StoreFull,
    StoreReadOnly,
)
from coderelay.protocol.translatable import say
from coderelay.store.sqlite.busy_retry_and_lock_holder import retry_while_busy
from coderelay.store.sqlite.error_translation import RESTORE_HINT, UNCHANGED, failure
from coderelay.store.sqlite.migrations import check_version, migrate


def open_file(path: str, lock_seconds: float) -> sqlite3.Connection:
    """Return a connection whose schema is up to date. The file is created if it is missing, and never replaced."""
    _refuse_lone_wal(path)
    _create_private(path)
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(
            path, timeout=lock_seconds, isolation_level=None, check_same_thread=False, cached_statements=64
        )
        _prepare(connection, path, lock_seconds)
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error):
            raise failure(error, path) from error
        raise
    return connection


def open_alone(path: str) -> sqlite3.Connection:
    """Open a database for reading when there is no space for the -shm file that processes share: without that file,
    and only if no other process has the database open. Raises StoreFull if that does not help."""
    full = StoreFull(say("no space left to use {path}", path=path), say("Free some space. {rest}", rest=UNCHANGED))
    connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        if not check_version(connection, path):
            raise full
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise full from error
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: str, lock_seconds: float) -> None:
    check_version(connection, path)  # first, since another program's file must not be switched to WAL
    if _switch_to_wal(connection, lock_seconds) != "wal":
        raise StoreFailed(
            say("{path} is on a file system without shared memory", path=path), "Set CODER_HOME to a local folder."
        )
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")  # a deleted session must not be recoverable from the file
    migrate(connection, path)


def _switch_to_wal(connection: sqlite3.Connection, lock_seconds: float) -> str:
    """SQLite does not wait by itself when several processes switch a new file to WAL at the same moment."""
    pragma = "PRAGMA journal_mode = WAL"
    (journal,) = retry_while_busy(lambda: connection.execute(pragma).fetchone(), lock_seconds)
    return journal


def _refuse_lone_wal(path: str) -> None:
    """SQLite would delete a -wal file without a database, and with it the latest writes."""
    # The -wal is checked first: a database that is being created is never empty once its -wal file has content.
    if _size(f"{path}-wal") and not _size(path):
        raise StoreDamaged(
            say("{path} is empty or missing, but {path}-wal still holds a part of it", path=path), RESTORE_HINT
        )


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _create_private(path: str) -> None:
    try:
        os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
        if not os.path.exists(path):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        message = say("cannot create {path}: {why}", path=path, why=error.strerror)
        match error.errno:
            case errno.EACCES | errno.EPERM | errno.EROFS:
                raise StoreReadOnly(message, "Set CODER_HOME to a folder you can write to.") from error
            case errno.ENOSPC | errno.EDQUOT:
                raise StoreFull(message, "Free some space.") from error
            case _:
                raise StoreFailed(message, "Set CODER_HOME to a folder you own.") from error


def check_file(path: str) -> tuple[int, int]:
    """Read and verify a whole database; returns the numbers of its events and sessions. Writes nothing. Raises
    StoreDamaged."""
    _refuse_lone_wal(path)
    try:
        # Not mode=ro: that cannot recover a file whose creating process was killed halfway.
        connection = sqlite3.connect(f"file:{quote(path)}?mode=rw", uri=True, timeout=5.0)
        try:
            steps = check_version(connection, path)
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if found != "ok":
                raise StoreDamaged(say("{path} is damaged: {why}", path=path, why=found), RESTORE_HINT)
            if not steps:
                return 0, 0
            (events,) = connection.execute("SELECT count(*) FROM event").fetchone()
            (sessions,) = connection.execute("SELECT count(*) FROM sessions").fetchone()
            return events, sessions
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise failure(error, path) from error
