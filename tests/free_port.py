"""A port for a program that must be told one."""

import random
import socket
from contextlib import suppress


def free_port() -> int:
    """One that the system gives to nobody else meanwhile, as it does with those that it chooses itself."""
    while True:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port
