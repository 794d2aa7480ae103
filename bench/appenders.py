"""Sessions in one store, to each of which the same event of about 400 bytes is appended again and again."""

import asyncio

from bench.stopwatch import Took, stopwatch
from coderelay.protocol.asks import By
from coderelay.protocol.calls import Finished
from coderelay.protocol.event_codec import encode
from coderelay.protocol.events import CallEnded, SessionCreated
from coderelay.protocol.ids import CallId, MessageId, SessionId, new_id
from coderelay.store.store import Store

EVENT = CallEnded(
    batch_id=MessageId(new_id()), call_id=CallId(new_id()), outcome=Finished("word " * 56, "1 line"), ms=2
)
BODY = encode(EVENT).decode()
_CREATED = SessionCreated(cwd="/work", agent="native", model="openai:scripted", mode="yolo", by=By("bench", "bench"))


class Appenders:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._heads: dict[SessionId, int] = {}

    async def open(self, count: int) -> None:
        for _ in range(count):
            session = SessionId(new_id())
            await self._store.append(session, 0, [_CREATED])
            self._heads[session] = 1

    async def append(self, sessions: int, times: int) -> Took:
        """So many sessions at once, each so many times one after the other."""
        with stopwatch() as took:
            await asyncio.gather(*(self._append(session, times) for session in list(self._heads)[:sessions]))
        return took

    async def close(self) -> None:
        await self._store.close()

    async def _append(self, session: SessionId, times: int) -> None:
        for _ in range(times):
            await self._store.append(session, self._heads[session], [EVENT], epoch=0)
            self._heads[session] += 1
