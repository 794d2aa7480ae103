"""The files of a database that is in use: whether they are still those that were opened, and what to do if not.

SQLite goes on writing to files that were removed under it, and what it writes there is lost when the process ends.
So before every write the names are looked at. If only the -wal file was removed, this process still has it open, and
what it holds can be written into the database.
"""

import errno
import fcntl
import os
import sqlite3
import struct
import time
from contextlib import suppress

from coderelay.protocol.errors import StoreDamaged, StoreFailed

_FOLD_SECONDS = 2.0
_PAUSE_SECONDS = 0.01
_PENDING_BYTE = 0x40000000
"""Where SQLite's lock is that everyone needs for a moment who opens a database."""

_Identity = tuple[int, int]


class WalRemoved(StoreFailed):
    """Nothing was written; after opening the files anew it can be tried again."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path}-wal was removed while in use")


class OpenFiles:
    def __init__(self, path: str) -> None:
        """To be called when a connection to it has read something: then the -wal file is open, too."""
        self._path = path
        self._wal = f"{path}-wal"
        self._database = _identity(path)
        self._wal_opened = _identity(self._wal)
        self._size = os.path.getsize(path)
        self._guard = -1

    def refuse_removed(self, connection: sqlite3.Connection) -> None:
        """Before something is written, within its transaction. Two looks at names, a few microseconds."""
        try:
            found = os.stat(self._path)
        except OSError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != self._database:
            raise StoreFailed(
                f"{self._path} was moved or deleted while in use",
                "Put it back together with its -wal file, or start again to begin a new one. Nothing was written.",
            )
        if found.st_size < self._size and found.st_size < _wanted_size(connection):
            self._guard_from_folding()
            raise StoreDamaged(
                f"{self._path} was emptied or cut short while in use",
                "Restore it from a backup, always together with its -wal file. Nothing was written.",
            )
        self._size = found.st_size
        if _identity(self._wal) != self._wal_opened:
            raise WalRemoved(self._path)

    def is_wal_removed(self) -> bool:
        """Before something is read: another process may have begun a new one. Not if the database itself is gone:
        then there is nothing to be opened anew."""
        return _identity(self._wal) != self._wal_opened and _identity(self._path) == self._database

    def fold_removed_wal(self, connection: sqlite3.Connection) -> None:
        """Write into the database what only the removed -wal file holds. Meanwhile nobody can open the database.

        Raises StoreFailed if somebody already has, with a new -wal file: two histories must not be mixed. Afterwards
        all connections of this process must be closed, and then `release` called.
        """
        try:
            self._guard_from_folding(alone=True)
            if _size_by_identity(self._wal_opened):  # else another process that had it open was faster
                self._fold(connection)
        except (StoreFailed, sqlite3.Error):
            self._guard_from_folding()
            raise

    def _fold(self, connection: sqlite3.Connection) -> None:
        if os.path.exists(self._wal):
            raise StoreFailed(
                f"{self._wal} was removed while in use, and another process has begun a new one",
                "What this process wrote last may be lost. Start coder again; do not remove its files while it runs.",
            )
        deadline = time.monotonic() + _FOLD_SECONDS
        while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > deadline:
                raise StoreFailed(
                    f"{self._wal} was removed while in use", "Close other coder processes and try again."
                )
            time.sleep(_PAUSE_SECONDS)

    def release(self) -> None:
        """When all connections are closed: closing a file gives up every lock that this process has on it."""
        if self._guard >= 0:
            os.close(self._guard)
            self._guard = -1

    def _guard_from_folding(self, *, alone: bool = False) -> None:
        """Keeps SQLite from folding the -wal file into the database when the last connection is closed; `alone` also
        keeps others from opening it."""
        if self._guard < 0:
            self._guard = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        kind, deadline = fcntl.F_WRLCK if alone else fcntl.F_RDLCK, time.monotonic() + _FOLD_SECONDS
        while not _lock_pending(self._guard, kind):
            if time.monotonic() > deadline:
                hint = "Close other coder processes and try again."
                raise StoreFailed(f"{self._wal} was removed while in use", hint)
            time.sleep(_PAUSE_SECONDS)


def _lock_pending(file: int, kind: int) -> bool:
    """With a lock of the open file, not of the process: it also keeps out SQLite in this process."""
    if not hasattr(fcntl, "F_OFD_SETLK"):
        raise StoreFailed("files of the log were removed while in use", "Start coder again.")
    try:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, _PENDING_BYTE, 1, 0))
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        return False
    return True


def _identity(path: str) -> _Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _wanted_size(connection: sqlite3.Connection) -> int:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return pages * size


def _size_by_identity(wanted: _Identity | None) -> int:
    """Of a file that this process has open, whatever became of its name."""
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the one that the listing itself needed
            found = os.fstat(int(name))
            if (found.st_dev, found.st_ino) == wanted:
                return found.st_size
    return 0
