"""The owners on one machine: each holds the lock of a file of its own, and is dead once that lock is free."""

import errno
import fcntl
import os
import struct
from collections.abc import Callable
from contextlib import suppress

from coderelay.protocol.errors import StoreFailed
from coderelay.protocol.ids import OwnerId, new_id
from coderelay.protocol.translatable import say
from coderelay.store.owner_liveness_interface import Alive, Dead

Lock = Callable[[int, bool], bool]
"""Locks a file, exclusively (`alone`) or shared. Returns False if another holder prevents it. Raises OSError where
this kind of lock is not supported. The lock ends when the file is closed."""


class FileOwners:
    """The owners on one machine, one file for each in a folder.

    A file system may accept a lock and yet exclude nobody (network homes, some FUSE file systems), and then every
    owner would look dead. So each kind of lock is tested on our own file before it is relied upon.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._lock: Lock = _flock
        self._id: OwnerId | None = None
        self._file = -1
        self._counter = 0

    async def me(self) -> OwnerId:
        if self._id is None:
            try:
                os.makedirs(self._folder, mode=0o700, exist_ok=True)
                self._id, self._file = self._enter()
                self._remove_dead()
            except OSError as error:
                raise self._unusable(error) from error
        return self._id

    async def send_heartbeat(self) -> None:
        if self._file >= 0:
            self._counter += 1
            with suppress(OSError):  # others see no heartbeat from this process, which is safe
                _write_counter(self._file, self._counter)

    async def liveness(self, owner: OwnerId) -> Alive | Dead:
        try:
            file = os.open(self._path(owner), os.O_RDWR)
        except FileNotFoundError:
            return Dead()
        except OSError as error:
            raise self._unusable(error) from error
        try:
            if self._lock(file, False):  # shared, so that two observers do not take each other for the owner
                return Dead()
            return Alive(int.from_bytes(os.pread(file, 8, 0), "big"))
        finally:
            os.close(file)

    async def close(self) -> None:
        if self._id is not None:
            with suppress(OSError):  # the folder is gone or not writable; another process removes the file
                os.unlink(self._path(self._id))
            os.close(self._file)
            self._id, self._file = None, -1

    def _unusable(self, error: OSError) -> StoreFailed:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        hint = "Free some space." if is_full else "Make the folder writable, or set CODER_HOME to one you own."
        return StoreFailed(
            say("cannot lock a file in {folder}: {why}", folder=self._folder, why=error.strerror), hint
        )

    def _enter(self) -> tuple[OwnerId, int]:
        while True:
            owner = OwnerId(new_id())
            file = os.open(self._path(owner), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                _write_counter(file, self._counter)  # allocates space: heartbeats go on when the disk is full
                self._choose_lock(file, self._path(owner))
                # Between creation and locking, another process may have removed the file as dead.
                if self._lock(file, True) and os.path.exists(self._path(owner)):
                    return owner, file
            except BaseException:
                os.close(file)
                with suppress(OSError):
                    os.unlink(self._path(owner))
                raise
            os.close(file)

    def _choose_lock(self, file: int, path: str) -> None:
        """Raises StoreFailed if no kind of lock works in this folder."""
        for lock in _LOCKS:
            if _keeps_others_out(lock, file, path):
                self._lock = lock
                return
        raise StoreFailed(
            say(
                "file locks do not work in {folder}, so two processes could take the same session",
                folder=self._folder,
            ),
            "The folder may be on a network file system. Set CODER_HOME to a folder on a local disk.",
        )

    def _remove_dead(self) -> None:
        for name in set(os.listdir(self._folder)) - {self._id}:
            with suppress(OSError):  # what cannot be removed stays; another process will try
                file = os.open(self._path(name), os.O_RDWR)
                try:
                    # Under the lock, so that a process which is just entering notices and tries again.
                    if self._lock(file, True):
                        os.unlink(self._path(name))
                finally:
                    os.close(file)

    def _path(self, owner: str) -> str:
        return os.path.join(self._folder, owner)


def _flock(file: int, alone: bool) -> bool:
    try:
        fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _range_lock(file: int, alone: bool) -> bool:
    """Locks the whole file. Like `flock`, the lock belongs to the open file description. SQLite relies on this kind
    of lock."""
    wanted = struct.pack("hhqqi0q", fcntl.F_WRLCK if alone else fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
    try:
        fcntl.fcntl(file, fcntl.F_OFD_SETLK, wanted)
    except (BlockingIOError, PermissionError):
        return False
    return True


_LOCKS: tuple[Lock, ...] = (_flock, _range_lock) if hasattr(fcntl, "F_OFD_SETLK") else (_flock,)


def _keeps_others_out(lock: Lock, file: int, path: str) -> bool:
    """Return whether a second open of the same file is refused the lock that the first one holds. A process that
    removes the files of dead owners may hold the lock, or may have removed the file: then its lock works, and so does
    ours."""
    try:
        other = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return True
    try:
        return not lock(file, True) or not lock(other, False)
    except OSError:
        return False
    finally:
        os.close(other)


def _write_counter(file: int, counter: int) -> None:
    os.pwrite(file, counter.to_bytes(8, "big"), 0)
