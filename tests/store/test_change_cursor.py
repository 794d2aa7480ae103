"""What changed since a cursor is known even after what usually tells it was lost."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.events import SessionDeleted
from coderelay.protocol.ids import SessionId
from coderelay.store.postgres.store import PostgresStore
from coderelay.store.sqlite.store import SqliteStore
from coderelay.testing.store_suite import BY, created, prompt, write
from tests.house import story
from tests.patience import until
from tests.postgres_server import rows

pytest_plugins = ["tests.postgres"]

A, B, C = SessionId("a"), SessionId("b"), SessionId("c")


@story
async def test_rows_that_another_program_numbers_anew_hide_no_change(tmp_path: Path) -> None:
    """VACUUM closes the gaps that a deletion left, so later events get numbers that the cursor has passed."""
    store = SqliteStore(str(tmp_path / "sessions.db"), SessionRows())
    await write(store, A, [[created()], *([prompt()] for _ in range(20))])
    await write(store, B, [[created()]])
    await write(store, A, [[SessionDeleted(by=BY)]])
    cursor = (await store.changed(None)).cursor
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as outside:
        outside.execute("VACUUM")
    await write(store, B, [[prompt()]])
    changes = await store.changed(cursor)
    assert changes.heads[B] == 2
    await write(store, C, [[created()]])
    assert (await store.changed(changes.cursor)).heads == {C: 1}
    await store.close()


@story
async def test_changes_during_a_lost_connection_are_found(database: str) -> None:
    store = PostgresStore(database, SessionRows(), poll_seconds=3600)
    await write(store, A, [[created()]])
    cursor = (await store.changed(None)).cursor
    _append_silently(database)
    assert (await store.changed(cursor)).heads == {}
    _end_listeners(database)
    await until(lambda: store.change_counter() != cursor.number)
    changes = await store.changed(cursor)
    assert changes.heads == {A: 2}
    await write(store, B, [[created()]])
    assert (await store.changed(changes.cursor)).heads == {B: 1}
    await store.close()


@pytest.mark.parametrize("sessions", [3, 1100])
@story
async def test_however_many_sessions_change_none_is_missed(database: str, sessions: int) -> None:
    store = PostgresStore(database, SessionRows(), poll_seconds=3600)
    await write(store, A, [[created()]])
    cursor = (await store.changed(None)).cursor
    names = [SessionId(f"s{number}") for number in range(sessions)]
    await asyncio.gather(*(store.append(name, 0, [created()]) for name in names))
    assert (await store.changed(cursor)).heads.items() >= dict.fromkeys(names, 1).items()
    await store.close()


@story
async def test_an_id_too_long_for_a_notification_is_found(database: str) -> None:
    store, other = (PostgresStore(database, SessionRows(), poll_seconds=3600) for _ in range(2))
    long = SessionId("x" * 2000)
    cursor = (await store.changed(None)).cursor
    await write(other, long, [[created()]])
    await until(lambda: store.change_counter() != cursor.number)
    assert (await store.changed(cursor)).heads == {long: 1}
    await store.close()
    await other.close()


def _append_silently(database: str) -> None:
    """As a process does that dies before it could notify others."""
    with psycopg.connect(database, autocommit=True) as outside:
        outside.execute("INSERT INTO event SELECT session_id, seq + 1, epoch, kind, at, body, 0 FROM event")


def _end_listeners(database: str) -> None:
    found = rows(
        database,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid != pg_backend_pid()"
        " AND (query LIKE 'LISTEN%' OR query LIKE 'SELECT pg_current_snapshot%')",
    )
    assert found
