"""HTTP/1.1 as model providers need it: post JSON, read a streamed answer, keep the connection.

Our own because a general client costs more to import than the rest of a turn together
(docs/decisions/0002-http-client.md).
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from coderelay.protocol.errors import ModelFailed

_HEAD_BYTES = 256 * 1024
_READ_BYTES = 256 * 1024

_Failure = Callable[[str], ModelFailed]


class Response:
    """One answer. Read `pieces` to the end and the connection is used again; leave early and it is closed."""

    def __init__(self, client: "HttpClient", connection: "_Connection", status: int, headers: Mapping[str, str]):
        self.status = status
        self.headers = headers
        self._client = client
        self._connection = connection

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        finished = False
        try:
            async for piece in self._connection.body(self.headers):
                yield piece
            finished = True
        finally:
            keep = finished and self.headers.get("connection", "").lower() != "close"
            self._client.give_back(self._connection if keep else None, self._connection)

    async def read(self, limit: int = 64 * 1024) -> bytes:
        body = bytearray()
        async for piece in self.pieces():
            body += piece
            if len(body) >= limit:
                break
        return bytes(body[:limit])


class HttpClient:
    """Requests to one address, one at a time."""

    def __init__(self, base_url: str, *, connect_seconds: float = 30.0, idle_seconds: float = 300.0) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ModelFailed(f"not a usable address: {base_url!r}", hint="It must look like https://host/v1.")
        self._secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port or (443 if self._secure else 80)
        self._netloc = parts.netloc.rpartition("@")[2]
        self._path = parts.path.rstrip("/")
        self._connect_seconds = connect_seconds
        self._idle_seconds = idle_seconds
        self._idle: _Connection | None = None

    async def post(self, path: str, headers: Mapping[str, str], body: bytes) -> Response:
        lines = [f"POST {self._path}{path} HTTP/1.1", f"host: {self._netloc}", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        connection, self._idle = self._idle, None
        if connection is not None:
            with suppress(_Stale):  # the server closed it while it lay idle: nothing was answered, so ask anew
                return await self._exchange(connection, head, body)
        try:
            return await self._exchange(await self._connect(), head, body)
        except _Stale as error:
            raise self._failed("closed the connection without an answer") from error

    async def close(self) -> None:
        if self._idle is not None:
            self._idle.close()
            self._idle = None

    def give_back(self, reusable: "_Connection | None", connection: "_Connection") -> None:
        if reusable is None:
            connection.close()
        else:
            self._idle = reusable

    async def _exchange(self, connection: "_Connection", head: bytes, body: bytes) -> Response:
        try:
            connection.send(head, body)
            status, headers = await connection.head()
        except BaseException:
            connection.close()
            raise
        return Response(self, connection, status, headers)

    async def _connect(self) -> "_Connection":
        try:
            async with asyncio.timeout(self._connect_seconds):
                streams = await asyncio.open_connection(
                    self._host, self._port, ssl=self._secure or None, limit=_READ_BYTES
                )
        except TimeoutError as error:
            raise self._failed(f"did not accept a connection within {self._connect_seconds:g} s") from error
        except OSError as error:
            raise self._failed(f"cannot be reached: {error.strerror or error}") from error
        return _Connection(*streams, self._failed, self._idle_seconds)

    def _failed(self, what: str) -> ModelFailed:
        return ModelFailed(f"the model server at {self._netloc} {what}", retryable=True)


class _Stale(Exception):
    """The connection ended before the first byte of an answer."""


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, failed: _Failure, idle: float):
        self._reader = reader
        self._writer = writer
        self._failed = failed
        self._idle_seconds = idle
        self._rest = b""

    def send(self, head: bytes, body: bytes) -> None:
        if self._writer.is_closing():
            raise _Stale
        self._writer.writelines((head, body))

    async def head(self) -> tuple[int, dict[str, str]]:
        data = bytearray()
        while (end := data.find(b"\r\n\r\n")) < 0:
            piece = await self._receive()
            if not piece and not data:
                raise _Stale
            data += piece
            if not piece or len(data) > _HEAD_BYTES:
                raise self._failed("sent a broken answer")
        self._rest = bytes(data[end + 4 :])
        status_line, *lines = bytes(data[:end]).decode("latin-1").split("\r\n")
        fields = (line.partition(":") for line in lines)
        return _status(status_line, self._failed), {name.lower(): value.strip() for name, _, value in fields}

    async def body(self, headers: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        if "chunked" in headers.get("transfer-encoding", "").lower():
            async for piece in self._chunks():
                yield piece
            return
        left = int(headers["content-length"]) if "content-length" in headers else None
        while left is None or left > 0:
            piece = self._rest or await self._receive()
            self._rest = b""
            if not piece:
                if left is None:
                    return  # the end of the connection is the end of the answer
                raise self._failed("broke off in the middle of its answer")
            if left is not None:
                left -= len(piece)
            yield piece

    async def _chunks(self) -> AsyncGenerator[bytes, None]:
        """All chunks that have arrived are handed on together: one turn of the loop for many tokens."""
        buffer, finished = self._rest, False
        while not finished:
            pieces, used, finished = _split_chunks(buffer)
            if pieces:
                yield b"".join(pieces)
            buffer = buffer[used:]
            if not finished:
                more = await self._receive()
                if not more:
                    raise self._failed("broke off in the middle of its answer")
                buffer += more
        self._rest = b""

    async def _receive(self) -> bytes:
        try:
            async with asyncio.timeout(self._idle_seconds):
                return await self._reader.read(_READ_BYTES)
        except TimeoutError as error:
            raise self._failed(f"was silent for {self._idle_seconds:g} s") from error
        except OSError:
            return b""  # a reset is an end like any other; where it is too early, the caller says so

    def close(self) -> None:
        self._writer.transport.abort()


def _split_chunks(buffer: bytes) -> tuple[list[bytes], int, bool]:
    """Whole chunks at the front of `buffer`, how many bytes they took, and whether the last one was there."""
    pieces: list[bytes] = []
    at = 0
    while (end := buffer.find(b"\r\n", at)) >= 0:
        size = int(buffer[at:end].split(b";", 1)[0], 16)
        after = end + 2 + size
        if len(buffer) < after + 2:
            break
        if size == 0:
            return pieces, after + 2, True
        pieces.append(buffer[end + 2 : after])
        at = after + 2
    return pieces, at, False


def _status(line: str, failed: _Failure) -> int:
    words = line.split(" ", 2)
    if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdigit():
        raise failed("does not speak HTTP")
    return int(words[1])
