"""Processes that a peer has started and left behind: known by the home they were given, which nobody else has."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

_MOST_SECONDS = 5.0


def sweep(home: Path) -> None:
    deadline = time.monotonic() + _MOST_SECONDS
    while (pids := _at_home_in(home)) and time.monotonic() < deadline:
        for pid in pids:
            kill(pid)
        time.sleep(0.01)


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _at_home_in(home: Path) -> list[int]:
    mark = f"\0HOME={home}\0".encode()
    return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit() and mark in _environment(each)]


def _environment(process: Path) -> bytes:
    with suppress(OSError):  # it has ended, or is another person's
        return b"\0" + (process / "environ").read_bytes()
    return b""
