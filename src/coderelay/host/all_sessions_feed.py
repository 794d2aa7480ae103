"""The event feed of all sessions: replays those that the caller names, then follows every log, also of sessions that
other processes create later. Following is not attending: only deadlines that pass unnoticed make this process run a
session."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from coderelay.host.ask_deadlines import UnattendedDeadlines
from coderelay.host.loaded_session_cache import LoadedSessionCache
from coderelay.protocol.errors import StoreDamaged
from coderelay.protocol.events import Recorded
from coderelay.protocol.ids import APPROVALS, SessionId
from coderelay.protocol.live_updates import Live, Placed, join

log = logging.getLogger(__name__)

_PAGE = 1000
_PIECES = 100


class AllSessionsFeed:
    """One follower of all sessions. A cursor is kept for each log, so that none has a gap or a repeat. `deadlines` is
    told of all asks that wait."""

    def __init__(self, sessions: LoadedSessionCache, deadlines: UnattendedDeadlines) -> None:
        self._deadlines = deadlines
        self._store = sessions.store
        self._sessions = sessions
        self._cursors: dict[SessionId, int] = {}
        self._unread: dict[SessionId, int] = {}  # the heads of logs that go beyond their cursors
        self._live: dict[SessionId, list[Placed]] = {}
        self._woken = asyncio.Event()
        self._failure: Exception | None = None

    async def begin(self, after: Mapping[SessionId, int]) -> None:
        """Take the cursors: for a session in `after` the one that is given, for any other the end of its log now. The
        log of approvals is no session."""
        heads = await self._store.all_heads()
        named = {session: seq for session, seq in after.items() if session in heads and session != APPROVALS}
        self._cursors = heads | named
        self._unread = {session: heads[session] for session, seq in named.items() if seq < heads[session]}
        for row in await self._store.waiting():
            self._deadlines.see_row(row)
        for loaded in self._sessions.known():
            if loaded.live_pieces:
                self._live[loaded.session] = list(loaded.live_pieces)

    async def events(self) -> AsyncGenerator[tuple[SessionId, Recorded | Live], None]:
        while True:
            self._woken.clear()
            while news := next(iter(self._unread or self._live), None):
                try:
                    async with aclosing(self._news(news)) as events:
                        async for each in events:
                            yield news, each
                except StoreDamaged as error:
                    log.warning("%s", error)  # the other sessions are followed on
            if self._failure is not None:
                raise self._failure
            await self._woken.wait()

    def wake(self, session: SessionId, head: int) -> None:
        if head > self._cursors.get(session, 0) and session != APPROVALS:
            self._unread[session] = max(head, self._unread.get(session, 0))
            self._woken.set()

    def show(self, session: SessionId, after: int, live: Live) -> None:
        """Take a live piece, unless the log has overtaken it."""
        if after < max(self._cursors.get(session, 0), self._unread.get(session, 0)):
            return
        pieces = self._live.setdefault(session, [])
        pieces.append((after, live))
        if len(pieces) > _PIECES:
            self._live[session] = join(pieces)
        self._woken.set()

    def fail(self, error: Exception) -> None:
        self._failure = error
        self._woken.set()

    async def _news(self, session: SessionId) -> AsyncGenerator[Recorded | Live, None]:
        head, pieces = self._unread.pop(session, 0), self._live.pop(session, [])
        for after, live in join(pieces):
            async with aclosing(self._durable(session, after)) as events:
                async for recorded in events:
                    yield recorded
            yield live
        async with aclosing(self._durable(session, head)) as events:
            async for recorded in events:
                yield recorded

    async def _durable(self, session: SessionId, until: int) -> AsyncGenerator[Recorded, None]:
        """The events up to that one and no further, so that live pieces keep their places."""
        cursor = self._cursors.get(session, 0)
        while cursor < until:
            page = await self._store.read(session, cursor, min(_PAGE, until - cursor))
            if not page:
                return
            for recorded in page:
                cursor = self._cursors[session] = recorded.seq
                self._deadlines.see(session, recorded.event)
                yield recorded
