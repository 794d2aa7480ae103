"""`coder acp --listen`: clients connect with a WebSocket. They speak ACP, or the dialect of iFlow."""

import ipaddress
import os
from collections.abc import Awaitable
from http import HTTPStatus
from urllib.parse import urlsplit

from msgspec import Struct
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from coderelay.acp.request_params import Initialize
from coderelay.client.client import Client
from coderelay.protocol.asks import By
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import new_id
from coderelay.protocol.translatable import say
from coderelay.surfaces.editor.acp_dialect_base import Dialect
from coderelay.surfaces.editor.acp_methods import AcpMethods
from coderelay.surfaces.editor.iflow_dialect import IflowDialect, is_iflow, joined_chunks
from coderelay.surfaces.editor.websocket_transport import WebSocketTransport
from coderelay.surfaces.local_listener import Listening, listen
from coderelay.wire.transport import MOST_BYTES

_PORT = 8090
_PATH = "/acp"
_MOST_FRAME_BYTES = MOST_BYTES + (1 << 20)  # what is only a little too large can be answered
_SILENCE_SECONDS = 0.05
_PAUSE_SECONDS = 0.002
_NOBODY = -1


class Endpoint(Struct, frozen=True):
    """What is asked for at another path is not found."""

    listening: Listening
    path: str

    @property
    def url(self) -> str:
        return self.listening.url.replace("http:", "ws:", 1) + self.path


def listen_at(url: str) -> Endpoint:
    """Listen at the address of `--listen`. Without a port, it is 8090 or the next that is free; without a path, /acp.
    Raises BadInput and CannotRun."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _wrong(url) from error
    if not host or parts.scheme != "ws" or parts.username is not None or parts.query or parts.fragment:
        raise _wrong(url)
    return Endpoint(listen(host, port, _PORT), parts.path if parts.path not in ("", "/") else _PATH)


def _wrong(url: str) -> BadInput:
    return BadInput(say("--listen needs an address like ws://127.0.0.1:8090/acp, not {url}", url=repr(url)))


async def serve_clients(client: Client, by: By, endpoint: Endpoint, until: Awaitable[object]) -> None:
    """Answer every client until it leaves. Returns when `until` is done; sessions are left as they are."""

    async def answer(socket: ServerConnection) -> None:
        transport = WebSocketTransport(
            socket, silence=_SILENCE_SECONDS, pause=_pause(socket.request), join=joined_chunks
        )

        def dialect(initialized: Initialize) -> Dialect:
            waited = transport.was_told_ready and is_iflow(initialized)
            return IflowDialect(initialized) if waited else Dialect(initialized)

        await AcpMethods(client, by, transport, dialect).serve()

    def check(socket: ServerConnection, request: Request) -> Response | None:
        problem = _why_refused(socket, request, endpoint)
        return None if problem is None else socket.respond(problem, f"{problem.phrase}\n")

    def identify(socket: ServerConnection, request: Request, response: Response) -> None:
        response.headers["Acp-Connection-Id"] = new_id()

    async with serve(
        answer,
        sock=endpoint.listening.socket,
        process_request=check,
        process_response=identify,
        compression=None,
        max_size=_MOST_FRAME_BYTES,
        ping_interval=None,
        server_header=None,
    ):
        await until


def _pause(request: Request | None) -> float:
    """The client of npm, which says nothing about itself, loses all frames but one of those that arrive together, so
    it gets them one by one."""
    return 0.0 if request is not None and "User-Agent" in request.headers else _PAUSE_SECONDS


def _why_refused(socket: ServerConnection, request: Request, endpoint: Endpoint) -> HTTPStatus | None:
    """Browsers always name an Origin, so that no page can connect. Programs of other people on this machine are
    refused where the system says whose they are."""
    if request.path.partition("?")[0] != endpoint.path:
        return HTTPStatus.NOT_FOUND
    hosts = request.headers.get_all("Host")
    if "Origin" in request.headers or len(hosts) != 1 or not _names_this_machine(hosts[0]):
        return HTTPStatus.FORBIDDEN
    user = _user_of(socket)
    return None if user in (None, 0, os.getuid()) else HTTPStatus.FORBIDDEN


def _names_this_machine(host: str) -> bool:
    name = host.rpartition(":")[0] or host
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _user_of(socket: ServerConnection) -> int | None:
    """The user who runs the program at the other end; None if the system has no table of connections."""
    (host, port, *_), (_, own_port, *_) = socket.remote_address, socket.local_address
    packed = ipaddress.ip_address(host).packed
    mapped = b"" if len(packed) > 4 else b"\0" * 10 + b"\xff\xff" + packed  # how a socket for IPv6 has it
    theirs, ours = {_in_table(each, port) for each in (packed, mapped)}, f":{own_port:04x}"
    rows = [row for name in ("tcp", "tcp6") for row in _table(name)]
    found = (row for row in rows if row[1] in theirs and row[2].endswith(ours))
    return next((int(row[7]) for row in found), _NOBODY) if rows else None


def _in_table(packed: bytes, port: int) -> str:
    """An address as the table has it: in words of four bytes, each turned round."""
    words = [packed[place : place + 4][::-1].hex() for place in range(0, len(packed), 4)]
    return f"{''.join(words)}:{port:04x}"


def _table(name: str) -> list[list[str]]:
    try:
        with open(f"/proc/net/{name}") as table:
            return [row for line in table if len(row := line.lower().split()) > 7]
    except OSError:
        return []
