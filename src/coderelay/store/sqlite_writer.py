"""One thread that writes. Jobs that arrive together share one commit; each stands or falls alone."""

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import Struct

from coderelay.protocol.errors import CoderError, StoreFailed, StoreLocked
from coderelay.store.sqlite_file import closed, failure, patiently

T = TypeVar("T")

GROUP = 256


class _Job(Struct):
    work: Callable[[sqlite3.Connection], Any]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = None
    error: Exception | None = None


class Writer:
    def __init__(self, connection: sqlite3.Connection, path: str, lock_seconds: float) -> None:
        self._connection = connection
        self._path = path
        self._lock_seconds = lock_seconds
        self._file = _identity(path)
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._door = threading.Lock()
        self._is_closing = False
        connection.execute("PRAGMA busy_timeout = 0")  # its own back-off waits far too long: see patiently

    async def submit(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction. Returns when it is on disk; is not undone by cancellation."""
        loop = asyncio.get_running_loop()
        job = _Job(work, loop, loop.create_future())
        with self._door:
            if self._is_closing:
                raise closed(self._path)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="coder-writer", daemon=True)
                self._thread.start()
            self._jobs.put(job)
        return await asyncio.shield(job.future)

    async def close(self) -> None:
        """Finish what was submitted, then close the connection. Nothing is taken any more."""
        with self._door:
            self._is_closing = True
            self._jobs.put(None)
        if self._thread is None:
            self._connection.close()
        else:
            await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while group := self._next_group():
            self._commit(group)
            for loop in {job.loop for job in group}:
                mine = [job for job in group if job.loop is loop]
                with suppress(RuntimeError):  # the loop is gone, and with it whoever waited
                    loop.call_soon_threadsafe(_resolve, mine)
        self._connection.close()  # the last one folds the -wal file into the database: not on the event loop

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
                self._jobs.put(None)  # closing: write these first
        return group

    def _commit(self, group: list[_Job]) -> None:
        try:
            self._transact(group)
        except Exception as error:  # noqa: BLE001 - the writer must outlive any failure; each job is told
            if len(group) > 1 and not isinstance(self._told(error), StoreLocked):
                for job in group:  # one of them may be to blame, so none fails because of its company
                    self._commit([job])
                return
            for job in group:
                job.error = self._told(error)

    def _told(self, error: Exception) -> Exception:
        return failure(error, self._path) if isinstance(error, sqlite3.Error) else error

    def _transact(self, group: list[_Job]) -> None:
        patiently(lambda: self._connection.execute("BEGIN IMMEDIATE"), self._lock_seconds)
        try:
            self._check_place()
            for job in group:
                self._perform(job)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # a full disk ends it by itself
                self._connection.execute("ROLLBACK")
            raise

    def _check_place(self) -> None:
        """What is written to a file that was removed would be lost, though SQLite accepts it."""
        if _identity(self._path) != self._file:
            raise StoreFailed(
                f"{self._path} was moved or deleted while in use",
                "Put it back together with its -wal file, or start again to begin a new one. Nothing was written.",
            )

    def _perform(self, job: _Job) -> None:
        """A refused job takes back what it wrote; the others of its group stay."""
        job.error = None
        self._connection.execute("SAVEPOINT job")
        try:
            job.result = job.work(self._connection)
        except CoderError as refused:
            job.error = refused
            self._connection.execute("ROLLBACK TO job")
        self._connection.execute("RELEASE job")


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _resolve(jobs: list[_Job]) -> None:
    for job in jobs:
        if job.future.cancelled():
            continue
        if job.error is not None:
            job.future.set_exception(job.error)
            job.future.exception()  # seen: a caller that was cancelled will not ask for it
        else:
            job.future.set_result(job.result)
