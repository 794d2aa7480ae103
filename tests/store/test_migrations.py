"""The schema grows step by step; what was written with fewer steps stays."""

import hashlib
from pathlib import Path

import pytest

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.errors import StoreFailed
from coderelay.protocol.ids import SessionId
from coderelay.store.sqlite import migrations
from coderelay.store.sqlite.migrations import APPLICATION_ID, MAJOR, STEPS
from coderelay.store.sqlite.store import SqliteStore
from coderelay.testing.store_suite import created, prompt, whole_turn, write
from tests.store.plain_sqlite_reader import connected, events, is_whole, rows, tables
from tests.store.sample_database import use

# Databases with these steps are in people's homes. Add the hash of a new step; never change one.
PINNED = [
    "c4658896faa4ae9c00c4843cbea0812e2de6d04138fb7a024627426edfef91b7",
    "b242b7167f63d74e4fdbd065a57cb67e16053d8b495ecd3f8bc651bbd0bd4b87",
    "0d19ebedf0c9dce690cf0b2e9a48e630a9ec150a45102e0aa13b75181201345c",
    "581406120840b8e372190c0a1ce6bc872dbeb3bd6525f221d40f543f3f7a8718",
    "e6c1b62e8091eee8f57e00e2a7900f4c916f02d41affdd73714b50671d1a92dd",
    "0399f12189eb2c7a9aa424c0300cd62a5cdf7c00f17e3a51a1ae846ed7178699",
]


def test_steps_are_only_added() -> None:
    assert [hashlib.sha256(step.encode()).hexdigest() for step in STEPS] == PINNED


def test_the_first_schema_is_brought_up_to_date_with_all_that_is_in_it(tmp_path: Path) -> None:
    new, old = tmp_path / "new.db", tmp_path / "old.db"
    use(new, lambda store: write(store, SessionId("a"), [[created()], *whole_turn(), *whole_turn(3)]))
    with connected(old) as connection:
        connection.executescript(STEPS[0])
        connection.execute("ATTACH ? AS new", (str(new),))
        columns = (
            "id, title, claude_session_id, cwd, allowed_tools, last_prompt, created_at, updated_at, phase, summary"
        )
        connection.execute("INSERT INTO main.event SELECT * FROM new.event ORDER BY rowid")
        connection.execute(f"INSERT INTO main.sessions ({columns}) SELECT {columns} FROM new.sessions")
        connection.execute("INSERT INTO main.messages SELECT * FROM new.messages ORDER BY rowid")
        connection.execute(f"PRAGMA main.application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA main.user_version = {MAJOR * 1000 + 1}")
    use(old, lambda store: store.read(SessionId("a")))
    assert tables(old) == tables(new)
    assert events(old) == events(new)
    assert _schema(old) == _schema(new)
    assert rows(old, "PRAGMA user_version") == [(MAJOR * 1000 + len(STEPS),)]
    assert is_whole(old)


def test_sessions_that_an_older_program_changes_keep_their_order(tmp_path: Path) -> None:
    path, names = tmp_path / "sessions.db", [SessionId(name) for name in "abc"]

    async def fill(store: SqliteStore) -> None:
        for name in names:
            await write(store, name, [[created()]])

    use(path, fill)
    assert _listed(path) == ["c", "b", "a"]
    with connected(path) as connection:  # as version 3 writes rows
        columns = "id, title, cwd, allowed_tools, last_prompt, created_at, updated_at, phase, summary"
        values = f"{columns.removeprefix('id')} FROM sessions WHERE id = 'a'"
        update = "ON CONFLICT (id) DO UPDATE SET phase = excluded.phase"
        connection.execute(f"INSERT INTO sessions ({columns}) SELECT id {values} {update}")
        assert _listed(path) == ["a", "c", "b"]
        connection.execute(f"INSERT INTO sessions ({columns}) SELECT 'd' {values} {update}")
    assert _listed(path) == ["d", "a", "c", "b"]
    use(path, lambda store: write(store, names[1], [[prompt()]]))
    assert _listed(path) == ["b", "d", "a", "c"]


def _listed(path: Path) -> list[str]:
    return [name for (name,) in rows(path, "SELECT id FROM sessions ORDER BY changed DESC")]


def test_a_step_that_fails_leaves_the_database_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sessions.db"
    use(path, lambda store: write(store, SessionId("a"), [[created()]]))
    before = _schema(path), tables(path), rows(path, "PRAGMA user_version")
    monkeypatch.setattr(migrations, "STEPS", (*STEPS, "CREATE TABLE half (done); DROP TABLE event; BOOM"))
    with pytest.raises(StoreFailed, match="syntax error"):
        SqliteStore(str(path), SessionRows())
    assert (_schema(path), tables(path), rows(path, "PRAGMA user_version")) == before


def _schema(path: Path) -> list[tuple[str, str]]:
    return rows(path, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
