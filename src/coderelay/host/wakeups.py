"""The long-running tasks of a host: a worker for each busy session, and one polling loop, the look-out.

Apart from those of background commands, all long-running tasks are created here.
"""

import asyncio
import logging
import time

from msgspec import Struct

from coderelay.host.context import HostContext, Send
from coderelay.host.deadlines import expire
from coderelay.host.deadlines import now as wall_clock
from coderelay.host.record import Record
from coderelay.host.worker import Worker
from coderelay.protocol.errors import StoreFailed
from coderelay.protocol.ids import SessionId
from coderelay.session.next_action import needs_owner

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.02
_OWNERS_SECONDS = 0.25
_BEAT_SECONDS = 1.0
_REST_SECONDS = 2.0


class Wakeups:
    """Starts workers for sessions that have something to do, and runs the look-out for attended sessions."""

    def __init__(self, context: HostContext, send: Send) -> None:
        self._context = context
        self._send = send
        self._records: dict[SessionId, Record] = {}
        self._workers: dict[SessionId, tuple[Worker, asyncio.Task[None]]] = {}
        self._resting: dict[SessionId, float] = {}
        self._again: set[SessionId] = set()
        self._look_out: asyncio.Task[None] | None = None
        self._newly_attended = False
        self._closing = False

    def attend(self, record: Record) -> None:
        """From now on, notice what other processes do to this session."""
        self._newly_attended = self._newly_attended or record.session not in self._records
        self._records[record.session] = record
        if self._look_out is None:
            self._look_out = asyncio.create_task(self._look())
            self._look_out.add_done_callback(self._blinded)

    def wake(self, record: Record) -> None:
        """The session may have something to do: start a worker, or another one when the present one is done."""
        if self._closing:
            return
        self.attend(record)
        if record.session in self._workers:
            self._again.add(record.session)
            return
        worker = Worker(record, self._context, self._send)
        task = asyncio.create_task(worker.run())
        self._workers[record.session] = (worker, task)
        task.add_done_callback(lambda _: self._finished(record))

    async def close(self) -> None:
        """Stop everything. Workers leave their turns as they are; what is being written is finished first."""
        self._closing = True
        if self._look_out is not None:
            self._look_out.cancel()
        for worker, _ in self._workers.values():
            worker.leave()
        tasks = [task for _, task in self._workers.values()]
        await asyncio.gather(*tasks, *filter(None, [self._look_out]), return_exceptions=True)
        self._context.live_relay.close()

    def _finished(self, record: Record) -> None:
        worker, task = self._workers.pop(record.session)
        if worker.is_failed:
            self._resting[record.session] = time.monotonic() + _REST_SECONDS
        if not task.cancelled() and (error := task.exception()) is not None:
            record.fail(error if isinstance(error, Exception) else RuntimeError(str(error)))
        if record.session in self._again:
            self._again.discard(record.session)
            self.wake(record)

    def _blinded(self, look_out: asyncio.Task[None]) -> None:
        """The look-out failed. Without it followers would never hear anything again, so they are told of this at
        least."""
        if not look_out.cancelled() and (error := look_out.exception()) is not None:
            log.error("the look-out failed", exc_info=error)
            for record in self._records.values():
                record.fail(error if isinstance(error, Exception) else RuntimeError(str(error)))

    async def _look(self) -> None:
        """The polling loop: follow the logs of attended sessions, watch whether their owners live, and send our own
        heartbeat. A log that cannot be used now may be usable again later, so followers are told of the failure and
        the loop goes on."""
        look = _LookOutState()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self._look_once(look)
            except StoreFailed as error:
                for record in self._records.values():
                    record.fail(error)
                await asyncio.sleep(_REST_SECONDS)

    async def _look_once(self, look: "_LookOutState") -> None:
        now = time.monotonic()
        seen = self._context.store.change_counter()
        if seen != look.counter or self._newly_attended:  # it may have moved before it was attended
            self._newly_attended = False
            await self._read_on()
            look.counter = seen
        self._context.live_relay.tick(self._records, self._workers, now)
        if now - look.owners_at >= _OWNERS_SECONDS:
            look.owners_at = now
            self._look_at_owners()
            for record in await expire(self._records.values(), wall_clock()):
                self.wake(record)
        if self._workers and now - look.beat_at >= _BEAT_SECONDS:
            look.beat_at = now
            await self._context.ownership.beat()

    async def _read_on(self) -> None:
        heads = await self._context.store.heads(list(self._records))
        for session, head in heads.items():
            record = self._records[session]
            if head > record.state.head:
                await record.sync()
                if needs_owner(record.state):
                    self.wake(record)

    def _look_at_owners(self) -> None:
        """Wake sessions that need an owner: one that another process owns becomes ours when that process dies. A
        session whose log could not be written a moment ago rests a little first."""
        now = time.monotonic()
        for record in tuple(self._records.values()):
            is_free = record.session not in self._workers and now >= self._resting.get(record.session, 0.0)
            if is_free and needs_owner(record.state):
                self.wake(record)


class _LookOutState(Struct):
    """What the look-out saw last, and when it last did its slower tasks."""

    counter: int | None = None
    owners_at: float = 0.0
    beat_at: float = 0.0
