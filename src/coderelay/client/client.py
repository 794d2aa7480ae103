"""The contract between surfaces and sessions: commands in, values and events out."""

from collections.abc import AsyncGenerator
from typing import Protocol

from coderelay.protocol.commands import Command, Outcome
from coderelay.protocol.events import Recorded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.live import Live
from coderelay.protocol.queries import Query, Value


class Client(Protocol):
    async def send(self, command: Command) -> Outcome:
        """On disk when it returns. Raises a Refusal, and then nothing has changed."""
        ...

    async def get(self, query: Query[Value]) -> Value:
        """What the query asks for. Raises a Refusal."""
        ...

    def follow(self, session: SessionId, after: int = 0) -> AsyncGenerator[Recorded | Live, None]:
        """Everything after a cursor, then whatever comes: no gap, no repeat. Live pieces in between are
        for showing only. Ends when the session is deleted."""
        ...
