"""Server-sent events: the data of each, as soon as its line is in."""

from coderelay.models.model import check_event_size


class EventLines:
    """One `data:` line is one event, as every provider sends it. Names, ids and comments are left out."""

    def __init__(self) -> None:
        self._half = bytearray()  # a line whose end is not in yet

    def feed(self, piece: bytes) -> list[bytes]:
        """The data of the events that this piece completes. Raises ModelFailed for a line that is too long."""
        if b"\n" not in piece:
            self._half += piece
            check_event_size(len(self._half))
            return []
        lines = (b"%b%b" % (self._half, piece)).split(b"\n")
        self._half = bytearray(lines.pop())
        return [data for line in lines if line.startswith(b"data:") and (data := line[5:].strip())]

    def end(self) -> list[bytes]:
        """The last event, if the server left out the end of its line."""
        return self.feed(b"\n")
