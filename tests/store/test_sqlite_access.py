"""A database that is locked, read-only, or gone while in use: said clearly, nothing lost."""

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.errors import HeadMoved, StoreDamaged, StoreFailed, StoreLocked
from coderelay.store.sqlite import store as sqlite_module
from coderelay.store.sqlite.store import SqliteStore
from coderelay.testing.store_suite import created, everything, prompt, refused, write
from tests.store.plain_sqlite_reader import connected, digest, is_whole, rows
from tests.store.sample_database import HEAD, A, B, refusal, use
from tests.store.sqlite_process import hold, start, use_read_only

NOBODY = 65534


def test_a_database_locked_by_another_process_is_refused(path: Path) -> None:
    with start(hold, path, "EXCLUSIVE") as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert "Close it" in refusal(StoreLocked, path).hint
        holder.communicate()
    assert holder.returncode == 0
    use(path, lambda store: store.append(A, HEAD, [prompt()]))


def test_an_append_waits_for_another_process_and_can_be_tried_again(path: Path) -> None:
    async def story(store: SqliteStore) -> None:
        before = await everything(store, A, B)
        with start(hold, path, "IMMEDIATE") as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            attempts = [store.append(A, HEAD, [prompt()]), store.append(B, 9, [prompt()])]
            results = await asyncio.gather(*attempts, return_exceptions=True)
            assert [type(each) for each in results] == [StoreLocked, StoreLocked]
            assert all(str(path) in str(each) for each in results)
            assert await everything(store, A, B) == before  # reading does not wait for writers
            patient = SqliteStore(str(path), SessionRows(), lock_seconds=60)
            waiting = asyncio.create_task(patient.append(B, HEAD, [prompt()]))
            await asyncio.sleep(0)
            assert not waiting.done()
            holder.communicate()
        assert len(await waiting) == 1
        assert len(await store.append(A, HEAD, [prompt()])) == 1
        await refused(HeadMoved, store.append(B, 9, [prompt()]))
        await patient.close()

    use(path, story, lock_seconds=0.1)


@pytest.fixture
def private() -> Generator[Path]:
    """A folder that belongs to a person without privileges, who can reach it."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("what", ["file", "folder", "both", "missing"])
def test_a_read_only_database_is_said_and_left_as_it_is(what: str, private: Path) -> None:
    path = private / "home" / "sessions.db"
    path.parent.mkdir()
    if what != "missing":
        use(path, lambda store: store.append(A, 0, [created()]))
        path.chmod(0o444 if what in ("file", "both") else 0o644)
    for each in (path, path.parent):
        if os.getuid() == 0 and each.exists():
            os.chown(each, NOBODY, NOBODY)
    path.parent.chmod(0o755 if what == "file" else 0o555)
    before = digest(path) if path.exists() else ""
    with start(use_read_only, path, NOBODY) as other:
        said, _ = other.communicate()
    path.parent.chmod(0o755)
    assert other.returncode == 0
    assert f"StoreReadOnly: {'cannot create ' if what == 'missing' else ''}{path}" in said
    assert "written" not in said
    assert "writable" in said or "can write" in said
    assert (digest(path) if path.exists() else "") == before
    assert path.exists() == (what != "missing")


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(StoreFailed, match=r"cannot create .*home/sessions\.db") as caught:
        SqliteStore(str(tmp_path / "home" / "sessions.db"), SessionRows())
    assert "CODER_HOME" in caught.value.hint
    (tmp_path / "folder" / "sessions.db").mkdir(parents=True)
    with pytest.raises(StoreFailed, match=r"folder/sessions\.db cannot be used"):
        SqliteStore(str(tmp_path / "folder" / "sessions.db"), SessionRows())


@pytest.mark.parametrize("instead", ["nothing", "another"])
def test_what_cannot_be_found_again_is_not_acknowledged(instead: str, path: Path) -> None:
    """Symptom: appends to a database that was deleted under us succeeded, and were lost."""

    async def story(store: SqliteStore) -> None:
        await write(store, A, [[prompt()]])
        moved = path.with_name("moved.db")
        path.rename(moved)
        if instead == "another":
            path.touch()
        error = await refused(StoreFailed, store.append(A, 54, [prompt()]))
        assert f"{path} was moved or deleted" in error.message
        assert len(await store.read(A)) == 54
        moved.rename(path)
        assert len(await store.append(A, 54, [prompt()])) == 1

    use(path, story)
    assert is_whole(path)


def test_a_store_that_cannot_be_opened_leaves_nothing_open(
    path: Path, opened: list[sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: the reading connection stayed open when the writing one could not be opened."""
    once = sqlite_module.open_file

    def fail_at_second(path: str, lock_seconds: float) -> sqlite3.Connection:
        if opened:
            raise StoreLocked(f"{path} is locked")
        return once(path, lock_seconds)

    monkeypatch.setattr(sqlite_module, "open_file", fail_at_second)
    with pytest.raises(StoreLocked):
        SqliteStore(str(path), SessionRows())
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


def test_every_commit_is_on_disk_before_it_is_acknowledged(path: Path, opened: list[sqlite3.Connection]) -> None:
    async def story(store: SqliteStore) -> None:
        for connection in opened:
            assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)

    use(path, story)


def test_nothing_is_held_between_two_reads(path: Path) -> None:
    """An open read transaction would show the past, and let the -wal file grow without end."""
    with connected(path) as connection:
        connection.execute("UPDATE event SET body = '{}' WHERE session_id = 'b' AND seq = 7")

    async def story(store: SqliteStore) -> None:
        for _ in range(2):
            await store.read(A, limit=1)
            await refused(StoreDamaged, store.read(B))
            await store.heads([A, B])
            await store.sessions(limit=1)
            await store.session(A)
            await store.messages(A)
            store.change_counter()
            assert rows(path, "PRAGMA wal_checkpoint(TRUNCATE)") == [(0, 0, 0)]
            await write(store, A, [[prompt()]])

    use(path, story)
