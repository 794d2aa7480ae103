"""Several processes on one database, born together or killed at any moment."""

import asyncio
import os
import stat
import subprocess
from pathlib import Path

import pytest

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.ids import SessionId
from coderelay.store.sqlite.store import SqliteStore
from coderelay.testing.store_suite import created, write
from tests.store.plain_sqlite_reader import is_whole, rows, tables
from tests.store.sample_database import use
from tests.store.sqlite_process import append_forever, append_once_at_head, create, start


def test_processes_that_create_the_same_database_at_once_all_succeed(tmp_path: Path) -> None:
    """Symptom: `locked by another program`, since SQLite does not wait while a file becomes WAL."""
    processes = [start(create, f"s{number}") for number in range(8)]
    try:
        assert {_line(each) for each in processes} == {"ready"}
        for round_ in range(10):
            path = tmp_path / f"home-{round_}" / "sessions.db"
            for each in processes:
                _tell(each, str(path))
            assert [_line(each) for each in processes] == ["ok"] * 8
            assert len(rows(path, "SELECT id FROM sessions")) == 8
            assert is_whole(path)
    finally:
        for each in processes:
            each.communicate()


def test_processes_that_write_to_one_session_all_get_in(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    use(path, lambda store: store.append(SessionId("other"), 0, [created()]))
    processes = [start(append_once_at_head, path, f"p{number}", 60) for number in range(3)]
    assert {_line(each) for each in processes} == {"ready"}
    for each in processes:
        _tell(each, "go")
    for each in processes:
        each.communicate()
    assert [each.returncode for each in processes] == [0, 0, 0]
    found = rows(path, "SELECT seq, body ->> 'text' FROM event WHERE session_id = 'shared' ORDER BY seq")
    assert [seq for seq, _ in found] == list(range(1, 181))
    for number in range(3):
        mine = [text for _, text in found if text.startswith(f"p{number} ")]
        assert mine == [f"p{number} {count}" for count in range(60)]


def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    acknowledged: set[tuple[str, int]] = set()
    for round_, until in enumerate((1, 40, 130, 333, 500)):
        with start(append_forever, path, round_) as process:
            said = [_line(process) for _ in range(until)]
            process.kill()
            said += process.communicate()[0].splitlines()
        acknowledged |= {_acknowledged(line) for line in said if line.count(" ") == 1}
        assert is_whole(path)
        events: list[tuple[str, int]] = rows(path, "SELECT session_id, seq FROM event ORDER BY session_id, seq")
        assert acknowledged <= set(events)
        for session in {session for session, _ in events}:
            numbers = [seq for each, seq in events if each == session]
            assert numbers == list(range(1, len(numbers) + 1))
            assert len(numbers) % 2 == 1  # appends of two events, after the first of three, are there whole
        before = tables(path)
        use(path, lambda store: store.rebuild())
        assert tables(path) == before


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_person_can_read_the_log(umask: int, tmp_path: Path) -> None:
    path = tmp_path / "home" / "sessions.db"
    before = os.umask(umask)
    try:
        asyncio.run(_modes(path))
    finally:
        os.umask(before)


async def _modes(path: Path) -> None:
    store = SqliteStore(str(path), SessionRows())
    await write(store, SessionId("a"), [[created()]])
    assert {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()} == {
        "sessions.db": 0o600,
        "sessions.db-wal": 0o600,
        "sessions.db-shm": 0o600,
    }
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    await store.close()


def _tell(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _acknowledged(line: str) -> tuple[str, int]:
    session, seq = line.split()
    return session, int(seq)
