"""Ends a command that fills the disk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from contextlib import suppress

from coderelay.protocol.translatable import say

FREE_BYTES = 1_000_000_000
"""The free disk space at which a command is ended, unless a setting says otherwise."""
_LOOK_SECONDS = 0.25


class DiskSpaceWatch:
    """Polls the disks of `folders`, and calls `end` once with a reason when less than `free_bytes` is left on one of
    them. On a disk that has less than twice that to begin with, a command may still use half of what is free."""

    def __init__(self, folders: Iterable[str], free_bytes: int, end: Callable[[str], None]) -> None:
        self._end = end
        self._least: dict[str, int] = {}
        for folder in folders:
            with suppress(OSError):  # nothing can be written to a folder that does not exist
                self._least[folder] = min(free_bytes, _free(folder) // 2)
        self._timer = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._look)

    def close(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        for folder, least in self._least.items():
            with suppress(OSError):
                if _free(folder) < least:
                    self._end(
                        say(
                            "ended because the disk of {folder} is almost full: less than {size} is left",
                            folder=folder,
                            size=_size(least),
                        )
                    )
                    return
        self._timer = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._look)


def _free(folder: str) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def _size(number: int) -> str:
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.0f} MB"
