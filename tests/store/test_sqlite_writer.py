"""Who commits: the event loop what comes alone, a thread what comes together or may last."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.ids import SessionId
from coderelay.protocol.wall_clock import now
from coderelay.store.sqlite import writer
from coderelay.store.sqlite.store import SqliteStore
from coderelay.testing.store_suite import created, prompt
from tests.store.sample_database import HEAD, A
from tests.store.sqlite_process import hold, start

_WAL_BYTES = 10 * 1024 * 1024


class Workers:
    """The clock of a store, which the job that appends reads. It tells which thread did the job."""

    def __init__(self, seconds: float = 0) -> None:
        self.names: list[str] = []
        self._seconds = seconds

    def __call__(self) -> int:
        here = threading.current_thread()
        self.names.append("loop" if here is threading.main_thread() else here.name)
        time.sleep(self._seconds)
        return now()


def run(path: Path, clock: Callable[[], int], story: Callable[[SqliteStore], Awaitable[object]]) -> None:
    async def whole() -> None:
        store = SqliteStore(str(path), SessionRows(), lock_seconds=60, clock=clock)
        try:
            await story(store)
        finally:
            await store.close()

    asyncio.run(whole())


def test_an_append_that_comes_alone_needs_no_thread(path: Path) -> None:
    workers = Workers()
    run(path, workers, lambda store: store.append(A, HEAD, [prompt()]))
    assert workers.names == ["loop"]


def test_appends_that_come_together_share_a_commit_of_the_thread(path: Path) -> None:
    workers = Workers()

    async def story(store: SqliteStore) -> None:
        for n, event in enumerate((created(), prompt(), prompt())):
            await asyncio.gather(*(store.append(SessionId(f"new {name}"), n, [event]) for name in range(4)))

    run(path, workers, story)
    assert workers.names[:4] == ["loop", *["coder-writer"] * 3]
    assert workers.names.count("loop") <= 3


def test_after_a_slow_commit_the_event_loop_is_left_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_THREAD_SECONDS", 60)
    workers = Workers(seconds=0.01)

    async def story(store: SqliteStore) -> None:
        for n in range(3):
            await store.append(A, HEAD + n, [prompt()])

    run(path, workers, story)
    assert workers.names == ["loop", "coder-writer", "coder-writer"]


def test_the_event_loop_does_not_wait_for_the_lock_of_another_process(path: Path) -> None:
    workers = Workers()

    async def story(store: SqliteStore) -> None:
        with start(hold, path, "IMMEDIATE") as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            waiting = asyncio.create_task(store.append(A, HEAD, [prompt()]))
            for _ in range(5):
                await asyncio.sleep(0)
            assert not waiting.done()
            holder.communicate()
            assert len(await waiting) == 1

    run(path, workers, story)
    assert workers.names == ["coder-writer"]


def test_an_append_submitted_before_closing_is_made(path: Path) -> None:
    async def story(store: SqliteStore) -> None:
        waiting = asyncio.create_task(store.append(A, HEAD, [prompt()]))
        await asyncio.sleep(0)  # it is submitted, and nothing more
        await store.close()
        assert len(await waiting) == 1

    run(path, Workers(), story)


def test_the_log_beside_the_database_stays_short_without_a_thread(tmp_path: Path) -> None:
    """What the event loop commits makes no checkpoint; the thread does one in time."""
    path, session = tmp_path / "sessions.db", SessionId("long")

    async def story(store: SqliteStore) -> None:
        await store.append(session, 0, [created()])
        for n in range(1, 800):
            await store.append(session, n, [prompt("word " * 1000)])
        assert (tmp_path / "sessions.db-wal").stat().st_size < _WAL_BYTES

    run(path, Workers(), story)
