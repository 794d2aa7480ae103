"""A machine on which no local model server listens, whatever runs on the developer's own."""

import socket
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from coderelay.models.local.running_servers import PROVIDERS


@contextmanager
def nobody_listens() -> Generator[dict[str, str]]:
    """By provider, an address where connections are refused, for as long as this lasts."""
    with ExitStack() as stack:
        taken = [stack.enter_context(socket.socket()) for _ in PROVIDERS]
        for each in taken:
            each.bind(("127.0.0.1", 0))  # and never listens
        ports = [each.getsockname()[1] for each in taken]
        yield {name: f"http://127.0.0.1:{port}/v1" for name, port in zip(PROVIDERS, ports, strict=True)}
