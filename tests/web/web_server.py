"""The web server in this process, on a real socket and a real log, with a broadcast that sends back what it hears."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct
from starlette.websockets import WebSocket, WebSocketDisconnect

from coderelay.client.client import NO_CAPABILITIES
from coderelay.surfaces.local_listener import Listening, listen
from coderelay.surfaces.web.routes import routes
from coderelay.surfaces.web.token_and_login_links import Token
from coderelay.surfaces.web.uvicorn_server import HttpConnection, serve
from tests.house import InHouse, house
from tests.model_server import Script, script
from tests.patience import PATIENCE

SECRET = "the-right-token-of-these-tests"
UPGRADE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-version": "13",
}


class Answer(Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Echo:
    async def serve_client(self, websocket: WebSocket, *, batched: bool) -> None:
        with suppress(WebSocketDisconnect):
            await websocket.send_text(f"batched={batched}")
            while True:
                await websocket.send_text(await websocket.receive_text())


class Served:
    """`token` gives links away as the command line does."""

    def __init__(self, listening: Listening, token: Token, coder: InHouse) -> None:
        self.port = listening.port
        self.address = f"127.0.0.1:{listening.port}"
        self.token = token
        self.coder = coder

    async def get(self, path: str, *, method: str = "GET", token: str | None = SECRET, **headers: str) -> Answer:
        return await self.send(self.head(method, path, token, headers))

    async def post(self, path: str, body: object, *, token: str | None = SECRET, **headers: str) -> Answer:
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        whole = {"content-type": "application/json", "content-length": str(len(text))} | _named(headers)
        return await self.send(self.head("POST", path, token, whole) + text)

    def head(
        self, method: str, path: str, token: str | None = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        """The beginning of a request, with the right Host if the headers have no other. An empty header is left
        out."""
        lines = {"host": self.address, "connection": "close"} | _named(headers or {})
        if token is not None:
            lines.setdefault("authorization", f"Bearer {token}")
        told = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)
        return f"{method} {path} HTTP/1.1\r\n{told}\r\n".encode("latin-1")

    async def send(self, data: bytes) -> Answer:
        """Send exactly these bytes on a connection of their own, and read until it is closed."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(data)
            async with asyncio.timeout(PATIENCE):
                return parsed(await reader.read())
        finally:
            writer.close()

    async def handshake(self, path: str = "/events", *, offered: str = "", token: str = "", **headers: str) -> Answer:
        """Ask for a WebSocket, and read until the connection is closed, so only one that is refused."""
        wanted = UPGRADE | {"sec-websocket-protocol": offered} | _named(headers)
        return await self.send(self.head("GET", path, token or None, wanted))


def parsed(data: bytes) -> Answer:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    assert first.startswith("HTTP/1.1 "), data
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Answer(int(first.split()[1]), headers, body)


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@asynccontextmanager
async def web_server(
    root: Path,
    model: Script | None = None,
    *,
    connection: type[HttpConnection] = HttpConnection,
    dev_port: int | None = None,
    host: str = "127.0.0.1",
) -> AsyncGenerator[Served]:
    listening = listen(host, 0)
    token = Token(SECRET)
    async with house(root, model or script()) as coder:
        client = coder.host.connect(NO_CAPABILITIES)
        app = routes(client, Echo(), token, (str(root / "work"),), listening.url, str(root / "work"))
        ready, stopped = asyncio.Event(), asyncio.Event()
        serving = asyncio.create_task(
            serve(
                app,
                listening,
                token,
                until=stopped.wait(),
                ready=ready.set,
                dev_port=dev_port,
                connection=connection,
            )
        )
        try:
            await ready.wait()
            yield Served(listening, token, coder)
        finally:
            stopped.set()
            await serving
