"""The interface of MCP transports, which carry messages to a server and back, and their errors."""

from typing import Protocol

from coderelay.wire.transport import Transport

MOST_BYTES = 16 * 1024 * 1024
"""The size limit of one message. It is high because images travel in messages."""


class ServerTransport(Transport, Protocol):
    """An exchange raises ServerFailed. When `close` returns, nothing of the server that this transport started is
    left."""

    async def open(self) -> None:
        """Raises ServerFailed."""
        ...

    def settle(self, version: str) -> None:
        """Called when both sides have agreed on a version of the protocol."""
        ...

    @property
    def last_words(self) -> str:
        """What the server wrote besides messages, as much as helps to understand why it failed."""
        ...
