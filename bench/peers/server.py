"""A model server for programs whose ways we do not know: they come on many connections, ask asides, and look for
the outside world.

A turn asks at the form's address and offers tools; those requests are answered from the script and timed as in
`bench.server`. Everything else is an aside. The same door is everybody's proxy, and refuses to lead anywhere.
"""

import re
import socket
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress

import msgspec
from msgspec import Struct

from bench.peers.form import CHAT, Form
from bench.server import Answer, Exchange
from tests.model_server import openai_chat, says
from tests.model_server.wire_form import Body

_READ_BYTES = 256 * 1024
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
_EXPECTS = re.compile(rb"\r\nexpect: *100-continue", re.IGNORECASE)
_ASIDE = says("Small things")


class Request(Struct, frozen=True):
    method: str
    target: str
    body: bytes
    arrived: float

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    def read(self) -> Body | None:
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(self.body, type=Body)
        return None


class PeerServer:
    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.exchanges: list[Exchange] = []
        self.asides: list[str] = []
        self.sought: set[str] = set()
        self._form = CHAT
        self._answers: Sequence[Answer] = ()
        self._turn = threading.Lock()
        threading.Thread(target=self._accept, name="model server", daemon=True).start()

    def play(self, form: Form, answers: Sequence[Answer]) -> None:
        """From here on these, one per request of a turn; who asks for more gets the last one again."""
        self.exchanges, self.asides, self.sought = [], [], set()
        self._form, self._answers = form, answers

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                connection, _ = self._listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):  # a client that has gone
            while (request := _receive(connection)) is not None:
                if request.method == "CONNECT":
                    self.sought.add(request.target)
                    connection.sendall(_plain("403 Forbidden", b"{}"))
                    return
                self._answer(connection, request)

    def _answer(self, connection: socket.socket, request: Request) -> None:
        body = request.read() if request.method == "POST" else None
        if body and self._answers and self._form.asks(request.path, body, request.body):
            with self._turn:
                self._send_next(connection, request)
            return
        self.asides.append(f"{request.method} {request.path}")
        connection.sendall(self._aside(request, body))

    def _send_next(self, connection: socket.socket, request: Request) -> None:
        exchange = Exchange(request.arrived, request.body)
        self.exchanges.append(exchange)
        *first, last = self._answers[min(len(self.exchanges), len(self._answers)) - 1]
        for piece in first:
            connection.sendall(piece)
        exchange.answered = time.perf_counter()
        connection.sendall(last)

    def _aside(self, request: Request, body: Body | None) -> bytes:
        if body is None:
            if request.path.endswith("/models"):
                return _plain("200 OK", openai_chat.models())
            return _plain("200 OK" if request.path == "/" else "404 Not Found", b"{}", request.method)
        number = 1000 + len(self.asides)
        if request.path.endswith(self._form.path) and body.get("stream", ":stream" in request.path):
            return b"".join(self._form.answer(_ASIDE, number))
        return _plain("200 OK", self._form.aside(body, number, _ASIDE))


@contextmanager
def peer_server() -> Generator[PeerServer]:
    server = PeerServer()
    try:
        yield server
    finally:
        server.close()


def _receive(connection: socket.socket) -> Request | None:
    """None when the client has gone."""
    data = bytearray()
    while (end := data.find(b"\r\n\r\n")) < 0:
        if not _read(connection, data):
            return None
    head = bytes(data[: end + 2])
    del data[: end + 4]
    if _EXPECTS.search(head):
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    if _CHUNKED.search(head):
        while not data.endswith(b"0\r\n\r\n"):
            if not _read(connection, data):
                return None
        arrived, body = time.perf_counter(), _joined(data)
    else:
        length = _LENGTH.search(head)
        while len(data) < (int(length[1]) if length else 0):
            if not _read(connection, data):
                return None
        arrived, body = time.perf_counter(), bytes(data)
    method, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
    return Request(method, target, body, arrived)


def _read(connection: socket.socket, data: bytearray) -> bool:
    piece = connection.recv(_READ_BYTES)
    data += piece
    return bool(piece)


def _joined(chunks: bytearray) -> bytes:
    body, at = bytearray(), 0
    while True:
        line_end = chunks.index(b"\r\n", at)
        size = int(bytes(chunks[at:line_end]).partition(b";")[0], 16)
        if not size:
            return bytes(body)
        body += chunks[line_end + 2 : line_end + 2 + size]
        at = line_end + 4 + size


def _plain(status: str, body: bytes, method: str = "GET") -> bytes:
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    return head if method == "HEAD" else head + body
