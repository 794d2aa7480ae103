"""Kills orphaned processes of commands whose subreaper and supervisor were killed.

A subreaper and the supervisor end everything that a command started. When both are killed at the same moment, nobody
is left who knows those processes: the kernel gives them to init. So every command carries a mark in its environment
that its processes inherit, and they can be found by it: at once if the owner still lives, and otherwise by the next
owner on this machine. A process that cleared its environment is not found.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import count

VARIABLE = "CODER_COMMAND_ID"
"""The environment variable with a command's mark: the owner's process id, its start time, and a serial number."""

_MAY_TAKE = 2.0
_START_FIELD = 19  # among the fields after the name in /proc/PID/stat
_numbers = count(1)


def new_mark() -> dict[str, str]:
    """The environment variable that marks one new command."""
    return {VARIABLE: f"{os.getpid()}-{_started(os.getpid())}-{next(_numbers)}"}


def end_command(mark: Mapping[str, str]) -> None:
    """Kill every process with this mark."""
    _end(lambda found: found == mark[VARIABLE])


def end_orphans() -> None:
    """Kill every process whose mark names an owner that is not running any more."""
    own = os.environ.get(VARIABLE, "")
    _end(lambda found: found != own and not _owner_is_running(found))


def _end(is_wanted: Callable[[str], bool]) -> None:
    """Kill until none is found, since a killed process may just have started another. The time is bounded, because
    even SIGKILL may have to wait. Does nothing where there is no /proc."""
    deadline = time.monotonic() + _MAY_TAKE
    while sum(_kill(pid, is_wanted) for pid in _processes()) and time.monotonic() < deadline:
        time.sleep(0.002)


def _processes() -> Iterator[int]:
    """Ids of processes of our user in our process namespace: in another one, the owner's id has another meaning."""
    with suppress(OSError):
        own = os.readlink("/proc/self/ns/pid")
        for name in os.listdir("/proc"):
            with suppress(OSError):  # the process has ended, or belongs to another user
                if name.isdigit() and os.readlink(f"/proc/{name}/ns/pid") == own:
                    yield int(name)


def _kill(pid: int, is_wanted: Callable[[str], bool]) -> bool:
    """Kill a process if its mark is wanted. A pidfd makes sure that its id is not reused meanwhile."""
    try:
        held = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        mark = _mark_of(pid)
        if not mark or pid == os.getpid() or not is_wanted(mark):
            return False
        signal.pidfd_send_signal(held, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(held)
    return True


def _mark_of(pid: int) -> str:
    """The mark of a process, or empty. It is also empty for a zombie, which has ended but was not waited for yet."""
    with open(f"/proc/{pid}/environ", "rb") as file:
        _, found, rest = (b"\0" + file.read()).partition(f"\0{VARIABLE}=".encode())
    return rest.partition(b"\0")[0].decode(errors="replace") if found else ""


def _owner_is_running(mark: str) -> bool:
    """Whether the owner in a mark is running. True also for a value that is not one of our marks."""
    pid, _, rest = mark.partition("-")
    started = rest.partition("-")[0]
    return not (pid.isdecimal() and started.isdecimal()) or _started(int(pid)) == started


def _started(pid: int) -> str:
    """The start time of a process in clock ticks since boot; 0 if there is no such process, or no /proc."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[_START_FIELD]
    except OSError:
        return "0"
