"""A transport whose messages somebody else sees too, exactly as they are sent and received."""

from collections.abc import Callable
from typing import Literal

from coderelay.wire.transport import Exchange, Oversized, Take, Transport

Tap = Callable[[Literal["sent", "received"], bytes], None]
"""Called with each message in the order in which they pass, before anybody else does anything with it."""


class TappedTransport:
    def __init__(self, transport: Transport, tap: Tap) -> None:
        self._transport = transport
        self._tap = tap

    async def deliver(self, take: Take) -> str:
        def take_and_tell(message: bytes | Oversized) -> None:
            if not isinstance(message, Oversized):
                self._tap("received", message)
            take(message)

        return await self._transport.deliver(take_and_tell)

    def send(self, message: bytes) -> Exchange | None:
        self._tap("sent", message)
        return self._transport.send(message)

    async def drained(self) -> None:
        await self._transport.drained()

    async def close(self) -> None:
        await self._transport.close()
