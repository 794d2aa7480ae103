"""Server-sent events: the data of each, as soon as its last line is in."""


class EventLines:
    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> list[bytes]:
        """The data lines that this piece completes. Names and comments are left out."""
        lines = (self._rest + piece).split(b"\n")
        self._rest = lines.pop()
        return [line[5:].strip() for line in lines if line.startswith(b"data:")]
