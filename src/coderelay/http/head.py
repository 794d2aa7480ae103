"""The head of an answer: its status and its headers."""

import re

from msgspec import Struct

from coderelay.http.failures import Broken, Unanswered
from coderelay.http.wire import Wire

_HEAD_BYTES = 64 * 1024
_STATUS_LINE = re.compile(r"HTTP/1\.([01]) ([1-9][0-9]{2})(?: .*)?")
_BEGIN = b"HTTP/1."
_END = re.compile(rb"\n\r?\n")


class Head(Struct, frozen=True):
    minor: int  # of HTTP/1.0 or 1.1
    status: int
    headers: dict[str, str]  # names in lower case; what came more than once is joined with a comma

    @property
    def keeps_connection(self) -> bool:
        options = self.words("connection")
        return "close" not in options if self.minor else "keep-alive" in options

    def words(self, name: str) -> list[str]:
        return [word.strip().lower() for word in self.headers.get(name, "").split(",") if word.strip()]


async def receive_head(wire: Wire, idle_seconds: float | None) -> tuple[Head, bytes]:
    """The head, and what of the body came along. Interim answers (1xx) are skipped."""
    data, at = bytearray(), 0
    while True:
        start, end = await _receive_end(wire, data, at, idle_seconds)
        head = parse_head(bytes(data[at:start]))
        if head.status == 101:
            raise Broken("changed to another protocol, which it was not asked to do")
        if head.status >= 200:
            return head, bytes(data[end:])
        at = end


def parse_head(data: bytes) -> Head:
    status_line, *lines = (line.removesuffix("\r") for line in data.decode("latin-1").split("\n"))
    status = _STATUS_LINE.fullmatch(status_line)
    if status is None:
        raise _not_http()
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        name, value = name.strip().lower(), value.strip()
        if colon:
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Head(int(status[1]), int(status[2]), headers)


async def _receive_end(wire: Wire, data: bytearray, at: int, idle_seconds: float | None) -> tuple[int, int]:
    """Where the empty line after the head at `at` begins and ends in `data`, which grows until it is there."""
    searched = at
    while (found := _END.search(data, searched)) is None:
        if len(data) > _HEAD_BYTES:
            raise Broken(f"sent more than {_HEAD_BYTES // 1024} KiB of headers")
        searched = max(at, len(data) - 2)
        piece = await wire.receive(idle_seconds)
        if not piece:
            raise Broken("broke off in the head of its answer") if data else Unanswered()
        data += piece
        if not _BEGIN.startswith(data[at : at + len(_BEGIN)]):  # said at once: it may send no more
            raise _not_http()
    return found.start(), found.end()


def _not_http() -> Broken:
    return Broken("does not speak HTTP/1.1", hint="Check the address and whether it is http or https.")
