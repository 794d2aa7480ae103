"""Follow a session together with its child sessions (subagents), so that their asks reach the person."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from coderelay.client.client import Client
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.events import ChildOpened, Recorded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.live_updates import Live
from coderelay.protocol.projected_rows import AskRow, Summary
from coderelay.protocol.queries import ListAsks, ListChildren

Events = AsyncGenerator[Recorded | Live, None]


async def join_family(client: Client, session: SessionId, after: int) -> tuple[list[AskRow], Events]:
    """For a surface that answers the asks of a session and its children: returns the asks that are open now, and the
    events of `follow_family` from then on. An ask raised at this very moment may be in both, never in neither.
    Raises UnknownSession."""
    children = await _at_work(client, session)
    return await client.get(ListAsks(session)), _follow(client, session, after, children)


async def follow_family(client: Client, session: SessionId, after: int) -> Events:
    """Follow a session like `Client.follow`, together with the recorded events of its children: from the beginning
    for children that open later, from their current head for those already at work. Live pieces are the session's
    own only."""
    children = await _at_work(client, session)
    async with aclosing(_follow(client, session, after, children)) as events:
        async for each in events:
            yield each


async def _at_work(client: Client, session: SessionId) -> dict[SessionId, int]:
    """The children that will still record events, each with the cursor to follow it from."""
    known = await client.get(ListChildren(session))
    return {each.id: 0 if _is_new(each) else each.head for each in known if is_busy(each) or _is_new(each)}


def is_busy(child: Summary) -> bool:
    return child.turn_open or child.queued > 0


def _is_new(child: Summary) -> bool:
    """Whether the child is still being given its task: its log holds only how it was opened."""
    return child.phase == "idle" and not child.queued


async def _follow(client: Client, session: SessionId, after: int, children: dict[SessionId, int]) -> Events:
    if not children:
        async with aclosing(client.follow(session, after)) as feed:
            async for each in feed:
                yield each
                if isinstance(each, Recorded):
                    after = each.seq
                    if isinstance(each.event, ChildOpened):
                        children[each.event.child] = 0
                        break
    if children:
        async with aclosing(FamilyFeed(client, session).events(after, children)) as events:
            async for each in events:
                yield each


class FamilyFeed:
    """Merges the feeds of a session and its children; one task per feed waits for its next event."""

    def __init__(self, client: Client, session: SessionId) -> None:
        self._client = client
        self._session = session
        self._feeds: dict[SessionId, Events] = {}
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


async def _next(feed: Events) -> Recorded | Live | None:
    """The next event, or None when the feed has ended because the session was deleted."""
    try:
        return await anext(feed, None)
    except UnknownSession:
        return None
