"""What other processes can read of our own environment in /proc: nothing that a command may not see.

A command outside of the sandbox runs as the same user, who may read the environment that this process was started
with. It is a piece of our memory, so the values in it can be blanked; this process goes on with copies of them.
"""

import os
from contextlib import suppress

from coderelay.workspace.processes.environment import may_be_seen

_FIRST_AND_END = slice(47, 49)  # of the fields behind the name in /proc/self/stat


def blank_own_environment() -> None:
    """Nothing happens where there is no /proc."""
    with suppress(OSError, ValueError):
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        first, end = map(int, fields[_FIRST_AND_END])
        if end > first > 0:
            _blank(first, end - first)


def _blank(first: int, size: int) -> None:
    import ctypes  # takes milliseconds, and only who starts commands needs it

    at = first
    for entry in ctypes.string_at(first, size).split(b"\0"):
        name, is_set, value = entry.partition(b"=")
        if is_set and not may_be_seen(os.fsdecode(name), os.fsdecode(value)):
            if name in os.environb:
                os.putenv(name, os.environb[name])  # in another place, for libraries and children of ours
            ctypes.memset(at + len(name) + 1, 0, len(value))
        at += len(entry) + 1
