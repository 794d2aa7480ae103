"""A web server and its clients: what it costs to give each event to all of them.

    python bench/processes/fan_out.py ours|floor|batched CLIENTS FILE

A script of its own, never imported. `ours` is the event broadcast behind our guard, fed with live pieces of one
session; `floor` is bare Starlette on the same uvicorn, which encodes the same event once and sends it to each client
in turn; `batched` is ours with clients that take arrays of events. The clients are plain sockets of another process
that only count bytes. Writes what the server used to the file.
"""

import asyncio
import base64
import json
import os
import selectors
import socket
import sys
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from coderelay.client.client import NO_CAPABILITIES, Lent
from coderelay.protocol.asks import By
from coderelay.protocol.events import Recorded
from coderelay.protocol.ids import MessageId, SessionId
from coderelay.protocol.key_value_store import KeyValueStore
from coderelay.protocol.live_updates import Live, TextDelta
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ListAsks, ListSessions
from coderelay.surfaces.local_listener import listen
from coderelay.surfaces.web.all_sessions_broadcast import BroadcastOptions, EventBroadcast
from coderelay.surfaces.web.client_request_handler import ClientRequestHandler
from coderelay.surfaces.web.outgoing_event_json import event_text
from coderelay.surfaces.web.routes import routes
from coderelay.surfaces.web.token_and_login_links import Token
from coderelay.surfaces.web.uvicorn_server import serve

SESSION = SessionId("11111111-2222-4333-8444-555555555555")
TOKEN = "a-token-for-the-bench-that-nobody-guesses"
PIECE = "some words "
DELIVERIES = 60_000
PER_SECOND = 2000
"""Events a second: as fast as twenty models, and slow enough that nobody lags."""


class Feed:
    """A client of one session, which says a word whenever it is told to."""

    capabilities = NO_CAPABILITIES
    language = ""

    def __init__(self) -> None:
        self.pieces: asyncio.Queue[Live] = asyncio.Queue()

    async def get(self, query: object) -> Any:
        if isinstance(query, ListAsks):
            return []
        shown = Summary(SESSION, "/shop", "native", "model", "default", 0, 0, title="t", head=1, turn_open=True)
        return [shown] if isinstance(query, ListSessions) else shown

    async def send(self, command: object) -> Any:
        """The server opens the session, because its turn is open."""

    def lend(self, session: SessionId, lent: Lent) -> Callable[[], None]:
        raise NotImplementedError

    def key_value_store(self, name: str) -> KeyValueStore:
        raise NotImplementedError

    async def follow(self, session: SessionId, after: int = 0) -> AsyncGenerator[Recorded | Live, None]:
        raise AssertionError("nobody follows one session here")
        yield

    async def follow_all(
        self, after: Mapping[SessionId, int] | None = None
    ) -> AsyncGenerator[tuple[SessionId, Recorded | Live], None]:
        while True:
            yield SESSION, await self.pieces.get()


async def ours(clients: int, *, batched: bool) -> dict[str, float]:
    feed, stopped, ready = Feed(), asyncio.Event(), asyncio.Event()
    by, options = By(who="bench", via="web"), BroadcastOptions(cwd="/")
    broadcast = EventBroadcast(feed, by, options)
    await broadcast.start()
    listening, token = listen("127.0.0.1", 0), Token(TOKEN)
    app = routes(feed, ClientRequestHandler(feed, by, options, broadcast), token, ("/",), listening.url, "/")
    server = asyncio.create_task(serve(app, listening, token, until=stopped.wait(), ready=ready.set))
    await ready.wait()
    took = await _measure(listening.port, clients, feed.pieces, lambda: len(broadcast.connections), batched=batched)
    stopped.set()
    await broadcast.close()
    await server
    return took


async def floor(clients: int) -> dict[str, float]:
    connected: list[WebSocket] = []
    pieces: asyncio.Queue[Live] = asyncio.Queue()

    async def events(socket: WebSocket) -> None:
        await socket.accept()
        connected.append(socket)
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass

    async def send() -> None:
        while True:
            piece = await pieces.get()
            message = {"type": "stream_event", "event": {"delta": {"type": "text_delta", "text": piece.text}}}
            text = event_text("stream.message", {"sessionId": SESSION, "message": message, "pad": "x" * 110})
            for each in connected:
                await each.send_text(text)

    listening = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        Starlette(routes=[WebSocketRoute("/events", events)]),
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        log_level="error",
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listening.socket]))
    sending = asyncio.create_task(send())
    took = await _measure(listening.port, clients, pieces, lambda: len(connected), batched=False)
    sending.cancel()
    server.should_exit = True
    await serving
    return took


async def _measure(
    port: int, clients: int, pieces: "asyncio.Queue[Live]", connected: Any, *, batched: bool
) -> dict[str, float]:
    count = min(3000, max(200, DELIVERIES // clients))
    counter = await asyncio.create_subprocess_exec(
        sys.executable, __file__, "count", str(port), str(clients), str(count), "batched" if batched else "each"
    )
    while connected() < clients:  # noqa: ASYNC110  # two kinds of servers, and neither tells
        await asyncio.sleep(0.05)
    cpu = time.process_time()
    for number in range(count):
        pieces.put_nowait(TextDelta(MessageId("m"), PIECE))
        if number % 20 == 19:
            await asyncio.sleep(20 / PER_SECOND)
    code = await counter.wait()
    used = time.process_time() - cpu
    return {"us": used / (count * clients) * 1e6, "code": code, "events": count}


def count(port: int, clients: int, events: int, batched: bool) -> None:
    """Connect, and read until each client has all events."""
    selector = selectors.DefaultSelector()
    left: dict[socket.socket, int] = {}
    for _ in range(clients):
        connection = _handshake(port, batched=batched)
        left[connection] = events
        selector.register(connection, selectors.EVENT_READ)
    mark = PIECE.encode()
    tails: dict[socket.socket, bytes] = dict.fromkeys(left, b"")
    while any(each > 0 for each in left.values()):
        for key, _ in selector.select(timeout=30):
            connection = key.fileobj
            assert isinstance(connection, socket.socket)
            data = tails[connection] + connection.recv(262_144)
            left[connection] -= data.count(mark)
            tails[connection] = data[-(len(mark) - 1) :] if not data.endswith(mark) else b""


def _handshake(port: int, *, batched: bool) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    protocol = "coder.v1.batch" if batched else "coder.v1"
    lines = [
        "GET /events HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Protocol: {protocol}, bearer.{TOKEN}",
    ]
    connection.sendall("\r\n".join([*lines, "", ""]).encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        answer += connection.recv(1)
    assert b" 101 " in answer, answer
    return connection


def main() -> None:
    kind, *rest = sys.argv[1:]
    if kind == "count":
        port, clients, events, form = rest
        count(int(port), int(clients), int(events), form == "batched")
        return
    clients, file = int(rest[0]), Path(rest[1])
    took = asyncio.run(floor(clients) if kind == "floor" else ours(clients, batched=kind == "batched"))
    file.write_text(json.dumps(took))


if __name__ == "__main__":
    main()
