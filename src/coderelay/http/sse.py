"""Server-sent events: takes the data of each event out of a stream of bytes."""

from collections.abc import Callable


class EventStream:
    """Names, ids and comments of events are left out.

    The lines of one event are joined when the blank line after them has arrived. `by_line` makes every `data:` line
    an event at once: model providers send one line for each event, and some leave out the blank line.
    `check_size` is given the bytes that wait for the end of their event, and raises when they are too many.
    """

    def __init__(self, check_size: Callable[[int], None], *, by_line: bool = False) -> None:
        self._check_size = check_size
        self._by_line = by_line
        self._half = bytearray()  # a line whose end has not arrived yet
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """The data of the events that this piece completes."""
        if b"\n" not in piece:
            self._half += piece
            self._check_size(self._size + len(self._half))
            return []
        lines = (b"%b%b" % (self._half, piece)).split(b"\n")
        self._half = bytearray(lines.pop())
        if self._by_line:
            return [data for line in lines if line.startswith(b"data:") and (data := line[5:].strip())]
        return self._joined(lines)

    def end(self) -> list[bytes]:
        """The last event, if the server left out the end of its line."""
        return self.feed(b"\n")

    def _joined(self, lines: list[bytes]) -> list[bytes]:
        events: list[bytes] = []
        for line in lines:
            line = line.removesuffix(b"\r")
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
                self._size += len(line)
            elif not line:
                if (data := b"\n".join(self._data)).strip():
                    events.append(data)
                self._data, self._size = [], 0
        self._check_size(self._size + len(self._half))
        return events
