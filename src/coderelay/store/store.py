"""The contract of a store: one truth, one write.

Only events are truth. `append` is the one write: it takes effect whole if the session's log still
stands at `at` (and, for an owner, at its `epoch`), and otherwise not at all. Everything else a store
keeps is a projection of the events, written in the same transaction, and can be rebuilt.
"""

from collections.abc import Sequence
from typing import Protocol

from coderelay.protocol.events import AnyEvent, Recorded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.summary import MessageRow, Summary


class Projection(Protocol):
    """How rows come from events. Pure: the same events always give the same rows."""

    def summary(self, row: Summary | None, recorded: Recorded) -> Summary | None: ...

    def messages(self, recorded: Recorded) -> Sequence[MessageRow]: ...


class Store(Protocol):
    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        """Write `events` after `at`, whole or not at all. On disk when it returns.

        `at` 0 starts a session. Raises HeadMoved if the log stands elsewhere, Fenced if `epoch` is
        not the current one, BadInput for text that is not valid Unicode. Once begun it is carried out
        even if the caller is cancelled.

        A deletion erases what stands before it and stays itself. Time does not run backwards within
        a session, whatever the clock does.
        """
        ...

    async def read(self, session: SessionId, after: int = 0, limit: int = 1000) -> list[Recorded]:
        """Events after a cursor, in order, without holes; of a deleted session, the deletion.

        An event that cannot be read raises StoreDamaged naming it; one of a newer kind is Unrecognised.
        """
        ...

    async def heads(self, sessions: Sequence[SessionId]) -> dict[SessionId, int]:
        """Where each log stands now; a session that never was is left out."""
        ...

    async def sessions(self, *, cwd: str | None = None, limit: int = 100) -> list[Summary]:
        """Newest change first."""
        ...

    async def waiting(self) -> list[Summary]:
        """The sessions in which a person is asked something, newest change first. Costs as much as there are of
        them, however many others there are."""
        ...

    async def named(self, beginning: str) -> list[Summary]:
        """The sessions whose ids begin so, in the order of their ids."""
        ...

    async def session(self, session: SessionId) -> Summary | None: ...

    async def messages(self, session: SessionId) -> list[MessageRow]:
        """In the order of their events. An id counts once per session: the first stays."""
        ...

    def change_counter(self) -> int:
        """Another number whenever anything was appended by anyone, the same while nothing is. Costs
        microseconds."""
        ...

    async def rebuild(self) -> None:
        """Drop every projection and write it again from the events."""
        ...

    def hurry(self) -> None:
        """Whoever uses it wants to leave: from now on a log that another process has locked is waited for only a few
        seconds, also by what was begun before."""
        ...

    async def close(self) -> None:
        """Finish what was begun. Again does nothing; anything else after it raises StoreFailed."""
        ...
