"""The contract of a store: events are the only truth about sessions, and `append` is the only write to them.

An append takes effect as a whole if the session's log still ends at `at` (and, for an owner, its epoch is still
`epoch`), and otherwise not at all. Everything else a store keeps is a projection of the events, written in the same
transaction, and can be rebuilt.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from coderelay.protocol.events import AnyEvent, Recorded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.key_value_store import KeyValueStore
from coderelay.protocol.projected_rows import MessageRow, Messages, Summary


class Projection(Protocol):
    """Computes rows from events. It is pure: the same events always give the same rows."""

    def summary(self, row: Summary | None, recorded: Recorded) -> Summary | None: ...

    def messages(self, recorded: Recorded) -> Sequence[MessageRow]: ...


class ChangeCursor(Struct, frozen=True):
    """A place in the order of all appends, for the store object that returned it and for no other. `last` is the
    session and the position of the event at this place, where a store keeps that."""

    number: int
    last: tuple[str, int] | None = None


class Changes(Struct, frozen=True):
    """The heads of the sessions that changed, and the cursor to continue from."""

    cursor: ChangeCursor
    heads: dict[SessionId, int]


class Store(Protocol):
    """The log of all sessions, and the projections of it."""

    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        """Write `events` after position `at`, all or none. They are on disk when it returns.

        `at` 0 starts a session. Raises HeadMoved if the log ends elsewhere, Fenced if `epoch` is not the current one,
        BadInput for text that is not valid Unicode. Once begun, it is carried out even if the caller is cancelled.

        A deletion event erases the events before it and stays itself. Time stamps never decrease within a session,
        whatever the clock does.
        """
        ...

    async def read(self, session: SessionId, after: int = 0, limit: int = 1000) -> list[Recorded]:
        """Return the events after a cursor, in order and without gaps; for a deleted session, the deletion event.

        Raises StoreDamaged naming the event if one cannot be read. An event of a newer kind is returned as
        Unrecognised.
        """
        ...

    async def heads(self, sessions: Sequence[SessionId]) -> dict[SessionId, int]:
        """Return the position of the last event of each log. A session that never existed is left out."""
        ...

    async def all_heads(self) -> dict[SessionId, int]:
        """Return the position of the last event of every log, including those of deleted sessions. The cost depends
        on the number of logs, not on their length."""
        ...

    async def changed(self, cursor: ChangeCursor | None) -> Changes:
        """Return the sessions that any process has appended to since the cursor; None returns a cursor for now, and
        no sessions.

        No change is missed, and a change that was reported is not reported again. If a store may have missed changes
        itself (it lost its connection), it reports the heads of all logs. Otherwise the cost depends on what changed,
        not on the number of sessions.
        """
        ...

    async def sessions(self, *, cwd: str | None = None, limit: int = 100) -> list[Summary]:
        """Return the sessions, the most recently changed first."""
        ...

    async def recent_folders(self, limit: int) -> list[str]:
        """Return the folders of sessions, the one whose session changed most recently first. The cost depends on the
        number of folders, not on that of their sessions."""
        ...

    async def waiting(self) -> list[Summary]:
        """Return the sessions that wait for a person's decision, the most recently changed first. The cost depends on
        their number only, not on that of other sessions."""
        ...

    async def named(self, beginning: str) -> list[Summary]:
        """Return the sessions whose ids begin with this text, ordered by id."""
        ...

    async def session(self, session: SessionId) -> Summary | None: ...

    async def messages(self, session: SessionId) -> Messages:
        """Return the messages in the order of their events, and the position of the last event, both from one read.
        A message id counts once per session: the first one stays."""
        ...

    def key_value_store(self, name: str) -> KeyValueStore:
        """The key-value store with this name: what a surface keeps for itself, in no session's log."""
        ...

    def change_counter(self) -> int:
        """Return a number that changes whenever any process has appended something, and seldom otherwise (an entry of
        a key-value store may change it). Costs microseconds."""
        ...

    async def rebuild(self) -> None:
        """Delete every projection and write it again from the events."""
        ...

    def limit_lock_waits(self) -> None:
        """The caller wants to exit: from now on, a log that another process has locked is waited for only a few
        seconds, also by operations that were begun before."""
        ...

    async def close(self) -> None:
        """Finish what was begun. A second call does nothing; any other call afterwards raises StoreFailed."""
        ...
