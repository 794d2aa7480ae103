"""The contract between surfaces and sessions: commands in, values and events out."""

from collections.abc import AsyncGenerator, Mapping
from typing import Protocol

from coderelay.protocol.commands import Command, Outcome
from coderelay.protocol.events import Recorded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.live import Live
from coderelay.protocol.queries import Query, Value


class Client(Protocol):
    async def send(self, command: Command) -> Outcome:
        """Carry out a command; its effect is on disk when this returns. Raises a Refusal, and then nothing has
        changed."""
        ...

    async def get(self, query: Query[Value]) -> Value:
        """Answer a query. Raises a Refusal."""
        ...

    def follow(self, session: SessionId, after: int = 0) -> AsyncGenerator[Recorded | Live, None]:
        """Replay the events after the cursor `after`, then follow new ones, without gap or repeat. Live pieces in
        between are for display only. Ends when the session is deleted."""
        ...

    def follow_all(
        self, after: Mapping[SessionId, int] | None = None
    ) -> AsyncGenerator[tuple[SessionId, Recorded | Live], None]:
        """Follow all sessions that this client may see, also those that any process creates later, each event with
        its session. A session in `after` is replayed from its cursor there; another is followed from now on; a new
        one from its first event. "Now" is when the first event is asked for. Each session has its events in order,
        without gap or repeat; the last event of a deleted session is its deletion.

        Unlike `follow`, this does not make the process ready to run the sessions."""
        ...
