"""HTTP/1.1 on one connection: requests in, whole or chunked responses out."""

import time
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader, StreamWriter
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus

from msgspec import Struct

from tests.model_server.violation import Refused

HEAD_BYTES = 64 * 1024
BODY_BYTES = 64 * 1024 * 1024


class HttpRequest(Struct, frozen=True):
    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes
    arrived: float  # time.perf_counter() after the last byte

    @property
    def is_last(self) -> bool:
        return self.headers.get("connection", "").lower() == "close"


class Connection:
    """The reader must have been made with `limit=HEAD_BYTES`.

    Every write is with the kernel when it returns, so a drop right after it loses nothing.
    """

    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        writer.transport.set_write_buffer_limits(high=0)

    async def read_request(self) -> HttpRequest | None:
        """None when the client has gone, even in the middle of a request."""
        with suppress(IncompleteReadError):
            method, path, headers = _parse_head(await self._read_line(b"\r\n\r\n", status=431))
            if headers.get("expect", "").lower() == "100-continue":
                await self._write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return HttpRequest(method, path, headers, await self._read_body(headers), time.perf_counter())
        return None

    async def send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        await self._write(_head(status, {**headers, "content-length": str(len(body))}) + body)

    async def begin(self, status: int, headers: Mapping[str, str]) -> None:
        await self._write(_head(status, {**headers, "transfer-encoding": "chunked"}))

    async def send_chunk(self, data: bytes) -> None:
        await self._write(b"%x\r\n%b\r\n" % (len(data), data))

    async def end(self) -> None:
        await self._write(b"0\r\n\r\n")

    async def client_leaves(self) -> None:
        await self._reader.read()

    async def drop(self) -> None:
        self._writer.transport.abort()
        with suppress(ConnectionError):  # the client was faster
            await self._writer.wait_closed()

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def _read_line(self, end: bytes, status: int = 400) -> bytes:
        try:
            return await self._reader.readuntil(end)
        except LimitOverrunError as overrun:
            raise Refused(f"more than {HEAD_BYTES} bytes of header", status=status) from overrun

    async def _read_body(self, headers: Mapping[str, str]) -> bytes:
        length = headers.get("content-length")
        coding = headers.get("transfer-encoding")
        if coding is not None:
            if coding.lower() != "chunked" or length is not None:
                raise Refused("a body is either chunked or has a content-length")
            return await self._read_chunks()
        return await self._reader.readexactly(_size(length or "0", base=10))

    async def _read_chunks(self) -> bytes:
        body = bytearray()
        while size := _size((await self._read_line(b"\r\n")).partition(b";")[0].decode("latin-1"), base=16):
            _check_size(len(body) + size)
            body += await self._reader.readexactly(size)
            if await self._reader.readexactly(2) != b"\r\n":
                raise Refused("a chunk is longer than it says")
        while await self._read_line(b"\r\n") != b"\r\n":
            pass  # trailers
        return bytes(body)


def _parse_head(head: bytes) -> tuple[str, str, dict[str, str]]:
    request_line, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    match request_line.split(" "):
        case [method, target, "HTTP/1.1"]:
            return method, target.partition("?")[0], dict(_parse_header(line) for line in lines)
        case _:
            raise Refused(f"not an HTTP/1.1 request: {request_line!r}")


def _parse_header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name or name != name.strip():
        raise Refused(f"not a header: {line!r}")
    return name.lower(), value.strip()


def _size(text: str, base: int) -> int:
    try:
        size = int(text, base)
    except ValueError as wrong:
        raise Refused(f"not a size: {text!r}") from wrong
    _check_size(size)
    return size


def _check_size(size: int) -> None:
    if not 0 <= size <= BODY_BYTES:
        raise Refused(f"a body has at most {BODY_BYTES} bytes", status=413)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {_phrase(status)}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _phrase(status: int) -> str:
    with suppress(ValueError):  # providers invent statuses, e.g. 529
        return HTTPStatus(status).phrase
    return "Scripted"
