"""Parses the address of `coder acp --listen`, and listens there."""

from urllib.parse import urlsplit

from coderelay.protocol.errors import BadInput
from coderelay.protocol.translatable import say
from coderelay.surfaces.editor.websocket_server import PATH, PORT, Endpoint
from coderelay.surfaces.local_listener import listen


def listen_at(url: str) -> Endpoint:
    """Without a port, it is 8090 or the next that is free; without a path, /acp. Raises BadInput and CannotRun."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _wrong(url) from error
    if not host or parts.scheme != "ws" or parts.username is not None or parts.query or parts.fragment:
        raise _wrong(url)
    return Endpoint(listen(host, port, PORT), parts.path if parts.path not in ("", "/") else PATH)


def _wrong(url: str) -> BadInput:
    return BadInput(say("--listen needs an address like ws://127.0.0.1:8090/acp, not {url}", url=repr(url)))
