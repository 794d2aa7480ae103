"""Server-sent events: the data of each, as soon as its line is in."""


class EventLines:
    """One `data:` line is one event, as every provider sends it. Names, ids and comments are left out."""

    def __init__(self) -> None:
        self._half: list[bytes] = []  # pieces of a line whose end is not in yet

    def feed(self, piece: bytes) -> list[bytes]:
        """The data of the events that this piece completes."""
        if b"\n" not in piece:
            self._half.append(piece)
            return []
        lines = b"".join([*self._half, piece]).split(b"\n")
        self._half = [lines.pop()]
        return [data for line in lines if line.startswith(b"data:") and (data := line[5:].strip())]

    def end(self) -> list[bytes]:
        """The last event, if the server left out the end of its line."""
        return self.feed(b"\n")
