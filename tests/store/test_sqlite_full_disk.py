"""A disk without room: the append is refused whole, and works when there is room again."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from coderelay.protocol.errors import StoreFailed, StoreFull
from coderelay.protocol.ids import SessionId
from coderelay.store.sqlite.store import SqliteStore
from coderelay.testing.store_suite import created, everything, prompt, refused, whole_turn
from tests.store.plain_sqlite_reader import events, is_whole
from tests.store.sample_database import HEAD, A, B, refusal, use


def test_a_full_disk_refuses_the_append_and_works_again_with_room(
    path: Path, opened: list[sqlite3.Connection]
) -> None:
    log = events(path)

    async def story(store: SqliteStore) -> None:
        _, writer = opened
        (pages,) = writer.execute("PRAGMA page_count").fetchone()
        writer.execute(f"PRAGMA max_page_count = {pages + 3}")
        before = await everything(store, A, B)
        large = [prompt("x" * 100_000), *whole_turn(3)[1]]
        error = await refused(StoreFull, store.append(A, HEAD, large))
        assert str(path) in error.message
        assert "Free some space" in error.hint
        assert await everything(store, A, B) == before
        new = [SessionId(f"new-{number}") for number in range(4)]
        tasks = [store.append(A, HEAD, large), *(store.append(session, 0, [created()]) for session in new)]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(each) for each in results] == [StoreFull, *[list] * 4]  # there was room for the others
        writer.execute("PRAGMA max_page_count = 1000000")
        assert [each.event for each in await store.append(A, HEAD, large)] == large

    use(path, story)
    assert is_whole(path)
    assert set(log) < set(events(path))


def test_a_disk_that_fills_up_loses_nothing_that_was_acknowledged(small_disk: Path) -> None:
    path, ballast = small_disk / "sessions.db", small_disk / "ballast"
    ballast.write_bytes(bytes(4_800_000))
    written: list[object] = []

    async def append_forever(store: SqliteStore) -> None:
        while True:
            written.extend(await store.append(A, len(written), [prompt("x" * 30_000)]))

    async def story(store: SqliteStore) -> None:
        written.extend(await store.append(A, 0, [created()]))
        await refused(StoreFull, append_forever(store))
        for _ in range(3):
            error = await refused(StoreFull, store.append(A, len(written), [prompt("x" * 300_000)]))
            assert str(path) in error.message
        assert await store.read(A) == written
        ballast.unlink()
        written.extend(await store.append(A, len(written), [prompt("x" * 30_000)]))
        assert await store.read(A) == written

    use(path, story)
    assert is_whole(path)
    assert len(events(path)) == len(written)


def test_a_database_cannot_be_made_on_a_full_disk_and_can_with_room(small_disk: Path) -> None:
    path, ballast = small_disk / "sessions.db", small_disk / "ballast"
    ballast.touch()
    path.touch()
    with pytest.raises(OSError, match="space"):
        ballast.write_bytes(bytes(7_000_000))
    refusal(StoreFull, path)
    ballast.unlink()
    use(path, lambda store: store.append(A, 0, [created()]))
    assert is_whole(path)


def test_a_commit_that_fails_leaves_the_log_where_it_was(path: Path, opened: list[sqlite3.Connection]) -> None:
    """The writer knows the ends of logs from what it wrote; what was rolled back must not count."""
    events(path)

    async def story(store: SqliteStore) -> None:
        _, writer = opened
        await store.append(A, HEAD, [prompt("before")])
        writer.execute("PRAGMA foreign_keys = ON")
        writer.execute("CREATE TABLE owed (id TEXT REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED)")
        writer.execute("CREATE TRIGGER owes AFTER INSERT ON event BEGIN INSERT INTO owed VALUES ('nobody'); END")
        await refused(StoreFailed, store.append(A, HEAD + 1, [prompt("lost")]))
        writer.execute("DROP TRIGGER owes")
        (recorded,) = await store.append(A, HEAD + 1, [prompt("after")])
        assert (recorded.seq, await store.read(A, HEAD + 1)) == (HEAD + 2, [recorded])

    use(path, story)
