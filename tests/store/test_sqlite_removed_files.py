"""Files of the log removed, emptied or cut short while it is in use: nothing acknowledged is lost, or it is said."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coderelay.protocol.errors import StoreDamaged, StoreFailed
from coderelay.protocol.ids import SessionId
from coderelay.store.sqlite.store import SqliteStore
from coderelay.testing.store_suite import prompt, refused, write
from tests.store.plain_sqlite_reader import events, is_whole, rows
from tests.store.sample_database import HEAD, A, B, use
from tests.store.sqlite_process import append_forever, create, start

SUFFIXES = [("-wal",), ("-wal", "-shm")]


@pytest.mark.parametrize("suffixes", SUFFIXES, ids="+".join)
def test_a_removed_wal_loses_nothing_that_was_acknowledged(suffixes: tuple[str, ...], tmp_path: Path) -> None:
    """Symptom: 14 results were shown, and after kill -9 none of them was in the log."""
    path = tmp_path / "sessions.db"
    said: list[str] = []
    with start(append_forever, path, 0) as process:
        assert process.stdout is not None
        for _ in range(4):
            said += [process.stdout.readline() for _ in range(60)]
            for suffix in suffixes:
                os.unlink(f"{path}{suffix}")
        said += [process.stdout.readline() for _ in range(60)]  # so that the last removal was noticed
        process.kill()
        said += process.communicate()[0].splitlines(keepends=True)
    acknowledged = {tuple(line.split()) for line in said if line.endswith("\n")}
    assert is_whole(path)
    assert acknowledged <= {(session, str(seq)) for session, seq, *_ in events(path)}


@pytest.mark.parametrize("suffixes", SUFFIXES, ids="+".join)
def test_a_process_that_only_reads_goes_on_with_the_new_files(suffixes: tuple[str, ...], path: Path) -> None:
    async def story(store: SqliteStore) -> None:
        await write(store, A, [[prompt("before")]])
        with start(append_forever, path, 0) as process:
            assert process.stdout is not None
            for _ in range(30):
                process.stdout.readline()
            counter = store.change_counter()
            for suffix in suffixes:
                os.unlink(f"{path}{suffix}")
            session, seq = [process.stdout.readline() for _ in range(60)][-1].split()
            assert store.change_counter() != counter
            assert (await store.heads([SessionId(session)]))[SessionId(session)] >= int(seq)
            assert len(await store.read(A)) == HEAD + 1
            process.kill()
            process.communicate()
        await write(store, B, [[prompt("after")]])

    use(path, story)
    assert is_whole(path)
    assert len(rows(path, "SELECT seq FROM event WHERE session_id IN ('a', 'b')")) == 2 * HEAD + 2


def test_two_histories_are_never_mixed(path: Path) -> None:
    """Another process has begun a new -wal file: this one says so and writes no more."""

    async def story(store: SqliteStore) -> None:
        await write(store, A, [[prompt("only in the removed file")]])
        for suffix in ("-wal", "-shm"):
            os.unlink(f"{path}{suffix}")
        with start(create, "other") as other:
            told, _ = other.communicate(f"{path}\n")
        assert told == "ready\nok\n"
        error = await refused(StoreFailed, store.append(A, HEAD + 1, [prompt()]))
        assert f"{path}-wal was removed" in error.message
        await refused(StoreFailed, store.read(A))

    use(path, story)
    assert is_whole(path)
    assert len(rows(path, "SELECT seq FROM event WHERE session_id = 'other'")) == 1


@pytest.mark.parametrize("replaced_by", ["a copy", "nothing"])
def test_a_wal_that_was_moved_away_loses_nothing(replaced_by: str, path: Path) -> None:
    """A copy has the same content, but this process goes on writing to the file that was moved."""
    moved = path.parent / "moved"

    async def story(store: SqliteStore) -> None:
        await write(store, A, [[prompt("before")]])
        os.rename(f"{path}-wal", moved)
        if replaced_by == "a copy":
            shutil.copy(moved, f"{path}-wal")
            error = await refused(StoreFailed, store.append(A, HEAD + 1, [prompt()]))
            assert f"{path}-wal was removed" in error.message
        else:
            await write(store, B, [[prompt("after")]])

    use(path, story)
    assert is_whole(path)
    wanted = 2 * HEAD + (1 if replaced_by == "a copy" else 2)
    assert len(rows(path, "SELECT seq FROM event WHERE session_id IN ('a', 'b')")) == wanted


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="asks with stat where there is no /proc")
def test_a_process_that_only_looked_made_the_commits_of_others_slower(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: a commit took 230 microseconds instead of 160, since `stat` asked for the times of the -wal file."""
    asked: list[str] = []
    stat = os.stat
    home = tmp_path / "a link to the home"
    home.symlink_to(path.parent)

    def noted(what: str | int, *args: object, **more: object) -> os.stat_result:
        if isinstance(what, int):
            what = os.readlink(f"/proc/self/fd/{what}")
        asked.append(Path(what).name)
        return stat(what, *args, **more)

    async def story(store: SqliteStore) -> None:
        await write(store, A, [[prompt("first")]])
        with monkeypatch.context() as patched:
            patched.setattr(os, "stat", noted)
            await store.append(A, HEAD + 1, [prompt("next")])
            assert len(await store.read(A)) == HEAD + 2
            store.change_counter()

    use(home / path.name, story)
    assert set(asked) == {path.name, f"{path.name}-shm"}


def write_by_another_process(path: Path) -> None:
    with start(create, "other") as other:
        told, _ = other.communicate(f"{path}\n")
    assert told == "ready\nok\n"


def test_processes_overwrote_each_other_after_the_shm_was_removed(path: Path) -> None:
    """Symptom: messages that were shown were lost, a session became unknown, or the database was damaged."""

    async def story(store: SqliteStore) -> None:
        await write(store, A, [[prompt("before")]])
        counter = store.change_counter()
        os.unlink(f"{path}-shm")
        write_by_another_process(path)
        assert store.change_counter() != counter
        await write(store, B, [[prompt("after")]])
        assert await store.session(SessionId("other")) is not None
        await write(store, A, [[prompt("at last")]])

    use(path, story)
    assert is_whole(path)
    assert len(rows(path, "SELECT seq FROM event WHERE session_id IN ('a', 'b', 'other')")) == 2 * HEAD + 4


@pytest.mark.parametrize("suffixes", [("-shm",), *SUFFIXES], ids="+".join)
def test_a_process_that_closed_the_log_deleted_what_others_had_written(suffixes: tuple[str, ...], path: Path) -> None:
    """Whoever closes it last folds the -wal file into the database, as far as it knows that file, and deletes it."""

    async def story(store: SqliteStore) -> None:
        await store.read(A)
        for suffix in suffixes:
            os.unlink(f"{path}{suffix}")
        write_by_another_process(path)

    use(path, story)
    assert is_whole(path)
    assert len(rows(path, "SELECT seq FROM event WHERE session_id = 'other'")) == 1


@pytest.mark.parametrize("writes", [True, False], ids=["writing", "closing"])
def test_an_emptied_wal_destroyed_the_database_too(path: Path, writes: bool) -> None:
    """Symptom: `file is not a database`, for good, although only the last events were in the -wal file."""

    async def story(store: SqliteStore) -> None:
        await write(store, A, [[prompt("lost")]])
        os.truncate(f"{path}-wal", 0)
        if writes:
            error = await refused(StoreDamaged, store.append(B, HEAD, [prompt()]))
            assert f"{path}-wal was emptied or cut short" in error.message

    use(path, story)
    assert is_whole(path)
    assert len(rows(path, "SELECT seq FROM event WHERE session_id IN ('a', 'b')")) == 2 * HEAD


@pytest.mark.parametrize("size", [0, 4096 * 3], ids=["emptied", "cut short"])
def test_a_database_that_was_emptied_or_cut_short_is_not_written_to(size: int, path: Path) -> None:
    async def story(store: SqliteStore) -> None:
        await write(store, A, [[prompt("last words")]])
        os.truncate(path, size)
        error = await refused(StoreDamaged, store.append(B, HEAD, [prompt()]))
        assert f"{path} was emptied or cut short" in error.message
        assert "backup" in error.hint

    use(path, story)
    assert path.stat().st_size == size
    assert b"last words" in Path(f"{path}-wal").read_bytes()  # left for whoever restores it
    found = subprocess.run(
        [sys.executable, "-m", "coderelay.cli", "doctor"],
        env={"CODER_HOME": str(path.parent), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    (line,) = (line for line in found.stdout.splitlines() if line[2:].startswith("log "))
    assert line.startswith("✗")
    assert "whole" not in line


def test_a_database_that_another_program_has_made_smaller_is_written_to(path: Path) -> None:
    async def story(store: SqliteStore) -> None:
        await write(store, B, [[prompt("x" * 200_000)]])
        rows(path, "DELETE FROM event WHERE session_id = 'a'")
        rows(path, "PRAGMA wal_checkpoint(TRUNCATE)")
        await write(store, B, [[prompt()]])
        rows(path, "VACUUM")
        rows(path, "PRAGMA wal_checkpoint(TRUNCATE)")
        await write(store, B, [[prompt()]])

    use(path, story)
    assert is_whole(path)
