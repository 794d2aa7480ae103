"""Which processes are alive. A living one holds the lock of a file; the kernel lets go when it dies.

The file also holds a counter the process raises about once a second, so that others can tell a
living process that works from one that stands still.
"""

import fcntl
import os
from contextlib import suppress
from typing import Protocol

from msgspec import Struct

from coderelay.protocol.errors import StoreFailed
from coderelay.protocol.ids import OwnerId, new_id


class Dead(Struct, frozen=True):
    pass


class Alive(Struct, frozen=True):
    counter: int


class Owners(Protocol):
    """Seen from one process: itself, and signs of life of the others."""

    async def me(self) -> OwnerId: ...

    async def beat(self) -> None:
        """Show that this process works."""
        ...

    async def look(self, owner: OwnerId) -> Alive | Dead: ...

    async def close(self) -> None: ...


class FileOwners:
    """Owners on one machine, one file each in a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._id: OwnerId | None = None
        self._file = -1
        self._counter = 0

    async def me(self) -> OwnerId:
        if self._id is None:
            try:
                os.makedirs(self._folder, mode=0o700, exist_ok=True)
                self._remove_dead()
                self._id, self._file = self._enter()
            except OSError as error:
                hint = "Make the folder writable, or set CODER_HOME to one you own."
                raise StoreFailed(f"cannot keep a lock in {self._folder}: {error.strerror}", hint) from error
        return self._id

    async def beat(self) -> None:
        if self._file >= 0:
            self._counter += 1
            with suppress(OSError):  # others see this process stand still, which is the safe side
                _write_counter(self._file, self._counter)

    async def look(self, owner: OwnerId) -> Alive | Dead:
        try:
            file = os.open(self._path(owner), os.O_RDWR)
        except FileNotFoundError:
            return Dead()
        try:
            if _lock(file, fcntl.LOCK_SH):  # shared: two that look at once are not taken for the owner
                return Dead()
            return Alive(int.from_bytes(os.pread(file, 8, 0), "big"))
        finally:
            os.close(file)

    async def close(self) -> None:
        if self._id is not None:
            with suppress(FileNotFoundError):
                os.unlink(self._path(self._id))
            os.close(self._file)
            self._id, self._file = None, -1

    def _enter(self) -> tuple[OwnerId, int]:
        while True:
            owner = OwnerId(new_id())
            file = os.open(self._path(owner), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                _write_counter(file, self._counter)  # takes its space now: beats go on when the disk is full
                # Between creating and locking, another process may have swept the file away.
                if _lock(file, fcntl.LOCK_EX) and os.path.exists(self._path(owner)):
                    return owner, file
            except OSError:
                os.close(file)
                raise
            os.close(file)

    def _remove_dead(self) -> None:
        for name in os.listdir(self._folder):
            with suppress(OSError):  # what cannot be removed stays; another will try
                file = os.open(self._path(name), os.O_RDWR)
                try:
                    # Under the lock, so that one who is just entering finds out and tries again.
                    if _lock(file, fcntl.LOCK_EX):
                        os.unlink(self._path(name))
                finally:
                    os.close(file)

    def _path(self, owner: str) -> str:
        return os.path.join(self._folder, owner)


def _lock(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write_counter(file: int, counter: int) -> None:
    os.pwrite(file, counter.to_bytes(8, "big"), 0)
