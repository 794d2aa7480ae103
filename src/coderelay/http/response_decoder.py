"""Parses the head (status and headers) of an HTTP response, and decodes its body: sized, chunked or until the end."""

import re
from typing import Protocol

from msgspec import Struct

from coderelay.http.errors import NoResponse, ServerMisbehaved
from coderelay.http.socket_connection import SocketConnection
from coderelay.protocol.translatable import say

_LINE_BYTES = 16 * 1024
_TRAILER_BYTES = 64 * 1024
_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;[^\n]*)?")
_BOUNDARY = re.compile(rb"\r\n([1-9a-fA-F][0-9a-fA-F]{0,14})\r\n")  # between two chunks, in the form most servers use
_LENGTH = re.compile(r"[0-9]{1,18}")
_HEAD_BYTES = 64 * 1024
_STATUS_LINE = re.compile(r"HTTP/1\.([01]) ([1-9][0-9]{2})(?: .*)?")
_BEGIN = b"HTTP/1."
_END = re.compile(rb"\n\r?\n")


class Body(Protocol):
    """An incremental decoder of a response body. Feed it the data as it arrives, and empty data once when the
    connection has ended."""

    finished: bool
    clean: bool  # no data follows the body's end, so the connection can be reused

    def feed(self, data: bytes) -> bytes:
        """Return the bytes of the body that `data` contains. Raises Broken."""
        ...


class Head(Struct, frozen=True):
    """The status line and the headers of a response."""

    minor: int  # 0 for HTTP/1.0, 1 for HTTP/1.1
    status: int
    headers: dict[str, str]  # names in lower case; repeated headers are joined with a comma

    @property
    def keeps_connection(self) -> bool:
        options = self.words("connection")
        return "close" not in options if self.minor else "keep-alive" in options

    def words(self, name: str) -> list[str]:
        return [word.strip().lower() for word in self.headers.get(name, "").split(",") if word.strip()]


def body_of(head: Head) -> Body:
    codings = [word for word in head.words("transfer-encoding") if word != "identity"]
    compressed = [word for word in head.words("content-encoding") if word != "identity"]
    if head.status in (204, 304):
        return SizedBody(0)
    if compressed or codings not in ([], ["chunked"]):
        return UnreadableBody(", ".join(compressed + codings))
    if codings:
        return ChunkedBody()
    if "content-length" in head.headers:
        return SizedBody(_length(head.words("content-length")))
    return UnboundedBody()


class SizedBody:
    def __init__(self, size: int) -> None:
        self.finished = size == 0
        self.clean = True
        self._left = size

    def feed(self, data: bytes) -> bytes:
        if not data:
            raise _cut_off()
        self.clean = len(data) <= self._left
        piece = data[: self._left]
        self._left -= len(piece)
        self.finished = self._left == 0
        return piece


class UnboundedBody:
    """The body ends when the connection ends."""

    def __init__(self) -> None:
        self.finished = False
        self.clean = False

    def feed(self, data: bytes) -> bytes:
        self.finished = not data
        return data


class UnreadableBody:
    """The body has an encoding that was not asked for. Reading it raises Broken."""

    def __init__(self, coding: str) -> None:
        self.finished = False
        self.clean = False
        self._coding = coding

    def feed(self, data: bytes) -> bytes:
        raise ServerMisbehaved(
            say("sent its answer as {coding}, which it was asked not to do", coding=self._coding), retryable=False
        )


class ChunkedBody:
    """Pieces are returned as they arrive, whether or not a chunk is complete; chunk extensions and trailers are
    skipped."""

    def __init__(self) -> None:
        self.finished = False
        self.clean = True
        self._left = 0  # bytes of the current chunk that have not arrived yet
        self._line = b""  # the part of an incomplete line that has arrived
        self._expected = self._size_line
        self._trailer_bytes = 0

    def feed(self, data: bytes) -> bytes:
        if not data:
            raise _cut_off()
        if self._line:
            data, self._line = self._line + data, b""
        pieces: list[bytes] = []
        at, end = 0, len(data)
        while at < end and not self.finished:
            if self._left:
                piece = data[at : at + self._left]
                pieces.append(piece)
                at += len(piece)
                self._left -= len(piece)
                if not self._left and (boundary := _BOUNDARY.match(data, at)):
                    at, self._left = boundary.end(), int(boundary[1], 16)
            else:
                at = self._take_line(data, at)
        self.clean = at == end
        return b"".join(pieces)

    def _take_line(self, data: bytes, at: int) -> int:
        end = data.find(b"\n", at)
        if end < 0:
            self._line = data[at:]
            if len(self._line) > _LINE_BYTES:
                raise _no_size()
            return len(data)
        self._expected(data[at:end].removesuffix(b"\r"))
        return end + 1

    def _size_line(self, line: bytes) -> None:
        size = _SIZE.fullmatch(line)
        if size is None:
            raise _no_size()
        self._left = int(size[1], 16)
        self._expected = self._end_of_chunk if self._left else self._trailer

    def _end_of_chunk(self, line: bytes) -> None:
        if line:
            raise ServerMisbehaved("sent a chunk that is longer than it says")
        self._expected = self._size_line

    def _trailer(self, line: bytes) -> None:
        self.finished = not line
        self._trailer_bytes += len(line) + 2
        if self._trailer_bytes > _TRAILER_BYTES:
            raise ServerMisbehaved(
                say("sent more than {count} KiB of headers after its answer", count=_TRAILER_BYTES // 1024)
            )


def _length(values: list[str]) -> int:
    """Content-Length may be repeated, but all values must be equal."""
    if len(set(values)) != 1 or _LENGTH.fullmatch(values[0]) is None:
        raise ServerMisbehaved("sent an answer without a usable length")
    return int(values[0])


def _cut_off() -> ServerMisbehaved:
    return ServerMisbehaved("broke off mid-answer")


def _no_size() -> ServerMisbehaved:
    return ServerMisbehaved("sent a chunk without a size")


async def receive_head(wire: SocketConnection, idle_seconds: float | None) -> tuple[Head, bytes]:
    """Return the head, and the part of the body that arrived with it. Interim responses (1xx) are skipped."""
    data, at = bytearray(), 0
    while True:
        start, end = await _receive_end(wire, data, at, idle_seconds)
        head = parse_head(bytes(data[at:start]))
        if head.status == 101:
            raise ServerMisbehaved("changed to another protocol, which it was not asked to do")
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


async def _receive_end(
    wire: SocketConnection, data: bytearray, at: int, idle_seconds: float | None
) -> tuple[int, int]:
    """Return where the empty line after the head at `at` begins and ends in `data`. Receives into `data` until it is
    there."""
    searched = at
    while (found := _END.search(data, searched)) is None:
        if len(data) > _HEAD_BYTES:
            raise ServerMisbehaved(say("sent more than {count} KiB of headers", count=_HEAD_BYTES // 1024))
        searched = max(at, len(data) - 2)
        piece = await wire.receive(idle_seconds)
        if not piece:
            raise ServerMisbehaved("broke off in the head of its answer") if data else NoResponse()
        data += piece
        if not _BEGIN.startswith(data[at : at + len(_BEGIN)]):  # fail at once: the server may send no more
            raise _not_http()
    return found.start(), found.end()


def _not_http() -> ServerMisbehaved:
    return ServerMisbehaved("does not speak HTTP/1.1", hint="Check the address, and whether it is http or https.")
