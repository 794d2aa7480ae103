"""A session as this process has loaded it: its state, and the only way to append to its log."""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from typing import Any, Protocol, TypeVar

from coderelay.protocol.errors import HeadMoved
from coderelay.protocol.events import AnyEvent, CallEnded, MessageAdded, PartialsKept, Recorded, TurnEnded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.live_updates import Live, Notice, OutputDelta, Placed, TextDelta, ThinkingDelta, about, join
from coderelay.session import verbatim_agent_messages
from coderelay.session.fold import apply
from coderelay.session.state import State
from coderelay.store.store import Store

T = TypeVar("T")

Decide = Callable[[State], list[AnyEvent]]

_PIECES = 100
_PAGE = 16
_OUTPUT_CHARS = 30_000


class Follower(Protocol):
    """A listener of one session. `show` is called before the log holds what is shown."""

    def wake(self) -> None: ...
    def show(self, live: Live) -> None: ...
    def fail(self, error: Exception) -> None: ...


class FollowerOfAll(Protocol):
    """A listener of all sessions. `show` is called before the log holds what is shown."""

    def wake(self, session: SessionId, head: int) -> None: ...
    def show(self, session: SessionId, after: int, live: Live) -> None: ...
    def fail(self, error: Exception) -> None: ...


class LoadedSession:
    """`state` is what the events up to `state.head` make. It may lag a little behind what other processes wrote."""

    def __init__(self, session: SessionId, store: Store, followers_of_all: Collection[FollowerOfAll] = ()) -> None:
        self.session = session
        self.state = State(session)
        self.followers: set[Follower] = set()
        self.live_pieces: list[Placed] = []  # so far, for followers that join midway
        self.watchers: set[Callable[[State], None]] = set()
        self.answered_here = False
        self.live_from = 0  # live pieces from before this event are void, or in the log in another form
        self.writes_snapshot = asyncio.Lock()
        self._last: list[Recorded] = []  # the end of the log, for followers that are as far as we were
        self._moved = asyncio.Event()
        self._store = store
        self._followers_of_all = followers_of_all
        self._lock = asyncio.Lock()

    async def append(self, decide: Decide, *, epoch: int | None = None) -> list[Recorded]:
        """Append the events that `decide` returns for the state. If another process appended first, read its events
        and decide again.

        The append is completed even if the caller is cancelled.
        """
        return await carried_out(self._append(decide, epoch))

    async def sync(self) -> None:
        """Read what other processes appended."""
        async with self._lock:
            await self._read_on()

    async def moves(self, head: int, seconds: float) -> bool:
        """Wait until the log goes beyond `head`; False if it does not within that time."""
        try:
            async with asyncio.timeout(seconds):
                while self.state.head <= head:
                    await self._moved.wait()
        except TimeoutError:
            return False
        return True

    async def read(self, after: int) -> list[Recorded]:
        if self._last and self._last[0].seq == after + 1:
            return self._last
        return await self._store.read(self.session, after)

    def show(self, live: Live, *, from_elsewhere: bool = False) -> None:
        """Show a live piece to the followers. A piece `from_elsewhere` reaches the followers of all sessions by
        another way."""
        if not isinstance(live, Notice):
            if self.live_pieces and self._is_of_another(live):
                self.live_pieces.clear()  # left over from an attempt that broke off
            self.live_pieces.append((self.state.head, live))
            if isinstance(live, OutputDelta) and len(self.live_pieces) > _PIECES:
                self.live_pieces = [_end_of(each) for each in join(self.live_pieces)]
        for follower in self.followers:
            follower.show(live)
        for follower in () if from_elsewhere else self._followers_of_all:
            follower.show(self.session, self.state.head, live)

    def fail(self, error: Exception) -> None:
        """Tell the followers that this process cannot go on with the session."""
        for follower in self.followers:
            follower.fail(error)

    def _is_of_another(self, live: TextDelta | ThinkingDelta | OutputDelta) -> bool:
        last = self.live_pieces[-1][1]
        return not isinstance(last, Notice) and about(last) != about(live)

    async def _append(self, decide: Decide, epoch: int | None) -> list[Recorded]:
        async with self._lock:
            while True:
                events = verbatim_agent_messages.mark(self.state, decide(self.state))
                if not events:
                    return []
                try:
                    recorded = await self._store.append(self.session, self.state.head, events, epoch=epoch)
                except HeadMoved:
                    await self._read_on()
                    continue
                self._apply(recorded)
                return recorded

    async def _read_on(self) -> None:
        while page := await self._store.read(self.session, self.state.head):
            self._apply(page)

    def _apply(self, page: list[Recorded]) -> None:
        for recorded in page:
            apply(self.state, recorded)
            # These events hold pieces of the text that is being written, and do not end it.
            if not isinstance(recorded.event, PartialsKept):
                self.live_from = recorded.seq
            if isinstance(recorded.event, MessageAdded | CallEnded | TurnEnded):
                self.live_pieces.clear()
        self._last = page if len(page) <= _PAGE and not self.state.deleted else []
        self._moved.set()
        self._moved = asyncio.Event()
        for watcher in tuple(self.watchers):
            watcher(self.state)
        for follower in self.followers:
            follower.wake()
        for follower in self._followers_of_all:
            follower.wake(self.session, self.state.head)


async def carried_out(work: Coroutine[Any, Any, T]) -> T:
    """Complete the work even if the caller is cancelled. In that case its failure is dropped, since nobody waits for
    it."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda done: None if done.cancelled() else done.exception())
    return await asyncio.shield(task)


def _end_of(placed: Placed) -> Placed:
    """A piece cut to its end: a command may write for hours, and whoever joins then sees the last of it."""
    after, live = placed
    return (after, OutputDelta(live.call_id, live.text[-_OUTPUT_CHARS:])) if isinstance(live, OutputDelta) else placed
