"""The long-running tasks of a host: a worker for each busy session, and one polling loop.

Apart from those of background commands, all long-running tasks are created here.
"""

import asyncio
import logging
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from msgspec import Struct

from coderelay.host.ask_deadlines import UnattendedDeadlines, expire
from coderelay.host.can_run import may_claim
from coderelay.host.host_context import HostContext, Send
from coderelay.host.loaded_session import FollowerOfAll, LoadedSession
from coderelay.host.session_worker import Worker
from coderelay.host.supervised_sessions_index import SupervisedSessions
from coderelay.protocol.errors import StoreDamaged, StoreFailed
from coderelay.protocol.ids import SessionId
from coderelay.protocol.wall_clock import now as wall_clock
from coderelay.session.next_action import needs_owner
from coderelay.store.store import ChangeCursor

log = logging.getLogger(__name__)

POLL_SECONDS = 0.02
_CHECK_SECONDS = 0.25
_HEARTBEAT_SECONDS = 1.0
_RETRY_SECONDS = 2.0


class WorkerSupervisor:
    """Starts workers for sessions that have something to do, and runs the polling loop for supervised sessions."""

    def __init__(self, context: HostContext, send: Send) -> None:
        self._context = context
        self._send = send
        self._supervised = SupervisedSessions()
        self._workers: dict[SessionId, tuple[Worker, asyncio.Task[None]]] = {}
        self._running: dict[SessionId, LoadedSession] = {}  # those that have a worker
        self._retry_at: dict[SessionId, float] = {}
        self._restart_when_done: set[SessionId] = set()
        self._followed: dict[SessionId, tuple[LoadedSession, int]] = {}
        self._elsewhere: dict[SessionId, LoadedSession] | None = None
        self._newly_supervised: set[SessionId] = set()
        self._is_newly_followed = False  # by a follower of all sessions
        self.unattended_deadlines = UnattendedDeadlines()
        self._polling: asyncio.Task[None] | None = None
        self._closing = False

    @property
    def supervised_count(self) -> int:
        """How many sessions this process follows, works on or waits for."""
        return len(self._supervised.sessions)

    def attend(self, loaded: LoadedSession) -> None:
        """From now on, notice what other processes do to this session."""
        if loaded.session not in self._supervised.sessions:
            self._supervised.add(loaded)
            self._newly_supervised.add(loaded.session)
        self._start_polling()

    def _start_polling(self) -> None:
        if self._polling is None and not self._closing:
            self._polling = asyncio.create_task(self._poll_forever())
            self._polling.add_done_callback(self._polling_failed)

    @contextmanager
    def following(self, loaded: LoadedSession) -> Generator[None]:
        """Attend the session while somebody follows it."""
        self.attend(loaded)
        self._count_follower(loaded, 1)
        try:
            yield
        finally:
            self._count_follower(loaded, -1)
            self._forget_if_done(loaded)

    @contextmanager
    def following_all(self, follower: FollowerOfAll) -> Generator[None]:
        """Tell the follower of what happens to any session, without attending it."""
        followers = self._context.sessions.followers_of_all
        followers.add(follower)
        self._is_newly_followed = True
        self._start_polling()
        try:
            yield
        finally:
            followers.discard(follower)

    def _count_follower(self, loaded: LoadedSession, more: int) -> None:
        count = self._followed.pop(loaded.session, (loaded, 0))[1] + more
        if count:
            self._followed[loaded.session] = (loaded, count)
        self._elsewhere = None

    def _forget_if_done(self, loaded: LoadedSession) -> None:
        """Forget a session that nobody follows and nothing here works on or waits for."""
        session, state = loaded.session, loaded.state
        is_used = session in self._followed or session in self._workers or session in self._restart_when_done
        if is_used or state.turn is not None or needs_owner(state):
            return
        if self._context.runs_background(session):
            self._supervised.check_again(loaded)
            return
        self._supervised.discard(loaded)
        self._newly_supervised.discard(session)
        self._retry_at.pop(session, None)

    def wake(self, loaded: LoadedSession) -> None:
        """If the session has something to do, start a worker, or another one when the present one is done."""
        if self._closing:
            return
        self.attend(loaded)
        if loaded.session in self._workers:
            self._restart_when_done.add(loaded.session)
            return
        if not needs_owner(loaded.state):
            self._forget_if_done(loaded)
            return
        worker = Worker(loaded, self._context, self._send)
        task = asyncio.create_task(worker.run())
        self._workers[loaded.session] = (worker, task)
        self._running[loaded.session] = loaded
        self._elsewhere = None
        task.add_done_callback(lambda _: self._finished(loaded))

    async def close(self) -> None:
        """Stop everything. Workers leave their turns as they are; what is being written is finished first."""
        self._closing = True
        if self._polling is not None:
            self._polling.cancel()
        for worker, _ in self._workers.values():
            worker.leave()
        tasks = [task for _, task in self._workers.values()]
        await asyncio.gather(*tasks, *filter(None, [self._polling]), return_exceptions=True)
        self._context.live_relay.close()

    def _finished(self, loaded: LoadedSession) -> None:
        worker, task = self._workers.pop(loaded.session)
        del self._running[loaded.session]
        self._elsewhere = None
        error = None if task.cancelled() else task.exception()
        if worker.is_failed or error is not None:
            self._retry_at[loaded.session] = time.monotonic() + _RETRY_SECONDS
        if error is not None:
            loaded.fail(error if isinstance(error, Exception) else RuntimeError(str(error)))
        if loaded.session in self._restart_when_done:
            self._restart_when_done.discard(loaded.session)
            self.wake(loaded)
        self._forget_if_done(loaded)

    def _polling_failed(self, polling: asyncio.Task[None]) -> None:
        """The polling loop failed. Without it followers would never hear anything again, so they are told of this
        at least."""
        if not polling.cancelled() and (error := polling.exception()) is not None:
            log.error("the polling loop failed", exc_info=error)
            self._fail_all(error if isinstance(error, Exception) else RuntimeError(str(error)))

    def _fail_all(self, error: Exception) -> None:
        for loaded in self._supervised.sessions.values():
            loaded.fail(error)
        for follower in self._context.sessions.followers_of_all:
            follower.fail(error)

    async def _poll_forever(self) -> None:
        """The polling loop: follow the logs of supervised sessions, watch whether their owners live, and send our own
        heartbeat. A log that cannot be used now may be usable again later, so followers are told of the failure and
        the loop goes on."""
        poll = _PollState()
        while True:
            await asyncio.sleep(POLL_SECONDS)
            try:
                await self._poll_once(poll)
            except StoreFailed as error:
                self._fail_all(error)
                await asyncio.sleep(_RETRY_SECONDS)

    async def _poll_once(self, poll: "_PollState") -> None:
        now = time.monotonic()
        seen = self._context.store.change_counter()
        if seen != poll.counter or self._newly_supervised or self._is_newly_followed:
            await self._read_on(poll)
            poll.counter = seen
        self._context.live_relay.tick(
            self._followed_elsewhere(), self._running, self._context.sessions.followers_of_all, now
        )
        if now - poll.checked_at >= _CHECK_SECONDS:
            poll.checked_at = now
            await self._check_owners()
            await self._check_deadlines()
            for loaded in self._supervised.take_idle():
                self._forget_if_done(loaded)
        if self._workers and now - poll.heartbeat_at >= _HEARTBEAT_SECONDS:
            poll.heartbeat_at = now
            await self._context.takeover.send_heartbeat()

    async def _read_on(self, poll: "_PollState") -> None:
        """Read what other processes appended. What is newly followed may have moved before the cursor was taken, so
        its heads are read once. The cursor is moved at the end, so that nothing is missed if the log fails in
        between."""
        store = self._context.store
        new, self._newly_supervised = self._newly_supervised, set()
        all_are_new, self._is_newly_followed = self._is_newly_followed, False
        try:
            changes = await store.changed(poll.cursor)
            heads = changes.heads
            if all_are_new:
                heads = await store.all_heads()
            elif new:
                heads = heads | await store.heads(list(new))
            for session, head in heads.items():
                for follower in self._context.sessions.followers_of_all:
                    follower.wake(session, head)
                loaded = self._supervised.sessions.get(session)
                if loaded is not None and head > loaded.state.head:
                    await self._sync(loaded)
        except BaseException:
            self._newly_supervised |= new
            self._is_newly_followed |= all_are_new
            raise
        poll.cursor = changes.cursor

    async def _sync(self, loaded: LoadedSession) -> None:
        try:
            await loaded.sync()
        except StoreDamaged as error:
            loaded.fail(error)  # the other sessions go on
            return
        if loaded.state.owner is None and needs_owner(loaded.state):
            self.wake(loaded)

    def _followed_elsewhere(self) -> Mapping[SessionId, LoadedSession]:
        """The sessions that somebody follows here and that another process may be running: live text may come."""
        if self._supervised.take_turns_changed() or self._elsewhere is None:
            self._elsewhere = {
                session: loaded
                for session, (loaded, _) in self._followed.items()
                if session not in self._workers and loaded.state.turn is not None
            }
        return self._elsewhere

    async def _check_owners(self) -> None:
        """Wake sessions that need an owner: one that another process owns becomes ours when that process dies. Each
        owner is looked at once, however many sessions it has. A session whose log could not be written a moment ago,
        or that cannot run here, rests a little first."""
        now = time.monotonic()
        for owner in self._supervised.owners():
            try:
                is_free = await self._context.takeover.may_take_over(owner)
            except StoreFailed as error:
                for loaded in self._supervised.sessions_needing_owner(owner):
                    loaded.fail(error)
                continue
            for loaded in self._supervised.sessions_needing_owner(owner) if is_free else ():
                if loaded.session not in self._workers and now >= self._retry_at.get(loaded.session, 0.0):
                    self._wake_if_possible(loaded, now)

    def _wake_if_possible(self, loaded: LoadedSession, now: float) -> None:
        if may_claim(loaded.state, self._context):
            self.wake(loaded)
        else:
            self._retry_at[loaded.session] = now + _RETRY_SECONDS

    async def _check_deadlines(self) -> None:
        now = wall_clock()
        due = self._supervised.due(now)
        await expire(due, now, self._send)
        for loaded in due:
            self.wake(loaded)
        for session in self.unattended_deadlines.take_due(now) if self._context.sessions.followers_of_all else ():
            await self._expire_unattended(session, now)

    async def _expire_unattended(self, session: SessionId, now: int) -> None:
        """Act upon a deadline that passed in a session that nobody attends, if this process could go on with it."""
        try:
            loaded = await self._context.sessions.load(session)
        except StoreDamaged as error:
            log.warning("%s", error)
            return
        is_attended = session in self._supervised.sessions
        if not is_attended and loaded.state.due_asks(now) and may_claim(loaded.state, self._context):
            await expire([loaded], now, self._send)
            self.wake(loaded)


class _PollState(Struct):
    """What the polling loop saw last, and when it last did its slower tasks."""

    cursor: ChangeCursor | None = None
    counter: int | None = None
    checked_at: float = 0.0
    heartbeat_at: float = 0.0
