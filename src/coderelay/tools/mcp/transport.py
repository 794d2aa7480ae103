"""The contract of what carries messages to a server and back."""

from collections.abc import Callable
from typing import Protocol

MOST_BYTES = 16 * 1024 * 1024
"""Of one message: pictures travel in them."""

Hear = Callable[[bytes], None]
"""Told each message that arrives, one JSON text each."""

Lose = Callable[[str], None]
"""Told once why nothing will arrive any more; the text is the `what` of a ServerFailed."""


class Line(Protocol):
    async def open(self, hear: Hear, lose: Lose) -> None:
        """Raises ServerFailed."""
        ...

    async def send(self, message: bytes) -> bool:
        """False if nothing will be heard any more in answer to it. Raises ServerFailed."""
        ...

    def settle(self, version: str) -> None:
        """Both sides have agreed on a version of the protocol."""
        ...

    @property
    def last_words(self) -> str:
        """What the server said besides messages, as much as helps to understand why it failed."""
        ...

    async def close(self) -> None:
        """When this returns, nothing of the server is left that this line started."""
        ...
