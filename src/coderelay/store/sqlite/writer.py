"""Runs the jobs that write, each in a transaction and in the order in which they came.

A job that comes alone is done at once, by whoever submits it: handing it to a thread and back takes longer than the
commit itself. Jobs that come together share one commit, which a thread of the writer makes; each succeeds or fails on
its own. The thread also takes what may last: waiting for locks, a slow disk, and the checkpoints of SQLite.
"""

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import Struct

from coderelay.protocol.errors import CoderError, StoreLocked
from coderelay.protocol.ids import SessionId
from coderelay.protocol.translatable import say
from coderelay.store.event_row_encoding import LogHead
from coderelay.store.sqlite.busy_retry_and_lock_holder import TELL_SECONDS, is_busy, pause, waiting_words
from coderelay.store.sqlite.error_translation import closed, failure
from coderelay.store.sqlite.removed_files import OpenFiles

T = TypeVar("T")

GROUP = 256
_KNOWN_HEADS = 256
_LEAVING_SECONDS = 3.0
_QUICK_SECONDS = 0.003
"""A commit that takes longer holds up the event loop too much."""
_THREAD_SECONDS, _LONGEST_THREAD_SECONDS = 0.05, 1.0
"""How long the thread does everything after such a commit; twice as long each time if the next one is slow, too."""
_CHECKPOINT_JOBS = 128
"""The thread does every 128th job at least, and SQLite's checkpoint with it."""
_CHECKPOINT_PAGES = 1000


class _Job(Struct):
    work: Callable[[sqlite3.Connection], Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: Exception | None = None


class Writer:
    """`lock_seconds` is how long to wait for another program's lock; None waits without limit. If the wait becomes
    long, `tell` is called on the event loop with a message about who holds the lock. `rolled_back` is called when a
    transaction is undone as a whole, by the thread that ran it."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: str,
        files: OpenFiles,
        lock_seconds: float | None,
        tell: Callable[[str], None],
        rolled_back: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._path = path
        self._files = files
        self._lock_seconds = lock_seconds
        self._tell = tell
        self._rolled_back = rolled_back
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._using = threading.Lock()  # held by whoever uses the connection
        self._is_working_here = False  # until the present cycle of the event loop ends
        self._is_grouping = False  # the last jobs that the thread did had come together
        self._thread_until = 0.0
        self._thread_seconds = _THREAD_SECONDS
        self._done_here = 0
        self._thread: threading.Thread | None = None
        self._door = threading.Lock()
        self._is_closing = False
        self._are_lock_waits_limited = False
        self._close_work: Callable[[], None] = connection.close
        connection.execute("PRAGMA busy_timeout = 0")  # SQLite's own back-off waits far too long: see `pause`

    async def submit(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction. Returns when it is on disk. Cancelling the caller does not undo it: that only
        cancels the waiting."""
        loop = asyncio.get_running_loop()
        job = _Job(work, loop, loop.create_future())
        with self._door:
            if self._is_closing:
                raise closed(self._path)
            is_mine = self._may_work_here() and self._using.acquire(blocking=False)
            if not is_mine:
                self._hand_over(job)
        if is_mine:
            await self._work_here(job)
        return await job.future

    def _may_work_here(self) -> bool:
        return not (
            self._is_working_here
            or self._is_grouping
            or self._done_here >= _CHECKPOINT_JOBS
            or not self._jobs.empty()
            or time.monotonic() < self._thread_until
        )

    def _hand_over(self, job: _Job) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="coder-writer", daemon=True)
            self._thread.start()
        self._jobs.put(job)

    async def _work_here(self, job: _Job) -> None:
        """Run a job on the event loop. Further jobs of the same cycle of the loop are given to the thread, which
        commits them together."""
        self._is_working_here = True
        try:
            try:
                is_done = self._transact_here(job)
            finally:
                self._using.release()
            if is_done:
                _resolve([job])
            else:
                with self._door:
                    self._hand_over(job)
            await asyncio.sleep(0)
        finally:
            self._is_working_here = False

    def _transact_here(self, job: _Job) -> bool:
        """Do the job if nobody else has locked the file."""
        began = time.monotonic()
        try:
            if self._done_here == 0:
                self._connection.execute("PRAGMA wal_autocheckpoint = 0")
            self._done_here += 1
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error:
            return False  # the thread waits, or finds out what is wrong
        try:
            self._finish([job])
        except Exception as error:  # noqa: BLE001 - whoever submitted the job is told
            job.error = self._failure(error)
        ended = time.monotonic()
        if ended - began > _QUICK_SECONDS:
            self._thread_until = ended + self._thread_seconds
            self._thread_seconds = min(2 * self._thread_seconds, _LONGEST_THREAD_SECONDS)
        else:
            self._thread_seconds = _THREAD_SECONDS
        return True

    def limit_lock_waits(self) -> None:
        """From now on, wait for locks only for the few seconds that are acceptable on exit."""
        self._are_lock_waits_limited = True

    async def close(self) -> None:
        """Finish what was submitted, then close the connection. No further jobs are accepted."""
        await self._end(self._connection.close)

    async def close_removed(self) -> None:
        """Close after a file was removed: the content of a removed -wal file is written into the database first.
        Raises StoreFailed if that is not possible; then the connection stays as it is."""
        await self._end(lambda: None)
        await asyncio.to_thread(self._settle_and_close)

    def _settle_and_close(self) -> None:
        try:
            self._files.settle_removed(self._connection)
        except sqlite3.Error as error:
            raise failure(error, self._path) from error
        self._connection.close()

    async def _end(self, lastly: Callable[[], None]) -> None:
        with self._door:
            self._is_closing = True
            self._close_work = lastly
            self._jobs.put(None)
        if self._thread is None or not self._thread.is_alive():
            lastly()
        else:
            await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while group := self._next_group():
            with self._using:
                if self._done_here:
                    self._done_here = 0
                    self._connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
                self._commit(group)
            self._is_grouping = len(group) > 1
            for loop in {job.loop for job in group}:
                mine = [job for job in group if job.loop is loop]
                with suppress(RuntimeError):  # the loop is closed, and whoever waited is gone with it
                    loop.call_soon_threadsafe(_resolve, mine)
        self._close_work()  # closing the last connection runs a checkpoint, which must not block the event loop

    def _next_group(self) -> list[_Job]:
        group: list[_Job] = []
        job = self._jobs.get()
        while job is not None:
            group.append(job)
            if len(group) == GROUP:
                break
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
        else:
            if group:
                self._jobs.put(None)  # the writer is closing: write these first
        return group

    def _commit(self, group: list[_Job]) -> None:
        try:
            self._transact(group)
        except Exception as error:  # noqa: BLE001 - the writer must outlive any failure; each job is told
            if len(group) > 1 and not isinstance(self._failure(error), StoreLocked):
                for job in group:  # one job may be the cause, so each is tried on its own
                    self._commit([job])
                return
            for job in group:
                job.error = self._failure(error)

    def _failure(self, error: Exception) -> Exception:
        return failure(error, self._path) if isinstance(error, sqlite3.Error) else error

    def _transact(self, group: list[_Job]) -> None:
        self._begin(group[0].loop)
        self._finish(group)

    def _finish(self, group: list[_Job]) -> None:
        try:
            self._files.refuse_removed(self._connection)
            if len(group) == 1:  # it is refused with the whole transaction, so it needs no savepoint
                group[0].error, group[0].result = None, group[0].work(self._connection)
            else:
                for job in group:
                    self._perform(job)
            self._connection.execute("COMMIT")
        except BaseException:
            self._rolled_back()
            if self._connection.in_transaction:  # SQLite ends it by itself when the disk is full
                self._connection.execute("ROLLBACK")
            raise

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """The process that holds the lock may have been stopped in the middle of a write, for hours: it is waited
        for, and the person is told which one it is."""
        began = time.monotonic()
        tell_at, is_told = began + TELL_SECONDS, False
        while True:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                break
            except sqlite3.OperationalError as error:
                if not is_busy(error) or self._has_waited_enough(began):
                    raise
            if not is_told and time.monotonic() > tell_at:
                is_told = True
                loop.call_soon_threadsafe(self._tell, waiting_words(self._path))
            pause(long=is_told)
        if is_told:
            loop.call_soon_threadsafe(self._tell, say("{path} is free again", path=self._path))

    def _has_waited_enough(self, began: float) -> bool:
        """While closing or hurried, the wait is limited even if `lock_seconds` is not."""
        limit = self._lock_seconds
        if self._is_closing or self._are_lock_waits_limited:
            limit = min(_LEAVING_SECONDS, _LEAVING_SECONDS if limit is None else limit)
        return limit is not None and time.monotonic() - began > limit

    def _perform(self, job: _Job) -> None:
        """A job that is refused has its writes rolled back; the other jobs of its group stay."""
        job.error = None
        self._connection.execute("SAVEPOINT job")
        try:
            job.result = job.work(self._connection)
        except CoderError as refused:
            job.error = refused
            self._connection.execute("ROLLBACK TO job")
        self._connection.execute("RELEASE job")


def _resolve(jobs: list[_Job]) -> None:
    for job in jobs:
        if job.future.cancelled():
            continue
        if job.error is not None:
            job.future.set_exception(job.error)
            job.future.exception()  # marks it as retrieved: a cancelled caller will not ask for it
        else:
            job.future.set_result(job.result)


class KnownHeads:
    """The ends of the logs that this process wrote to last. They hold until another connection writes to the file,
    which SQLite's data version tells. Used only by whoever holds the writer's connection, within a transaction."""

    def __init__(self) -> None:
        self._version = -1
        self._heads: dict[SessionId, LogHead] = {}

    def take(self, connection: sqlite3.Connection, session: SessionId) -> LogHead | None:
        """Remove and return the remembered head of this log. The caller stores the new head after its append, so that
        a failed append leaves none."""
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._version = version
            self._heads.clear()
        return self._heads.pop(session, None)

    def keep(self, session: SessionId, head: LogHead) -> None:
        if len(self._heads) >= _KNOWN_HEADS:
            self._heads.clear()
        self._heads[session] = head

    def forget(self) -> None:
        self._heads.clear()
