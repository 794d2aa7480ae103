"""What the list of recent folders costs: nothing for each session."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.ids import SessionId
from coderelay.store.sqlite.store import SqliteStore
from coderelay.testing.store_suite import created
from tests.store.plain_sqlite_reader import connected

_MANY = 2000
_STEPS = 10


@pytest.mark.quick
def test_b26_many_sessions_in_one_folder_are_not_read_for_its_name(
    tmp_path: Path, opened: list[sqlite3.Connection]
) -> None:
    """Counted in steps of SQLite's machine, of which a row takes several."""
    path = tmp_path / "sessions.db"

    async def steps() -> int:
        store, counted = SqliteStore(str(path), SessionRows()), 0

        def count() -> None:
            nonlocal counted
            counted += _STEPS

        if not await store.sessions():
            for session, cwd in (("a", "/one"), ("b", "/two")):
                await store.append(SessionId(session), 0, [created(cwd)])
        for each in opened:
            each.set_progress_handler(count, _STEPS)
        assert await store.recent_folders(10) == ["/two", "/one"]
        for each in opened:
            each.set_progress_handler(None, 0)
        await store.close()
        opened.clear()
        return counted

    before = asyncio.run(steps())
    with connected(path) as database:
        database.execute("BEGIN")
        names = [name for _, name, *_ in database.execute("PRAGMA table_info(sessions)")]
        others = ", ".join(name for name in names if name not in ("id", "changed"))
        for number in range(_MANY):
            database.execute(
                f"INSERT INTO sessions (id, changed, {others}) SELECT ?, -?, {others} FROM sessions WHERE id = 'a'",
                (f"a{number}", number + 1),
            )
        database.commit()
    assert asyncio.run(steps()) < before + _MANY / 10
