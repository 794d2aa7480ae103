"""The web server: listens on a loopback address, and runs until it is told to stop."""

import asyncio
import errno
import ipaddress
import logging
import socket
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

import uvicorn
from msgspec import Struct
from starlette.types import ASGIApp

from coderelay.protocol.errors import BadInput, CannotRun
from coderelay.protocol.translatable import say
from coderelay.surfaces.web.guard import Guard, addresses_of
from coderelay.surfaces.web.routes import OPEN_PATHS
from coderelay.surfaces.web.server_connection import HttpConnection, WebSocketConnection
from coderelay.surfaces.web.token import Token

PORT = 8787
_PORTS_TRIED = 100
_BACKLOG = 128
_MOST_HEADER_BYTES = 32 * 1024
_MOST_FRAME_BYTES = 16 * 1024 * 1024  # more than the contract allows: what is above its own limit can be answered
_CLOSE_SECONDS = 1.0
_SHUTDOWN_SECONDS = 3


class Listening(Struct, frozen=True):
    """A socket that listens, with the address that it listens at."""

    socket: socket.socket
    address: str
    port: int

    @property
    def url(self) -> str:
        return f"http://{f'[{self.address}]' if ':' in self.address else self.address}:{self.port}"


def listen(host: str, port: int | None, preferred: int = PORT) -> Listening:
    """Listen at `port`; without one, at the preferred port or the next that is free. Raises BadInput if the host is
    not this machine alone, and CannotRun if the port is taken."""
    address = _loopback(host)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    tried = [port] if port is not None else [*range(preferred, min(preferred + _PORTS_TRIED, 65536)), 0]
    problem: OSError | None = None
    for each in tried:
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((address, each))
            listening.listen(_BACKLOG)
        except OSError as error:
            listening.close()
            problem = error
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                break
        else:
            listening.setblocking(False)
            return Listening(listening, address, listening.getsockname()[1])
    why = problem.strerror if problem is not None else ""
    raise CannotRun(
        say("cannot listen at {address} port {port}: {why}", address=address, port=tried[0], why=why),
        "Choose another port with --port, or leave it out: then coder takes a free one.",
    )


def _loopback(host: str) -> str:
    if host == "localhost":
        return "127.0.0.1"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise BadInput(
            say("--host must be an address of this machine, not {host}", host=repr(host)),
            "Use 127.0.0.1, ::1 or localhost.",
        ) from None
    if not address.is_loopback or str(address) != host:
        raise BadInput(
            say("coder web listens only on this machine (127.0.0.1, ::1 or localhost), not at {host}", host=host),
            "Without TLS and accounts, everybody on the network could run commands as you. From another machine, "
            "use a tunnel: ssh -L 8787:127.0.0.1:8787 THIS-MACHINE",
        )
    return host


async def serve(
    app: ASGIApp,
    listening: Listening,
    token: Token,
    *,
    until: Awaitable[object],
    ready: Callable[[], None] = lambda: None,
    dev_port: int | None = None,
    connection: type[HttpConnection] = HttpConnection,
) -> None:
    """Serve the app behind the guard. Returns when `until` is done and the connections are closed."""
    guarded = Guard(app, addresses_of(listening.address, listening.port, dev_port), token, OPEN_PATHS)
    config = uvicorn.Config(
        guarded,
        http=connection,
        ws=WebSocketConnection,
        ws_per_message_deflate=False,
        ws_max_size=_MOST_FRAME_BYTES,
        loop="asyncio",
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        h11_max_incomplete_event_size=_MOST_HEADER_BYTES,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        backlog=_BACKLOG,
    )
    await _Server(config, until, ready).serve(sockets=[listening.socket])


class _Server(uvicorn.Server):
    """Waits for one event where uvicorn would look ten times a second whether it should stop, and leaves signals to
    the command line."""

    def __init__(self, config: uvicorn.Config, until: Awaitable[object], ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._until = until
        self._ready = ready

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def main_loop(self) -> None:
        self._ready()
        await self._until

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Give the clients a second to read what is on its way. What uvicorn would log of those that do not is of no
        use to anybody."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        patience = asyncio.get_running_loop().call_later(_CLOSE_SECONDS, self._abort)
        try:
            await super().shutdown(sockets)
        finally:
            patience.cancel()

    def _abort(self) -> None:
        for each in [*self.server_state.connections]:
            each.transport.abort()
        for task in self.server_state.tasks:
            task.cancel()
