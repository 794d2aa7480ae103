"""A connection to the host: the Client that the wiring hands to one surface, with that surface's capabilities."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING

from coderelay.client.client import Capabilities, Lent
from coderelay.protocol.commands import Command, Outcome
from coderelay.protocol.events import Recorded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.key_value_store import KeyValueStore
from coderelay.protocol.live_updates import Live
from coderelay.protocol.queries import Query, Value

if TYPE_CHECKING:
    from coderelay.host.host import Host


class Connection:
    """A Client on a host. Closing the host ends it."""

    def __init__(self, host: "Host", capabilities: Capabilities, language: str) -> None:
        self._host = host
        self.capabilities = capabilities
        self.language = language

    async def send(self, command: Command) -> Outcome:
        return await self._host.send(command, self.capabilities)

    async def get(self, query: Query[Value]) -> Value:
        return await self._host.get(query, self.capabilities)

    async def follow(self, session: SessionId, after: int = 0) -> AsyncGenerator[Recorded | Live, None]:
        async with aclosing(self._host.follow(session, after)) as events:
            async for event in events:
                yield event

    async def follow_all(
        self, after: Mapping[SessionId, int] | None = None
    ) -> AsyncGenerator[tuple[SessionId, Recorded | Live], None]:
        async with aclosing(self._host.follow_all(after)) as events:
            async for event in events:
                yield event

    def lend(self, session: SessionId, lent: Lent) -> Callable[[], None]:
        return self._host.lend(session, lent)

    def key_value_store(self, name: str) -> KeyValueStore:
        return self._host.key_value_store(name)
