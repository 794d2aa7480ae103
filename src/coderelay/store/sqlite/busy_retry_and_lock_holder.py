"""Tries again while a database is busy, finds out which program holds its lock, and waits for it."""

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from msgspec import Struct

from coderelay.protocol.errors import (
    StoreLocked,
)
from coderelay.protocol.translatable import say

T = TypeVar("T")
TELL_SECONDS = 2.0
"""How long to wait for a lock before telling the person: most locks are held for milliseconds."""
_WRITE_LOCK = 120
"""The byte of the -shm file that a writer locks."""
_DATABASE_LOCKS = 0x40000000
_COMMAND_CHARS = 60


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


def retry_while_busy(action: Callable[[], T], lock_seconds: float) -> T:
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
