"""A model server that knows to the microsecond when an answer left and when the next request was here.

One thread, one connection at a time, answers made beforehand: between a request and its answer it does
next to nothing, so what is measured is the client. For anything but timing there is
`tests.model_server`.
"""

import re
import socket
import threading
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress

from msgspec import Struct

from tests.model_server.answers import Spoken
from tests.model_server.openai_chat import stream
from tests.model_server.wire_form import Asked

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_ASKED = Asked({"model": "scripted", "stream_options": {"include_usage": True}}, "0", 4000, (), streams=True)
_READ_BYTES = 256 * 1024
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)

Answer = Sequence[bytes]
"""What is sent, one write each."""


class Exchange(Struct):
    """Seconds of `time.perf_counter`: when the request's last byte was here, and when the answer's last
    write began."""

    arrived: float
    request_end: bytes
    answered: float = 0.0


class ModelServer:
    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self.exchanges: list[Exchange] = []
        self._answers: Sequence[Answer] = ()
        self._pause = 0.0
        threading.Thread(target=self._serve, name="model server", daemon=True).start()

    def play(self, answers: Sequence[Answer], pause: float = 0.0) -> None:
        """From here on these, one per request, with a pause between two writes."""
        self.exchanges, self._answers, self._pause = [], answers, pause

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        with suppress(OSError):  # closed
            while True:
                connection, _ = self._listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with connection, suppress(ConnectionError):  # a client that was killed
                    while (exchange := _receive(connection)) is not None:
                        self.exchanges.append(exchange)
                        self._answer(connection, exchange)

    def _answer(self, connection: socket.socket, exchange: Exchange) -> None:
        *first, last = self._answers[len(self.exchanges) - 1]
        for piece in first:
            connection.sendall(piece)
            if self._pause:
                time.sleep(self._pause)
        exchange.answered = time.perf_counter()
        connection.sendall(last)


@contextmanager
def model_server() -> Generator[ModelServer]:
    server = ModelServer()
    try:
        yield server
    finally:
        server.close()


def _receive(connection: socket.socket) -> Exchange | None:
    """None when the client has gone."""
    data, whole = bytearray(), 0
    while not whole or len(data) < whole:
        if not (piece := connection.recv(_READ_BYTES)):
            return None
        data += piece
        if not whole and (end := data.find(b"\r\n\r\n")) >= 0:
            length = _LENGTH.search(data, 0, end)
            whole = end + 4 + (int(length[1]) if length else 0)
    return Exchange(time.perf_counter(), bytes(data[-1000:]))


def answer(spoken: Spoken, events_per_write: int = 1000) -> Answer:
    return chunked(stream(_ASKED, spoken), events_per_write)


def chunked(events: Iterable[bytes], events_per_write: int) -> Answer:
    """Every event is an HTTP chunk of its own, as servers send them."""
    chunks = [b"%x\r\n%b\r\n" % (len(event), event) for event in events]
    writes = [b"".join(chunks[at : at + events_per_write]) for at in range(0, len(chunks), events_per_write)]
    writes[0] = _HEAD + writes[0]
    writes[-1] += b"0\r\n\r\n"
    return writes
