"""What a command has written, within limits."""

from __future__ import annotations

import codecs

_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))


class Output:
    """The beginning and the end of what was written, half of `limit` each; the rest is only counted."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._head_size, self._tail_size = limit - limit // 2, limit // 2
        self._head, self._tail = bytearray(), bytearray()
        self._next = 0  # in the tail, which is a ring
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
        """The text, and how many bytes are not in it. No character is cut in two."""
        tail = self._tail[self._next :] + self._tail[: self._next]
        omitted = self._written - len(self._head) - len(tail)
        if not omitted:
            return (self._head + tail).decode(errors="replace"), 0
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        beginning = decoder.decode(self._head)
        split = len(tail[:3]) - len(tail[:3].lstrip(_CONTINUATION_BYTES))
        omitted += len(decoder.getstate()[0]) + split
        return f"{beginning}\n[{omitted} bytes left out]\n{tail[split:].decode(errors='replace')}", omitted
