"""The interface of transports, which carry messages to another program and back."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

MOST_BYTES = 32 * 1024 * 1024
"""The size limit of one message that arrives. It is high because images travel in messages."""
CLOSED = "closed the connection"
Exchange = asyncio.Future[None]
"""A message that has a connection of its own. It is done when nothing more can arrive on that connection, and raises
what went wrong with it. Whoever does not want the answer any more cancels it."""


class Oversized(Struct, frozen=True):
    """A message that was too large. It was skipped, and the next one can be received."""


Take = Callable[[bytes | Oversized], None]
"""Called with each message that arrives, one JSON text each."""


class Transport(Protocol):
    async def deliver(self, take: Take) -> str:
        """Hand over every message until nothing will arrive any more. Returns why, as the end of a sentence about the
        other program."""
        ...

    def send(self, message: bytes) -> Exchange | None:
        """Send a message after all that were sent before. It does not block, and what nobody can read any more is
        discarded. None if all messages share one connection."""
        ...

    async def drained(self) -> None:
        """Wait until the other program has read most of what was sent."""
        ...

    async def close(self) -> None:
        """Wait a moment until everything is sent, and end."""
        ...
