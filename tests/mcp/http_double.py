"""An MCP server at an address, that says what a test wants it to."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from tests.models.raw_server import RawConnection, RawServer, raw_server

Json = dict[str, Any]
Say = Callable[[Json], bytes]


class HttpDouble:
    def __init__(self) -> None:
        self.server: RawServer
        self.session = "first"
        self.tools = ["echo", "hang", "break"]
        self.heads: list[dict[str, str]] = []
        self.bodies: list[Json] = []
        self.call_headers = ""  # instead of an answer to a call
        self.listens = False
        self._listener: asyncio.Future[RawConnection] = asyncio.get_running_loop().create_future()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.port}/mcp?team=a"

    @property
    def methods(self) -> list[str]:
        return [body["method"] for body in self.bodies if "method" in body]

    async def tell(self, **message: Any) -> None:
        """Something that nobody asked for, where the client listens for it."""
        await (await self._listener).send(event({"jsonrpc": "2.0", **message}))

    async def talk(self, connection: RawConnection) -> None:
        while request := await connection.request():
            head, _, body = request.partition(b"\r\n\r\n")
            lines = head.decode().split("\r\n")
            self.heads.append(dict(line.lower().split(": ", 1) for line in lines[1:]) | {"": lines[0]})
            if lines[0].startswith("GET"):
                await self._listen(connection)
            else:
                self.bodies.append(json.loads(body))
                await self._answer(connection, self.bodies[-1], self.heads[-1])

    async def _listen(self, connection: RawConnection) -> None:
        if not self.listens:
            await connection.send(b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n")
            return
        await connection.send(STREAM)
        self._listener.set_result(connection)
        await connection.left()

    async def _answer(self, connection: RawConnection, body: Json, head: dict[str, str]) -> None:
        method = body.get("method", "")
        if method != "initialize" and head.get("mcp-session-id") != self.session:
            await connection.send(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
        elif "id" not in body or not method:
            await connection.send(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")
        elif method == "initialize":
            greeting: Json = {"protocolVersion": body["params"]["protocolVersion"], "capabilities": {"tools": {}}}
            await connection.send(plain(result(body, greeting), f"mcp-session-id: {self.session}\r\n"))
        elif method == "tools/list":
            await connection.send(
                STREAM + event(result(body, {"tools": [{"name": name} for name in self.tools]})) + END
            )
        elif method == "tools/call":
            await self._call(connection, body)
        else:
            await connection.send(plain(result(body, {})))

    async def _call(self, connection: RawConnection, body: Json) -> None:
        if self.call_headers:
            await connection.send(self.call_headers.encode())
        elif body["params"]["name"] == "hang":
            await connection.left()
        elif body["params"]["name"] == "break":
            await connection.send(STREAM + END)
        else:
            text = {"type": "text", "text": json.dumps(body["params"]["arguments"])}
            whole = event(result(body, {"content": [text]}), lines=True)
            await connection.send(STREAM + event({"jsonrpc": "2.0", "method": "notifications/message"}) + whole + END)


STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def result(body: Json, value: Json) -> Json:
    return {"jsonrpc": "2.0", "id": body["id"], "result": value}


def plain(message: Json, headers: str = "") -> bytes:
    data = json.dumps(message).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{headers}content-length: {len(data)}\r\n\r\n"
    return head.encode() + data


def event(message: Json, *, lines: bool = False) -> bytes:
    """As one chunk. With `lines`, the data is spread over several of them."""
    text = json.dumps(message, indent=1 if lines else None)
    data = b": a comment\r\nevent: message\r\n" + "".join(f"data: {line}\r\n" for line in text.split("\n")).encode()
    return f"{len(data) + 2:x}\r\n".encode() + data + b"\r\n\r\n"


@asynccontextmanager
async def http_double() -> AsyncGenerator[HttpDouble]:
    double = HttpDouble()
    async with raw_server(double.talk) as server:
        double.server = server
        yield double
