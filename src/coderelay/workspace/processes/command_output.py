"""Collects the output of a command within a size limit, and ends a command that fills the disk."""

from __future__ import annotations

import asyncio
import codecs
import os
from collections.abc import Callable, Iterable
from contextlib import suppress

from coderelay.protocol.translatable import say

_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
_ESCAPED = bytes(set(range(0x20)) - set(b"\b\t\n\f\r"))  # control characters that are stored as \\u and four digits
_ESCAPED_BYTES = 6
FREE_BYTES = 1_000_000_000
"""The free disk space at which a command is ended, unless a setting says otherwise."""
_LOOK_SECONDS = 0.25


class Output:
    """The beginning and the end of the output, half of `limit` each; the rest is only counted. The limit applies to
    the text as it is stored, where a control character or an invalid character takes several bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._head_size, self._tail_size = limit - limit // 2, limit // 2
        self._head, self._tail = bytearray(), bytearray()
        self._next = 0  # position in the tail, which is a ring buffer
        self._written = 0

    def add(self, chunk: bytes) -> None:
        self._written += len(chunk)
        room = self._head_size - len(self._head)
        self._head += chunk[:room]
        if len(chunk) > room and self._tail_size:
            self._add_to_tail(chunk[room:][-self._tail_size :])

    def emptied(self) -> Output:
        return Output(self._limit)

    def _add_to_tail(self, chunk: bytes) -> None:
        at, room = self._next, self._tail_size - self._next
        first, rest = chunk[:room], chunk[room:]
        self._tail[at : at + len(first)] = first
        self._tail[: len(rest)] = rest
        self._next = (at + len(chunk)) % self._tail_size

    def text(self) -> tuple[str, int]:
        """The text, and the number of bytes left out. No character is cut in two."""
        head, tail = bytes(self._head), bytes(self._tail[self._next :] + self._tail[: self._next])
        if len(head) + len(tail) == self._written:
            head, tail = head + tail, b""
            if _fits(head, self._limit):
                return head.decode(errors="replace"), 0
            tail = head
        head, tail = _first(head, self._head_size), _last(tail, self._tail_size)
        omitted = self._written - len(head) - len(tail)
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        beginning = decoder.decode(head)
        split = len(tail[:3]) - len(tail[:3].lstrip(_CONTINUATION_BYTES))
        omitted += len(decoder.getstate()[0]) + split
        return f"{beginning}\n[{omitted} bytes left out]\n{tail[split:].decode(errors='replace')}", omitted


def _first(data: bytes, limit: int) -> bytes:
    """The longest beginning that fits."""
    return data[: _longest(len(data), lambda size: _fits(data[:size], limit))]


def _last(data: bytes, limit: int) -> bytes:
    """The longest end that fits."""
    return data[len(data) - _longest(len(data), lambda size: _fits(data[len(data) - size :], limit)) :]


def _longest(size: int, fits: Callable[[int], bool]) -> int:
    """Binary search for the greatest number up to `size` that fits, given that all smaller ones fit too."""
    if fits(size):
        return size
    low, high = 0, size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _fits(data: bytes, limit: int) -> bool:
    if len(data) * _ESCAPED_BYTES <= limit:
        return True
    if len(data) > limit:
        return False
    escaped = len(data) - len(data.translate(None, _ESCAPED))
    return len(data.decode(errors="replace").encode()) + (_ESCAPED_BYTES - 1) * escaped <= limit


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
