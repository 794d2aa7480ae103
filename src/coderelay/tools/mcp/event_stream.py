"""Server-sent events: the data of each."""

from coderelay.tools.mcp.transport import ServerFailed


class EventStream:
    """Events of no more than `most_bytes`. Names and ids are left out; several lines of data are one text."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._half = bytearray()  # of a line whose end is not in yet
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """The data of the events that this piece completes. Raises ServerFailed."""
        self._half += piece
        events: list[bytes] = []
        *lines, rest = self._half.replace(b"\r\n", b"\n").split(b"\n") if b"\n" in piece else [self._half]
        self._half = bytearray(rest)
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(bytes(line[5:].removeprefix(b" ")))
                self._size += len(line)
            elif not line:
                events += self._end()
        if self._size + len(self._half) > self._most_bytes:
            raise ServerFailed(f"sent a message of more than {self._most_bytes // 1024 // 1024} MiB", sent=True)
        return events

    def _end(self) -> list[bytes]:
        data, self._data, self._size = b"\n".join(self._data), [], 0
        return [data] if data.strip() else []
