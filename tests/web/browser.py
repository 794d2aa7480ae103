"""A web client on a real socket, and a whole product behind it.

async with web(tmp_path, script(says("hello"))) as site, site.client() as page:
    await page.send("session.start", title="t", prompt="hi", cwd=str(site.folder))
    assert await page.until("session.status", status="completed")
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import websockets
from msgspec import Struct
from websockets.typing import Subprotocol

from coderelay.client.client import NO_CAPABILITIES, Capabilities
from coderelay.host.host import Host
from coderelay.protocol.asks import By
from coderelay.surfaces.local_listener import listen
from coderelay.surfaces.web.all_sessions_broadcast import BroadcastOptions, EventBroadcast
from coderelay.surfaces.web.client_request_handler import ClientRequestHandler
from coderelay.surfaces.web.routes import routes
from coderelay.surfaces.web.token_and_login_links import Token
from coderelay.surfaces.web.uvicorn_server import serve
from tests.house import InHouse, house
from tests.model_server import Script
from tests.patience import PATIENCE

TOKEN = "a-token-for-tests-that-nobody-guesses"
BROWSER = By(who="tester", via="web")
Event = dict[str, Any]


class Page:
    """One client. `seen` is all that it was sent."""

    def __init__(self, socket: websockets.ClientConnection) -> None:
        self._socket = socket
        self.seen: list[Event] = []
        self._next = 0

    async def send(self, kind: str, **payload: object) -> None:
        await self.send_text(json.dumps({"type": kind, "payload": payload}))

    async def send_text(self, text: str | bytes) -> None:
        await self._socket.send(text)

    async def next(self) -> Event:
        """The next event."""
        if self._next == len(self.seen):
            async with asyncio.timeout(PATIENCE):
                read = json.loads(await self._socket.recv())
            self.seen += read if isinstance(read, list) else [read]
        self._next += 1
        return self.seen[self._next - 1]

    async def until(self, kind: str, **fields: object) -> Event:
        """Read on until an event of this type has these fields; returns its payload."""
        while True:
            event = await self.next()
            payload: Event = event["payload"]
            if event["type"] == kind and all(payload.get(name) == value for name, value in fields.items()):
                return payload

    async def ask(self, kind: str, answer: str, **payload: object) -> Event:
        """Send an event and read on until the answer comes."""
        await self.send(kind, **payload)
        return await self.until(answer)

    def story(self, session: str) -> list[str]:
        """What this client was shown of a session, in short."""
        return [line for each in self.seen if (line := _line(each, session)) is not None]

    def kinds(self) -> list[str]:
        return [each["type"] for each in self.seen]


def _line(event: Event, session: str) -> str | None:
    payload = event["payload"]
    if payload.get("sessionId") != session:
        return None
    match event["type"]:
        case "session.status":
            return f"status {payload['status']}"
        case "stream.user_prompt":
            return f"prompt {payload['prompt']}"
        case "stream.message":
            message = payload["message"]
            return None if message["type"] == "stream_event" else f"message {message_name(message)}"
        case "permission.request":
            return f"request {payload['toolName']}"
        case "permission.resolved":
            return f"resolved {payload['behavior']}"
        case kind:
            return kind


def message_name(message: Event) -> str:
    match message["type"]:
        case "assistant":
            return " ".join(["assistant", *(each["type"] for each in message["message"]["content"])])
        case "user":
            return " ".join(["user", *(each["type"] for each in message["message"]["content"])])
        case "user_prompt":
            return f"prompt {message['prompt']}"
        case kind:
            return f"{kind} {message.get('subtype', '')}".rstrip()


class Site:
    """A web server in this process, on the sessions of a house."""

    def __init__(self, inside: InHouse, server: "Serving") -> None:
        self.inside = inside
        self.broadcast = server.broadcast
        self.folder = inside.folder
        self.port = server.port

    @property
    def host(self) -> Host:
        return self.inside.host

    @asynccontextmanager
    async def client(
        self, *, batched: bool = False, also_offered: Sequence[Subprotocol] = (), **options: Any
    ) -> AsyncGenerator[Page]:
        spoken = Subprotocol("coder.v1.batch" if batched else "coder.v1")
        offered = [spoken, Subprotocol(f"bearer.{TOKEN}"), *also_offered]
        url = f"ws://127.0.0.1:{self.port}/events"
        async with websockets.connect(url, max_size=None, subprotocols=offered, **options) as socket:
            yield Page(socket)


@asynccontextmanager
async def web(folder: Path, script: Script, capabilities: Capabilities = NO_CAPABILITIES) -> AsyncGenerator[Site]:
    folder.mkdir(exist_ok=True)
    async with (
        house(folder, script) as inside,
        serving(inside.host, BroadcastOptions(cwd=str(inside.folder)), capabilities) as server,
    ):
        yield Site(inside, server)


class Serving(Struct, frozen=True):
    broadcast: EventBroadcast
    port: int


@asynccontextmanager
async def serving(
    host: Host, options: BroadcastOptions, capabilities: Capabilities = NO_CAPABILITIES
) -> AsyncGenerator[Serving]:
    client = host.connect(capabilities)
    broadcast = EventBroadcast(client, BROWSER, options)
    await broadcast.start()
    listening, token, stopped, ready = listen("127.0.0.1", 0), Token(TOKEN), asyncio.Event(), asyncio.Event()
    requests = ClientRequestHandler(client, BROWSER, options, broadcast)
    app = routes(client, requests, token, (options.cwd,), listening.url, options.cwd)
    server = asyncio.create_task(serve(app, listening, token, until=stopped.wait(), ready=ready.set))
    try:
        await ready.wait()
        yield Serving(broadcast, listening.port)
    finally:
        stopped.set()
        await broadcast.close()
        await server
