"""The session records of this process: one for each session that somebody here uses, and the last few used."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakValueDictionary, finalize

from coderelay.host.deadlines import now
from coderelay.host.record import FollowerOfAll, Record
from coderelay.protocol.asks import Approval
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.ids import APPROVALS, SessionId
from coderelay.protocol.summary import Summary
from coderelay.session.state import State
from coderelay.store.store import Store

_RECENT = 32


class Records:
    """A record is forgotten when nobody holds it any more. The most recently used are held here, so that successive
    commands to a session need not read its log again."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.followers_of_all: set[FollowerOfAll] = set()
        self.forgotten: Callable[[SessionId], None] = lambda _: None  # called on the event loop
        self._known: WeakValueDictionary[SessionId, Record] = WeakValueDictionary()
        self._recent: dict[SessionId, Record] = {}  # the last used comes last

    def __len__(self) -> int:
        return len(self._known)

    def known(self) -> list[Record]:
        return list(self._known.values())

    def known_state(self, session: SessionId) -> State | None:
        """The state of a session that somebody here uses, as it was last seen."""
        record = self._known.get(session)
        return None if record is None else record.state

    async def record(self, session: SessionId) -> Record:
        """The record of a session, brought up to date with the log."""
        record = self._known.get(session)
        if record is None:
            record = self._known[session] = Record(session, self.store, self.followers_of_all)
            finalize(record, self._collected, session, asyncio.get_running_loop()).atexit = False
        await record.sync()
        if record.state.head:
            self._hold(record)
        return record

    def _hold(self, record: Record) -> None:
        self._recent.pop(record.session, None)
        self._recent[record.session] = record
        if len(self._recent) > _RECENT:
            del self._recent[next(iter(self._recent))]

    def _collected(self, session: SessionId, loop: asyncio.AbstractEventLoop) -> None:
        """May be called in any thread."""
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._forget, session)

    def _forget(self, session: SessionId) -> None:
        if session not in self._known:  # otherwise it has another record by now
            self.forgotten(session)

    async def summary(self, session: SessionId) -> Summary:
        """Raises UnknownSession."""
        found = await self.store.session(session)
        if found is None:
            raise UnknownSession(session)
        return found

    async def approvals(self) -> list[Approval]:
        """Approvals that reach beyond one session and have not expired."""
        known = (await self.record(APPROVALS)).state.approvals.values()
        return [each for each in known if each.expires is None or each.expires > now()]
