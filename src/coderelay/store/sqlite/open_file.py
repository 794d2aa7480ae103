"""Opens and checks SQLite files, explains why one cannot be used, and finds the process that has locked it."""

import asyncio
import errno
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar
from urllib.parse import quote

from msgspec import Struct

from coderelay.protocol.errors import (
    StoreDamaged,
    StoreFailed,
    StoreFull,
    StoreLocked,
    StoreReadOnly,
)
from coderelay.protocol.translatable import say
from coderelay.store.sqlite.migrations import check_version, migrate

T = TypeVar("T")
_UNCHANGED = "The log is unchanged."  # says nothing of the files that a turn works on
# SQLite would take a -wal file beside another database for a part of that database.
_RESTORE_HINT = (
    f"Restore it from a backup, or move it away to start anew, always together with its -wal file. {_UNCHANGED}"
)
_WRITE_LOCK = 120
"""The byte of the -shm file that a writer locks."""
_DATABASE_LOCKS = 0x40000000
_COMMAND_CHARS = 60
TELL_SECONDS = 2.0
"""How long to wait for a lock before telling the person: most locks are held for milliseconds."""


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
    full = StoreFull(f"no space left to use {path}", say("Free some space. {rest}", rest=_UNCHANGED))
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
        raise StoreFailed(f"{path} is on a file system without shared memory", "Set CODER_HOME to a local folder.")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")  # a deleted session must not be recoverable from the file
    migrate(connection, path)


def _switch_to_wal(connection: sqlite3.Connection, lock_seconds: float) -> str:
    """SQLite does not wait by itself when several processes switch a new file to WAL at the same moment."""
    pragma = "PRAGMA journal_mode = WAL"
    (journal,) = patiently(lambda: connection.execute(pragma).fetchone(), lock_seconds)
    return journal


def patiently(action: Callable[[], T], lock_seconds: float) -> T:
    """Retry while the database is busy. Short random pauses give each of several writing processes its turn within a
    few milliseconds."""
    deadline = time.monotonic() + lock_seconds
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
        pause()


def is_busy(error: sqlite3.Error) -> bool:
    return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def pause(*, long: bool = False) -> None:
    from random import uniform  # loaded for the first pause

    time.sleep(uniform(0.01, 0.03) if long else uniform(0.0005, 0.003))


def _refuse_lone_wal(path: str) -> None:
    """SQLite would delete a -wal file without a database, and with it the latest writes."""
    # The -wal is checked first: a database that is being created is never empty once its -wal file has content.
    if _size(f"{path}-wal") and not _size(path):
        raise StoreDamaged(f"{path} is empty or missing, but {path}-wal still holds a part of it", _RESTORE_HINT)


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
        message = say("cannot {verb} {path}: {why}", verb="create", path=path, why=error.strerror)
        match error.errno:
            case errno.EACCES | errno.EPERM | errno.EROFS:
                raise StoreReadOnly(message, "Set CODER_HOME to a folder you can write to.") from error
            case errno.ENOSPC | errno.EDQUOT:
                raise StoreFull(message, "Free some space.") from error
            case _:
                raise StoreFailed(message, "Set CODER_HOME to a folder you own.") from error


def closed(path: str) -> StoreFailed:
    return StoreFailed(f"{path} was closed by this program", _UNCHANGED)


def failure(error: sqlite3.Error, path: str) -> StoreFailed:
    """Translate an error of SQLite into one of our exceptions. What was being written has been rolled back as a
    whole."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED | sqlite3.SQLITE_PROTOCOL:
            return StoreLocked(
                say("{path} is locked by another program", path=path), say("Close it. {rest}", rest=_UNCHANGED)
            )
        case sqlite3.SQLITE_READONLY:
            return _read_only(path)
        case sqlite3.SQLITE_CANTOPEN if not _writable(path):
            return _read_only(path)
        case _ if getattr(error, "sqlite_errorcode", 0) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE):
            return StoreFull(
                say("no space left to write {path}", path=path), say("Free some space. {rest}", rest=_UNCHANGED)
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreDamaged(f"{path} is damaged or not a database: {error}", _RESTORE_HINT)
        case sqlite3.SQLITE_IOERR:
            # A commit that could not be synced may still be there after a crash, so the hint promises nothing.
            return StoreFailed(f"{path} cannot be read or written: {error}", "Check the disk and your quota on it.")
        case _:
            return StoreFailed(f"{path} cannot be used: {error}", _UNCHANGED)


def _read_only(path: str) -> StoreFailed:
    return StoreReadOnly(
        say("{path} is read-only", path=path), say("Make it and its folder writable. {rest}", rest=_UNCHANGED)
    )


def _writable(path: str) -> bool:
    """SQLite also writes files beside the database, so the folder must be writable too."""
    return all(os.access(each, os.W_OK) for each in (path, os.path.dirname(path) or "."))


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
                raise StoreDamaged(f"{path} is damaged: {found}", _RESTORE_HINT)
            if not steps:
                return 0, 0
            (events,) = connection.execute("SELECT count(*) FROM event").fetchone()
            (sessions,) = connection.execute("SELECT count(*) FROM sessions").fetchone()
            return events, sessions
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise failure(error, path) from error


def waiting_words(path: str) -> str:
    return say(
        "{path} is locked by {holder}; waiting for it", path=path, holder=find_holder(path) or "another program"
    )


async def when_unlocked(open_log: Callable[[], T], path: str, pause: float, tell: Callable[[str], None]) -> T:
    """Return what `open_log` returns, as soon as nobody has locked the file at `path`. If that takes long, `tell` is
    called with a message about who holds the lock."""
    began, is_told = time.monotonic(), False
    while True:
        try:
            return open_log()
        except StoreLocked:
            if not is_told and time.monotonic() - began > TELL_SECONDS:
                is_told = True
                tell(waiting_words(path))
        await asyncio.sleep(pause)


class LockHolder(Struct, frozen=True):
    """The process that holds a lock on the database."""

    pid: int
    command: str
    is_stopped: bool

    def __str__(self) -> str:
        if not self.command:
            return f"process {self.pid}{', which is stopped' if self.is_stopped else ''}"
        if self.is_stopped:
            return say("process {pid} ({command}), which is stopped", pid=self.pid, command=self.command)
        return say("process {pid} ({command})", pid=self.pid, command=self.command)


def find_holder(path: str) -> LockHolder | None:
    """Return None if the holder cannot be determined, or has released the lock meanwhile."""
    for file, byte in ((f"{path}-shm", _WRITE_LOCK), (path, _DATABASE_LOCKS)):
        with suppress(OSError, ValueError):
            pid = _writer_of(os.stat(file).st_ino, byte)
            if pid is not None:
                return LockHolder(pid, _command(pid), _is_stopped(pid))
    return None


def _writer_of(inode: int, byte: int) -> int | None:
    """Parses lines of /proc/locks like `4: POSIX  ADVISORY  WRITE 1234 fd:01:5678 120 120`."""
    with open("/proc/locks") as locks:
        for line in locks:
            fields = line.split()
            if len(fields) != 8 or fields[3] != "WRITE" or int(fields[5].rpartition(":")[2]) != inode:
                continue
            ends_behind = fields[7] == "EOF" or int(fields[7]) >= byte
            if ends_behind and int(fields[4]) not in (0, -1, os.getpid()):
                return int(fields[4])
    return None


def _command(pid: int) -> str:
    with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        words = file.read().rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")
        return words if len(words) <= _COMMAND_CHARS else f"{words[: _COMMAND_CHARS - 1]}…"
    return ""


def _is_stopped(pid: int) -> bool:
    with suppress(OSError), open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] in ("T", "t")
    return False
