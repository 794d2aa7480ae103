"""The feeds of a session and of those that work for it, as one."""

import asyncio
from collections.abc import AsyncGenerator

from coderelay.client.client import Client
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.events import ChildOpened, Recorded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.live import Live

_Events = AsyncGenerator[Recorded | Live, None]


class FamilyFeed:
    """One feed for each of them, and the next event of each in the making."""

    def __init__(self, client: Client, session: SessionId) -> None:
        self._client = client
        self._session = session
        self._feeds: dict[SessionId, _Events] = {}
        self._coming: dict[asyncio.Task[Recorded | Live | None], SessionId] = {}

    async def events(self, after: int, children: dict[SessionId, int]) -> AsyncGenerator[Recorded | Live, None]:
        self._follow(self._session, after)
        for child, head in children.items():
            self._follow(child, head)
        try:
            while self._session in self._feeds:
                await asyncio.wait(self._coming, return_when=asyncio.FIRST_COMPLETED)
                for task in [each for each in self._coming if each.done()]:
                    if (event := self._take(task)) is not None:
                        yield event
        finally:
            for task in self._coming:
                task.cancel()
            await asyncio.gather(*self._coming, return_exceptions=True)
            for feed in self._feeds.values():
                await feed.aclose()

    def _follow(self, session: SessionId, after: int) -> None:
        if session not in self._feeds:
            self._feeds[session] = self._client.follow(session, after)
            self._expect(session)

    def _expect(self, session: SessionId) -> None:
        self._coming[asyncio.create_task(_next(self._feeds[session]))] = session

    def _take(self, task: asyncio.Task[Recorded | Live | None]) -> Recorded | Live | None:
        session = self._coming.pop(task)
        event = task.result()
        if event is None:
            del self._feeds[session]
            return None
        self._expect(session)
        if isinstance(event, Recorded) and isinstance(event.event, ChildOpened):
            self._follow(event.event.child, 0)
        return event if session == self._session or isinstance(event, Recorded) else None


async def _next(feed: _Events) -> Recorded | Live | None:
    """None when there are no more, because the session was deleted."""
    try:
        return await anext(feed, None)
    except UnknownSession:
        return None
