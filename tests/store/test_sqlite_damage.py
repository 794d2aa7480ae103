"""A damaged database, and one that is not ours to touch: said clearly, left as it is, nothing lost."""

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.errors import StoreDamaged, StoreFailed, StoreNewer
from coderelay.protocol.ids import SessionId
from coderelay.store.sqlite.migrations import APPLICATION_ID, MAJOR, STEPS
from coderelay.store.sqlite.open_file import check_file
from coderelay.store.sqlite.store import SqliteStore
from coderelay.testing.store_suite import created, everything, prompt, refused, whole_turn, write
from tests.store.plain_sqlite_reader import connected, digest, rows, tables
from tests.store.sample_database import HEAD, A, B, refusal, use


def _overwrite(path: Path, offset: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(content)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "no magic": lambda path: _overwrite(path, 0, b"SQL ate format 3"),
    "first page zeroed": lambda path: _overwrite(path, 0, bytes(4096)),
    "page size": lambda path: _overwrite(path, 16, b"\x00\x03"),
    "garbage": lambda path: path.write_bytes(os.urandom(20_000)),
    "a text": lambda path: path.write_text("my notes\n" * 1000),
    "a short text": lambda path: path.write_text("hello"),
    "half of it": lambda path: os.truncate(path, path.stat().st_size // 2),
    "one page of it": lambda path: os.truncate(path, 4096),
    "a few bytes of it": lambda path: os.truncate(path, 60),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_refused_and_left_as_it_is(damage: str, path: Path) -> None:
    DAMAGE[damage](path)
    error = refusal(StoreDamaged, path)
    assert "backup" in error.hint
    assert "-wal" in error.hint
    assert os.listdir(path.parent) == ["sessions.db"]


@pytest.mark.parametrize("damage", [bytes(4096), b"\xff" * 4096, None], ids=["zeros", "ones", "letters"])
def test_a_damaged_page_is_said_when_it_is_read_and_the_rest_goes_on(damage: bytes | None, path: Path) -> None:
    place = path.read_bytes().index(b"a 20 a 20")
    if damage is None:
        _overwrite(path, place, b"\xfe\xff\xfe")
    else:
        place = place // 4096 * 4096
        _overwrite(path, place, damage)
    content = path.read_bytes()[place : place + 4096]

    async def story(store: SqliteStore) -> None:
        error = await refused(StoreDamaged, store.read(A))
        assert str(path) in error.message
        assert error.hint
        assert len(await store.read(B)) == HEAD
        await write(store, B, [[prompt()]])
        assert len(await store.sessions()) == 2

    use(path, story)
    assert path.read_bytes()[place : place + 4096] == content


def test_text_that_is_no_text_is_named(path: Path) -> None:
    """Symptom: a body that is not UTF-8 was `cannot be used: Could not decode`, without session or number."""
    with connected(path) as connection:
        connection.execute("UPDATE event SET body = CAST(x'7bff7d' AS TEXT) WHERE session_id = 'a' AND seq = 7")

    async def story(store: SqliteStore) -> None:
        error = await refused(StoreDamaged, store.read(A))
        assert f"{path} is damaged: event 7 of session a" in error.message

    use(path, story)


def test_a_missing_event_is_not_skipped(path: Path) -> None:
    """Symptom: a log with a hole was read as if it were whole."""
    with connected(path) as connection:
        connection.execute("DELETE FROM event WHERE session_id = 'a' AND seq IN (1, 7)")

    async def story(store: SqliteStore) -> None:
        for after, missing in ((0, 1), (3, 7), (6, 7)):
            error = await refused(StoreDamaged, store.read(A, after))
            assert f"event {missing} of session a" in error.message
        assert len(await store.read(A, 7)) == 46
        await refused(StoreDamaged, store.rebuild())

    before = tables(path)
    use(path, story)
    assert tables(path) == before


def test_a_damaged_row_of_a_session_is_named_and_others_go_on(path: Path) -> None:
    """Symptom: msgspec errors out of `sessions`, and a commit that failed for everyone in it."""
    with connected(path) as connection:
        connection.execute("""UPDATE sessions SET summary = '{"id": 5}' WHERE id = 'a'""")

    async def story(store: SqliteStore) -> None:
        for attempt in (store.session(A), store.sessions()):
            assert "session a" in (await refused(StoreDamaged, attempt)).message
        results = await asyncio.gather(
            *(store.append(session, HEAD, [prompt()]) for session in (A, B)), return_exceptions=True
        )
        assert [type(each) for each in results] == [StoreDamaged, list]
        await store.rebuild()
        assert {each.id for each in await store.sessions()} == {A, B}

    use(path, story)


@pytest.mark.parametrize("rest", ["missing", "empty"])
def test_what_was_written_last_is_not_deleted_with_a_database_that_is_gone(rest: str, path: Path) -> None:
    """Symptom: SQLite deletes a -wal file beside an empty database. A crash leaves one with the last commits."""

    async def story(store: SqliteStore) -> None:
        await write(store, A, [[prompt("last words")]])
        for suffix in ("", "-wal", "-shm"):  # as a kill would leave them
            shutil.copy(f"{path}{suffix}", f"{path.parent}/copy{suffix}")

    use(path, story)
    copy = path.parent / "copy"
    wal = path.parent / "copy-wal"
    moved = path.parent / "moved"
    shutil.move(copy, moved)
    if rest == "empty":
        copy.touch()
    before = digest(wal)
    with pytest.raises(StoreDamaged, match="copy-wal") as caught:
        SqliteStore(str(copy), SessionRows())
    assert str(copy) in caught.value.message
    assert "-wal" in caught.value.hint
    assert digest(wal) == before
    shutil.move(moved, copy)
    assert '"last words"' in rows(copy, "SELECT body FROM event ORDER BY rowid DESC")[0][0]


def test_a_database_whose_maker_was_killed_is_finished_by_the_next(tmp_path: Path) -> None:
    """Symptom: the doctor called it read-only, as a journal was left to be rolled back."""
    making, path = tmp_path / "making.db", tmp_path / "sessions.db"
    making.touch()
    with connected(making) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE filler (text)")
        for _ in range(50):
            connection.execute("INSERT INTO filler VALUES (zeroblob(4000))")
        for suffix in ("", "-journal"):  # as a kill would leave them
            shutil.copy(f"{making}{suffix}", f"{path}{suffix}")
        connection.execute("ROLLBACK")
    assert path.stat().st_size > 0
    assert check_file(str(path)) == (0, 0)
    use(path, lambda store: store.append(A, 0, [created()]))
    assert check_file(str(path)) == (1, 1)


def test_the_doctor_finds_damage_that_opening_does_not(path: Path) -> None:
    assert check_file(str(path)) == (106, 2)
    _overwrite(path, path.read_bytes().index(b"a 20 a 20") // 4096 * 4096, bytes(4096))
    with pytest.raises(StoreDamaged, match=r"sessions\.db"):
        check_file(str(path))
    odd = path.parent / "100%3f ?#"
    odd.mkdir()
    shutil.move(path, odd)
    with pytest.raises(StoreDamaged):
        check_file(str(odd / "sessions.db"))


@pytest.mark.parametrize(
    "pragma", ["user_version = 0", "user_version = 7", "application_id = 5", "user_version = 1001"]
)
def test_a_database_of_another_program_is_not_touched(pragma: str, tmp_path: Path) -> None:
    """Symptom: it was switched to WAL before it was looked at, and got our tables if it had no version."""
    path = tmp_path / "sessions.db"
    with connected(path) as connection:
        connection.execute("CREATE TABLE notes (text)")
        connection.execute("INSERT INTO notes VALUES ('mine')")
        connection.execute(f"PRAGMA {pragma}")
    assert "another program" in refusal(StoreFailed, path).message
    assert rows(path, "PRAGMA journal_mode") == [("delete",)]
    assert rows(path, "SELECT name FROM sqlite_master") == [("notes",)]
    assert os.listdir(tmp_path) == ["sessions.db"]


@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
def test_a_newer_major_version_is_not_touched(journal: str, path: Path) -> None:
    with connected(path) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute(f"PRAGMA user_version = {(MAJOR + 1) * 1000 + 1}")
    assert "pgrade" in refusal(StoreNewer, path).hint
    assert rows(path, "PRAGMA journal_mode") == [(journal.lower(),)]


def test_a_newer_minor_version_is_used_as_it_is(path: Path) -> None:
    newer = MAJOR * 1000 + len(STEPS) + 3
    with connected(path) as connection:
        connection.execute("CREATE TABLE budget (session_id TEXT PRIMARY KEY, spent INTEGER)")
        connection.execute("ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'")
        connection.execute(f"PRAGMA user_version = {newer}")

    async def story(store: SqliteStore) -> None:
        await write(store, A, whole_turn(3))
        await write(store, SessionId("new"), [[created()]])
        before = await everything(store, A, B)
        await store.rebuild()
        assert await everything(store, A, B) == before

    use(path, story)
    assert rows(path, "PRAGMA user_version") == [(newer,)]
    assert rows(path, "PRAGMA application_id") == [(APPLICATION_ID,)]
