"""The sessions that this process has loaded: those that somebody here uses, and the last few used."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakValueDictionary, finalize

from coderelay.host.loaded_session import FollowerOfAll, LoadedSession
from coderelay.protocol.asks import Approval
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.ids import APPROVALS, SessionId
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.wall_clock import now
from coderelay.session.state import State
from coderelay.store.store import Store

_RECENT = 32


class LoadedSessionCache:
    """A session is forgotten when nobody holds it any more. The most recently used are held here, so that successive
    commands to a session need not read its log again. `forgotten` is called on the event loop."""

    def __init__(self, store: Store, forgotten: Callable[[SessionId], None]) -> None:
        self.store = store
        self.followers_of_all: set[FollowerOfAll] = set()
        self._forgotten = forgotten
        self._known: WeakValueDictionary[SessionId, LoadedSession] = WeakValueDictionary()
        self._recent: dict[SessionId, LoadedSession] = {}  # the last used comes last

    def __len__(self) -> int:
        return len(self._known)

    def known(self) -> list[LoadedSession]:
        return list(self._known.values())

    def folders(self) -> set[str]:
        """The folders of the sessions that somebody here uses."""
        return {each.state.settings.cwd for each in self._known.values() if each.state.settings is not None}

    def known_state(self, session: SessionId) -> State | None:
        """The state of a session that somebody here uses, as it was last seen."""
        loaded = self._known.get(session)
        return None if loaded is None else loaded.state

    async def load(self, session: SessionId) -> LoadedSession:
        """The session, brought up to date with the log."""
        loaded = self._known.get(session)
        if loaded is None:
            loaded = self._known[session] = LoadedSession(session, self.store, self.followers_of_all)
            finalize(loaded, self._collected, session, asyncio.get_running_loop()).atexit = False
        await loaded.sync()
        if loaded.state.head:
            self._hold(loaded)
        return loaded

    def _hold(self, loaded: LoadedSession) -> None:
        self._recent.pop(loaded.session, None)
        self._recent[loaded.session] = loaded
        if len(self._recent) > _RECENT:
            del self._recent[next(iter(self._recent))]

    def _collected(self, session: SessionId, loop: asyncio.AbstractEventLoop) -> None:
        """May be called in any thread."""
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._forget, session)

    def _forget(self, session: SessionId) -> None:
        if session not in self._known:  # otherwise it was loaded again
            self._forgotten(session)

    async def summary(self, session: SessionId) -> Summary:
        """Raises UnknownSession."""
        found = await self.store.session(session)
        if found is None:
            raise UnknownSession(session)
        return found

    async def approvals(self) -> list[Approval]:
        """Approvals that reach beyond one session and have not expired."""
        known = (await self.load(APPROVALS)).state.approvals.values()
        return [each for each in known if each.expires is None or each.expires > now()]
