"""Collects the output of a command within a size limit: its beginning and its end."""

from __future__ import annotations

import codecs
from collections.abc import Callable

_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))
_ESCAPED = bytes(set(range(0x20)) - set(b"\b\t\n\f\r"))  # control characters that are stored as \\u and four digits
_ESCAPED_BYTES = 6


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
