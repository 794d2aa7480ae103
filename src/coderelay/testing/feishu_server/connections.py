"""The platform's end of long connections: events go out in frames, and the answers come back in the same frames.

A frame is a protocol buffer, written and read by hand.
"""

import asyncio
import base64
import json
import random
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from typing import Any

from msgspec import Struct

CONTROL, DATA = 0, 1
_VARINT, _BYTES = 0, 2


class PlatformFrame(Struct):
    """`method` is CONTROL or DATA; `payload` of a data frame is JSON."""

    method: int
    headers: dict[str, str]
    payload: bytes = b""
    seq: int = 0
    log: int = 0
    service: int = 1

    def encode(self) -> bytes:
        numbers = ((1, self.seq), (2, self.log), (3, self.service), (4, self.method))
        headers = [_field(1, key.encode()) + _field(2, value.encode()) for key, value in self.headers.items()]
        return (
            b"".join(_tag(number, _VARINT) + _varint(value) for number, value in numbers)
            + b"".join(_field(5, each) for each in headers)
            + _field(8, self.payload)
        )


def decode_frame(data: bytes) -> PlatformFrame:
    frame = PlatformFrame(CONTROL, {})
    for number, value in _fields(data):
        match number, value:
            case 4, int():
                frame.method = value
            case 5, bytes():
                pair = dict(_fields(value))
                key, text = pair.get(1, b""), pair.get(2, b"")
                assert isinstance(key, bytes)
                assert isinstance(text, bytes)
                frame.headers[key.decode()] = text.decode()
            case 8, bytes():
                frame.payload = value
            case _:
                pass
    return frame


def _tag(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _field(number: int, value: bytes) -> bytes:
    return _tag(number, _BYTES) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        if tag & 7 == _VARINT:
            value, at = _read_varint(data, at)
            yield tag >> 3, value
        elif tag & 7 == _BYTES:
            length, at = _read_varint(data, at)
            yield tag >> 3, data[at : at + length]
            at += length
        else:
            raise ValueError(f"field {tag >> 3} has wire type {tag & 7}")


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


Message = dict[str, Any]
_PART_BYTES = 4096


class ConnectionLost(Exception):
    """The connection ended before an event was answered."""


class EventAnswer(Struct, frozen=True):
    code: int
    data: Any


class ServedLongConnection:
    """One WebSocket. It lives on the server's event loop; `push` is called from other threads."""

    def __init__(self, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]) -> None:
        self._receive = receive
        self._send = send
        self._waiting: dict[str, Future[EventAnswer]] = {}
        self._loop = asyncio.get_running_loop()
        self.pings = 0

    async def serve(self) -> None:
        """Until the client leaves, or the connection is dropped."""
        try:
            while (message := await self._receive())["type"] == "websocket.receive":
                await self._take(decode_frame(message.get("bytes") or b""))
        finally:
            for each in self._waiting.values():
                if not each.done():
                    each.set_exception(ConnectionLost())

    def push(self, message_id: str, event: bytes) -> "Future[EventAnswer]":
        answer: Future[EventAnswer] = Future()
        self._loop.call_soon_threadsafe(self._begin, message_id, event, answer)
        return answer

    def push_raw(self, frame: bytes) -> None:
        """Send these bytes, whatever they are."""
        message = {"type": "websocket.send", "bytes": frame}
        asyncio.run_coroutine_threadsafe(self._send_raw(message), self._loop)

    async def _send_raw(self, message: Message) -> None:
        await self._send(message)

    def drop(self) -> None:
        """Drop the connection without closing it, as when the network fails."""
        transport = getattr(getattr(self._send, "__self__", None), "transport", None)
        self._loop.call_soon_threadsafe(transport.abort if transport is not None else lambda: None)

    def _begin(self, message_id: str, event: bytes, answer: "Future[EventAnswer]") -> None:
        self._waiting[message_id] = answer
        task = self._loop.create_task(self._push(message_id, event))
        task.add_done_callback(lambda done: self._failed(done, answer))

    def _failed(self, done: "asyncio.Task[None]", answer: "Future[EventAnswer]") -> None:
        if (done.cancelled() or done.exception() is not None) and not answer.done():
            answer.set_exception(ConnectionLost())

    async def _push(self, message_id: str, event: bytes) -> None:
        parts = [event[at : at + _PART_BYTES] for at in range(0, len(event), _PART_BYTES)]
        for number, part in enumerate(parts):
            headers = {
                "type": "event",
                "message_id": message_id,
                "trace_id": f"trace-{message_id}",
                "sum": str(len(parts)),
                "seq": str(number),
            }
            await self._send({"type": "websocket.send", "bytes": PlatformFrame(DATA, headers, part).encode()})

    async def _take(self, frame: PlatformFrame) -> None:
        if frame.method == CONTROL:
            self.pings += 1
            config = {"ReconnectCount": -1, "ReconnectInterval": 1, "ReconnectNonce": 0, "PingInterval": 5}
            pong = PlatformFrame(CONTROL, {"type": "pong"}, json.dumps(config).encode())
            await self._send({"type": "websocket.send", "bytes": pong.encode()})
            return
        waiting = self._waiting.pop(frame.headers.get("message_id", ""), None)
        if waiting is not None and not waiting.done():
            answer = json.loads(frame.payload)
            data = answer.get("data")
            waiting.set_result(EventAnswer(answer["code"], json.loads(base64.b64decode(data)) if data else None))


class Connections:
    """All long connections of the app. An event goes to one of them, at random."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._open: list[ServedLongConnection] = []
        self.opened = 0

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: ServedLongConnection) -> None:
        with self.changed:
            self._open.append(connection)
            self.opened += 1
            self.changed.notify_all()

    def remove(self, connection: ServedLongConnection) -> None:
        with self.changed:
            self._open.remove(connection)
            self.changed.notify_all()

    def any(self, seconds: float) -> ServedLongConnection:
        with self.changed:
            assert self.changed.wait_for(lambda: self._open, seconds), "no bot is connected"
            return random.choice(self._open)

    def wait(self, count: int, seconds: float) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self._open) >= count, seconds), f"{len(self._open)} connections"

    def drop(self, seconds: float = 60.0) -> None:
        """Drop all connections, as soon as there is one."""
        with self.changed:
            assert self.changed.wait_for(lambda: self._open, seconds), "no bot is connected"
            self.drop_all()

    def drop_all(self) -> None:
        with self.changed:
            for each in self._open:
                each.drop()
