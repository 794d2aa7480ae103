"""Detects that files of an open SQLite database were removed, replaced or cut short, and saves what can be saved.

SQLite goes on using files that were removed while open. What it writes to a removed -wal file is lost when the
process ends, and processes that have different -shm files do not see each other's locks, so that each overwrites what
the other wrote. So the file names are checked before every write. If the -wal file was removed, this process still
has it open, and its content can be written into the database. A removed -shm file holds nothing that cannot be made
again.

To "fold" the -wal file means to copy its content into the database (a checkpoint).

The -wal file is looked at without `stat`: whoever asks for the times of a file makes Linux give the next write to it
a time of its own, and a commit that has to store that time takes a third longer.
"""

import errno
import fcntl
import os
import sqlite3
import struct
import time
from contextlib import suppress

from coderelay.protocol.errors import StoreDamaged, StoreFailed, StoreLocked
from coderelay.protocol.translatable import say
from coderelay.store.sqlite.busy_retry_and_lock_holder import is_busy

_FOLD_SECONDS = 2.0
_PAUSE_SECONDS = 0.01
_PENDING_BYTE = 0x40000000
"""The offset of SQLite's PENDING lock, which everyone who opens a database needs for a moment."""
_INDEX_HEADER = struct.Struct("=14xHI")
"""The header of the -shm file: the page size, and the number of pages that the -wal file holds."""
_WAL_HEADER, _FRAME_HEADER = 32, 24

_Identity = tuple[int, int]


class FileRemoved(StoreFailed):
    """Nothing was written; the write can be retried after the files have been reopened."""

    def __init__(self, path: str) -> None:
        super().__init__(say("{path} was removed while in use", path=path))


class OpenFiles:
    """The database, -wal and -shm files as they were when they were opened."""

    def __init__(self, path: str) -> None:
        """Must be called after a connection has read something: then the -wal and -shm files are open, too."""
        self._path = path
        self._wal, self._shm = f"{path}-wal", f"{path}-shm"
        self._database = _identity(path)
        self._wal_opened, self._shm_opened = _identity(self._wal), _identity(self._shm)
        self._size = os.path.getsize(path)
        self._wal_file = _open(self._wal, self._wal_opened)
        self._wal_link = _link_of(self._wal_file)
        self._index: int | None = None
        self._guard = -1

    def refuse_removed(self, connection: sqlite3.Connection) -> None:
        """Must be called before each write, within its transaction. It checks three file names, which takes
        microseconds."""
        found = _look(self._path)
        if found is None or (found.st_dev, found.st_ino) != self._database:
            raise StoreFailed(
                say("{path} was moved or deleted while in use", path=self._path),
                "Put it back together with its -wal file, or start again to begin a new one. Nothing was written.",
            )
        if found.st_size < self._size and found.st_size < _wanted_size(connection):
            raise self._cut_short(self._path)
        self._size = found.st_size
        wal_size = self._size_of_wal()
        if wal_size is None:
            raise FileRemoved(self._wal)
        if _identity(self._shm) != self._shm_opened:
            raise FileRemoved(self._shm)
        if self._is_wal_cut_short(wal_size):
            raise self._cut_short(self._wal)

    def removed(self) -> str | None:
        """Must be called before each read. Returns the -wal or -shm file that was removed, since another process may
        have created a new one. Returns None if the database itself is gone: then there is nothing to reopen."""
        removed = self._wal if self._size_of_wal() is None else None
        if removed is None and _identity(self._shm) != self._shm_opened:
            removed = self._shm
        return removed if removed is not None and _identity(self._path) == self._database else None

    def settle_removed(self, connection: sqlite3.Connection) -> None:
        """Must be called before all connections of this process are closed because a file was removed; call `release`
        afterwards. What only a removed -wal file holds is written into the database, and meanwhile nobody can open
        it.

        Raises StoreFailed if another process has already opened it with a new -wal file: two histories must not be
        mixed. Raises StoreLocked if a process that has the same -shm file does not finish its write.
        """
        if _identity(self._wal) == self._wal_opened:
            self._wait_for_writers(connection)
            self.guard_from_folding_others()
            return
        try:
            self._guard_from_folding(alone=True)
            if _size_by_identity(self._wal_opened):  # otherwise another process that had it open has done this
                self._fold(connection)
        except (StoreFailed, sqlite3.Error):
            self._guard_from_folding()
            raise

    def guard_from_folding_others(self) -> None:
        """Must be called before the connections are closed. The last process to close a database folds the -wal file
        into it and deletes it. This process must not do so if it does not know what others have written there, or if
        files were cut short: then what is left stays as it is."""
        database, wal, shm = _look(self._path), _look(self._wal), _identity(self._shm)
        if database is None or (database.st_dev, database.st_ino) != self._database:
            return
        is_new_wal = wal is not None and (wal.st_dev, wal.st_ino) != self._wal_opened
        is_cut = database.st_size < self._size or (wal is not None and self._is_wal_cut_short(wal.st_size))
        if is_new_wal or is_cut or shm not in (None, self._shm_opened):
            with suppress(StoreFailed, OSError):  # then another process has it open, and nothing is folded
                self._guard_from_folding()

    def _size_of_wal(self) -> int | None:
        """None if the file that was opened is not in its place any more. The link in /proc to an open file names the
        place where the file is now; another text there may also mean that a folder above it was renamed."""
        if self._wal_link and _link_of(self._wal_file) == self._wal_link:
            return os.lseek(self._wal_file, 0, os.SEEK_END)
        found = _look(self._wal)
        return None if found is None or (found.st_dev, found.st_ino) != self._wal_opened else found.st_size

    def _cut_short(self, path: str) -> StoreDamaged:
        self._guard_from_folding()
        return StoreDamaged(
            say("{path} was emptied or cut short while in use", path=path),
            "Restore it from a backup, always together with its -wal file. Nothing was written.",
        )

    def _is_wal_cut_short(self, size: int) -> bool:
        """Compares its size with what the -shm file says it holds, since another program may have legitimately
        emptied it by a checkpoint."""
        if self._index is None or _identity(self._index) != self._shm_opened:
            self._index = _file_by_identity(self._shm_opened)
        header = b"" if self._index is None else os.pread(self._index, _INDEX_HEADER.size, 0)
        if len(header) < _INDEX_HEADER.size:
            return False
        page, frames = _INDEX_HEADER.unpack(header)
        return frames > 0 and size < _WAL_HEADER + frames * ((65536 if page == 1 else page) + _FRAME_HEADER)

    def _wait_for_writers(self, connection: sqlite3.Connection) -> None:
        """Another process may be in the middle of a write, and would not see the locks of the new -shm file."""
        deadline = time.monotonic() + _FOLD_SECONDS
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
                return
            except sqlite3.OperationalError as error:
                if not is_busy(error):
                    raise
                if time.monotonic() > deadline:
                    hint = "Close other coder processes and try again."
                    raise StoreLocked(say("{path} was removed while in use", path=self._shm), hint) from error
            time.sleep(_PAUSE_SECONDS)

    def _fold(self, connection: sqlite3.Connection) -> None:
        if os.path.exists(self._wal):
            raise StoreFailed(
                say("{path} was removed while in use, and another process has begun a new one", path=self._wal),
                "What this process wrote last may be lost. Start coder again; do not remove its files while it runs.",
            )
        deadline = time.monotonic() + _FOLD_SECONDS
        while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > deadline:
                raise StoreFailed(
                    say("{path} was removed while in use", path=self._wal),
                    "Close other coder processes and try again.",
                )
            time.sleep(_PAUSE_SECONDS)

    def release(self) -> None:
        """Must be called only when all connections are closed: closing a file releases every lock that this process
        has on it."""
        for file in (self._guard, self._wal_file):
            if file >= 0:
                os.close(file)
        self._guard = self._wal_file = -1

    def _guard_from_folding(self, *, alone: bool = False) -> None:
        """Keep SQLite from folding the -wal file into the database when the last connection is closed. `alone` also
        keeps others from opening the database."""
        if self._guard < 0:
            self._guard = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        kind, deadline = fcntl.F_WRLCK if alone else fcntl.F_RDLCK, time.monotonic() + _FOLD_SECONDS
        while not _lock_pending(self._guard, kind):
            if time.monotonic() > deadline:
                hint = "Close other coder processes and try again."
                raise StoreFailed(say("{path} was removed while in use", path=self._wal), hint)
            time.sleep(_PAUSE_SECONDS)


def _lock_pending(file: int, kind: int) -> bool:
    """The lock belongs to the open file description, not to the process, so it also excludes SQLite in this
    process."""
    if not hasattr(fcntl, "F_OFD_SETLK"):
        raise StoreFailed("files of the log were removed while in use", "Start coder again.")
    try:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, _PENDING_BYTE, 1, 0))
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        return False
    return True


def _look(path: str | int) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _open(wal: str, wanted: _Identity | None) -> int:
    """A descriptor of our own: nobody has locks on the -wal file, which closing it would release. -1 if the file is
    not there any more."""
    try:
        file = os.open(wal, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1
    if _identity(file) == wanted:
        return file
    os.close(file)
    return -1


def _link_of(file: int) -> str:
    """The name of an open file, as the system knows it; empty where that cannot be asked."""
    try:
        return os.readlink(f"/proc/self/fd/{file}")
    except OSError:
        return ""


def _identity(path: str | int) -> _Identity | None:
    found = _look(path)
    return None if found is None else (found.st_dev, found.st_ino)


def _wanted_size(connection: sqlite3.Connection) -> int:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    return pages * size


def _size_by_identity(wanted: _Identity | None) -> int:
    """Return the size of a file that this process has open, even if its name is gone."""
    file = _file_by_identity(wanted)
    return 0 if file is None else os.fstat(file).st_size


def _file_by_identity(wanted: _Identity | None) -> int | None:
    """Return the descriptor that SQLite has open. A second one of our own could never be closed: that would release
    all locks that this process has on the file."""
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the descriptor of the listing itself is closed by now
            found = os.fstat(int(name))
            if (found.st_dev, found.st_ino) == wanted:
                return int(name)
    return None
