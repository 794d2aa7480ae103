"""The event feed of a session: replays the log from a cursor, then follows it, with live pieces in their places."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from coderelay.host.loaded_session import LoadedSession
from coderelay.protocol.events import Recorded, SessionDeleted
from coderelay.protocol.live_updates import Live, Placed, join


class Feed:
    """One follower of one session. Live pieces are joined while the follower is busy, so a slow one gets fewer,
    longer pieces."""

    def __init__(self, loaded: LoadedSession, after: int) -> None:
        self._loaded = loaded
        self._cursor = after
        self._live = list(loaded.live_pieces)
        self._woken = asyncio.Event()
        self._failure: Exception | None = None

    async def events(self) -> AsyncGenerator[Recorded | Live, None]:
        self._loaded.followers.add(self)
        try:
            while True:
                self._woken.clear()
                for after, live in self._take_live():
                    if self._cursor < after:
                        async with aclosing(self._durable(after)) as events:
                            async for recorded in events:
                                yield recorded
                    yield live
                async with aclosing(self._durable(self._loaded.state.head)) as events:
                    async for recorded in events:
                        yield recorded
                        if isinstance(recorded.event, SessionDeleted):
                            return
                if self._failure is not None:
                    raise self._failure
                await self._woken.wait()
        finally:
            self._loaded.followers.discard(self)

    def wake(self) -> None:
        self._woken.set()

    def fail(self, error: Exception) -> None:
        self._failure = error
        self._woken.set()

    def show(self, live: Live) -> None:
        self._live.append((self._loaded.state.head, live))
        self._woken.set()

    def _take_live(self) -> list[Placed]:
        taken, self._live = join(self._live), []
        return taken

    async def _durable(self, until: int) -> AsyncGenerator[Recorded, None]:
        while self._cursor < until:
            page = await self._loaded.read(self._cursor)
            if not page:
                return
            for recorded in page:
                self._cursor = recorded.seq
                yield recorded
