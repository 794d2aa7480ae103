"""Sockets that listen on this machine alone."""

import errno
import ipaddress
import socket

from msgspec import Struct

from coderelay.protocol.errors import BadInput, CannotRun
from coderelay.protocol.translatable import say

WEB_PORT = 8787
_PORTS_TRIED = 100
_BACKLOG = 128


class Listening(Struct, frozen=True):
    """A socket that listens, with the address that it listens at."""

    socket: socket.socket
    address: str
    port: int

    @property
    def url(self) -> str:
        return f"http://{f'[{self.address}]' if ':' in self.address else self.address}:{self.port}"


def listen(host: str, port: int | None, preferred: int = WEB_PORT) -> Listening:
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
        "Choose another port, or leave it out: then coder takes a free one.",
    )


def _loopback(host: str) -> str:
    if host == "localhost":
        return "127.0.0.1"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise BadInput(
            say("the host must be an address of this machine, not {host}", host=repr(host)),
            "Use 127.0.0.1, ::1 or localhost.",
        ) from None
    if not address.is_loopback or str(address) != host:
        raise BadInput(
            say("coder listens only on this machine (127.0.0.1, ::1 or localhost), not at {host}", host=host),
            "Without TLS and accounts, everybody on the network could run commands as you. From another machine, "
            "use a tunnel: ssh -L 8787:127.0.0.1:8787 THIS-MACHINE",
        )
    return host
