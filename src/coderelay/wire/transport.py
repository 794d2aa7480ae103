"""The interface of transports, which carry messages to another program and back."""

from typing import Protocol

from msgspec import Struct

MOST_BYTES = 32 * 1024 * 1024
"""The size limit of one message that arrives. It is high because images travel in messages."""


class Oversized(Struct, frozen=True):
    """A message that was too large. It was skipped, and the next one can be received."""


class Transport(Protocol):
    async def receive(self) -> bytes | Oversized | None:
        """The next message, one JSON text; None when nothing will arrive any more."""
        ...

    def send(self, message: bytes) -> None:
        """Send a message after all that were sent before. It does not block, and what nobody can read any more is
        discarded."""
        ...

    async def drained(self) -> None:
        """Wait until the other program has read most of what was sent."""
        ...

    async def close(self) -> None:
        """Wait a moment until everything is sent, and end."""
        ...
