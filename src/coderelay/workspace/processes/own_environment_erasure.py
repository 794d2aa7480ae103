"""Erases the environment that the kernel shows of our own process, so that no command reads keys there."""

from __future__ import annotations

import os
from contextlib import suppress

from coderelay.workspace.processes.environment import may_be_seen

_FIRST_AND_END = slice(47, 49)  # env_start and env_end, among the fields after the name in /proc/self/stat


def blank_own_environment() -> None:
    """Overwrite secrets in our environment as /proc shows it to other processes. Does nothing without /proc."""
    with suppress(OSError, ValueError):
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        first, end = map(int, fields[_FIRST_AND_END])
        if end > first > 0:
            _blank(first, end - first)


def _blank(first: int, size: int) -> None:
    import ctypes  # takes milliseconds, and is only needed to start commands

    at = first
    for entry in ctypes.string_at(first, size).split(b"\0"):
        name, is_set, value = entry.partition(b"=")
        if is_set and not may_be_seen(os.fsdecode(name), os.fsdecode(value)):
            if name in os.environb:
                os.putenv(name, os.environb[name])  # kept in other memory, for our libraries and children
            ctypes.memset(at + len(name) + 1, 0, len(value))
        at += len(entry) + 1
