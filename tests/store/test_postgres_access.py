"""Servers and databases that cannot be used: said clearly, without the password, and nothing is touched."""

import hashlib
import socket
import traceback

import psycopg
import pytest

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.errors import StoreFailed, StoreLocked, StoreNewer, StoreReadOnly
from coderelay.protocol.ids import SessionId
from coderelay.store.postgres import migrations
from coderelay.store.postgres.connection import PostgresServer
from coderelay.store.postgres.migrations import MAJOR, STEPS
from coderelay.store.postgres.store import PostgresStore
from coderelay.store.store import Projection, Store
from coderelay.testing import store_suite as suite
from coderelay.testing.store_suite import Clock, created, prompt, run, write
from tests.house import story
from tests.postgres_server import GUARDED, PrivateServer, rows

pytest_plugins = ["tests.postgres"]

A = SessionId("a")
SECRET = "hunter2secret"

# Databases with these steps are on people's servers. Add the hash of a new step; never change one.
PINNED = [
    "0156bf27600c197986742267d316e083364c4e0fb4001a418d8c305fea2dfc8f",
    "b1220374f79cfce79819350b1d96cb5216b70f5df3009cd64ef6b968964f0929",
    "0d19ebedf0c9dce690cf0b2e9a48e630a9ec150a45102e0aa13b75181201345c",
    "53a131f6de9937b03612b7db828ac3fe9a24bbcce85bbf030de9a69d497aa6e6",
    "9d94d1b8530d8be8600ca138a5290a29fddd57c3bf1d99f4c98ab9bbed84a5d6",
    "b48f1a7bc9b0d94eb70c0e4e7da9192212ead494c9ca04acd4da052f8b2d78b0",
    "82ea724e65ad7e569a7795b2917ccfce79b631d69fa6ab4182b87725e2208fde",
    "b718750437281c90b5f962c9ac729244741b51c0b09a25be7d78f9e11ca54169",
]


def test_steps_are_only_added() -> None:
    assert [hashlib.sha256(step.encode()).hexdigest() for step in STEPS] == PINNED


async def refusal(kind: type[StoreFailed], url: str) -> StoreFailed:
    """The first use is refused with exactly this error, and so is the next; the password is nowhere in it."""
    store = PostgresStore(url, SessionRows())
    with pytest.raises(kind):
        await store.append(A, 0, [created()])
    with pytest.raises(StoreFailed) as caught:
        await store.append(A, 0, [created()])
    await store.close()
    assert isinstance(caught.value, kind)
    assert caught.value.hint
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    return caught.value


@story
async def test_a_wrong_password_is_said(postgres: PrivateServer) -> None:
    error = await refusal(StoreFailed, postgres.url("postgres", GUARDED, SECRET))
    assert f"PostgreSQL at {postgres.folder}:5432/postgres cannot be reached" in error.message
    assert "password authentication failed" in error.message


@story
async def test_a_missing_database_is_said(postgres: PrivateServer) -> None:
    error = await refusal(StoreFailed, postgres.url("nowhere", password=SECRET))
    assert f"{postgres.folder}:5432/nowhere cannot be reached" in error.message
    assert '"nowhere" does not exist' in error.message


@story
async def test_a_server_that_is_not_there_is_said_at_once() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        error = await refusal(StoreFailed, f"postgresql://ann:{SECRET}@127.0.0.1:{port}/team")
    assert f"PostgreSQL at 127.0.0.1:{port}/team cannot be reached" in error.message
    assert "refused" in error.message


@pytest.mark.parametrize(
    "url",
    [
        f"mysql://ann:{SECRET}@host/team",
        f"postgresql://ann:x@{SECRET}@host/team",
        f"postgresql://ann:x/{SECRET}@host/team",
        f"postgresql://ann:{SECRET}%zz@host/team",
        f"postgresql://ann:{SECRET}@host/team?no_such_option=1",
        f"postgresql://ann:{SECRET}?x@host/team",
        f"host=host password={SECRET}",
    ],
)
def test_an_address_that_cannot_be_understood_is_said_without_the_password(url: str) -> None:
    with pytest.raises(StoreFailed, match="CODER_DATABASE_URL is not the address") as caught:
        PostgresStore(url, SessionRows())
    assert "%40" in caught.value.hint
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "table",
    [
        "CREATE TABLE invoice (id INT)",
        "CREATE VIEW invoice AS SELECT 1",
        "CREATE TABLE schema_version (installed_rank INT, version TEXT)",  # as another program's migrations have it
        "CREATE TABLE schema_version (program TEXT, version INT); INSERT INTO schema_version VALUES ('other', 1001)",
    ],
)
@story
async def test_a_database_of_another_program_is_left_alone(database: str, table: str) -> None:
    _outside(database, table)
    before = _everything(database)
    error = await refusal(StoreFailed, database)
    assert "tables of another program" in error.message
    assert _everything(database) == before


@story
async def test_a_log_of_a_newer_major_version_is_refused(database: str) -> None:
    await _fill(database)
    _outside(database, f"UPDATE schema_version SET version = {MAJOR * 1000 + 1000}")
    before = _everything(database)
    error = await refusal(StoreNewer, database)
    assert "newer version of coderelay" in error.message
    assert _everything(database) == before


@story
async def test_a_log_with_further_steps_of_the_same_major_version_is_used(database: str) -> None:
    await _fill(database)
    _outside(database, f"UPDATE schema_version SET version = {MAJOR * 1000 + 999}; ALTER TABLE event ADD later INT")
    await _fill(database)
    assert rows(database, "SELECT count(*) FROM event") == [(2,)]
    assert rows(database, "SELECT version FROM schema_version") == [(MAJOR * 1000 + 999,)]


@story
async def test_a_step_that_fails_leaves_the_database_as_it_was(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _fill(database)
    before = _everything(database)
    monkeypatch.setattr(migrations, "STEPS", (*STEPS, "CREATE TABLE half (done INT); DROP TABLE event; BOOM"))
    error = await refusal(StoreFailed, database)
    assert "syntax error" in error.message
    assert _everything(database) == before


@story
async def test_a_database_that_cannot_hold_every_character_is_refused(postgres: PrivateServer) -> None:
    url = postgres.new_database(encoding="SQL_ASCII")
    error = await refusal(StoreFailed, url)
    assert "keeps text as SQL_ASCII" in error.message


@story
async def test_a_role_that_may_not_write_is_told_so(postgres: PrivateServer, database: str) -> None:
    store = PostgresStore(f"{database}%20-cdefault_transaction_read_only%3Don", SessionRows())
    with pytest.raises(StoreReadOnly, match="read-only transaction"):
        await write(store, A, [[created()]])
    await store.close()
    await _fill(database)
    stranger = database.replace("coder@", f"{GUARDED}:right@", 1)
    error = await refusal(StoreFailed, stranger)
    assert "has no schema to write to" in error.message
    _outside(database, f"GRANT USAGE ON SCHEMA {database.rpartition('%3D')[2]} TO {GUARDED}")
    error = await refusal(StoreReadOnly, stranger)
    assert "permission denied" in error.message


@story
async def test_a_log_that_another_program_holds_is_given_up_after_a_while(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = "coderelay.store.postgres.connection._SETTINGS"
    monkeypatch.setattr(settings, "SET lock_timeout = '50ms'")
    await _fill(database)
    with psycopg.connect(database) as outside:
        outside.execute("LOCK TABLE event IN EXCLUSIVE MODE")
        store = PostgresStore(database, SessionRows())
        assert len(await store.read(A)) == 1
        with pytest.raises(StoreLocked, match="lock"):
            await store.append(A, 1, [prompt()])
        outside.rollback()
        await store.append(A, 1, [prompt()])
        await store.close()


@story
async def test_what_the_log_relies_on_does_not_depend_on_the_settings_of_a_role(database: str) -> None:
    connection = await PostgresServer(f"{database}%20-csynchronous_commit%3Doff%20-clock_timeout%3D0").connect()
    shown = [
        (await (await connection.execute(b"SHOW " + name)).fetchall())[0][0]
        for name in (b"synchronous_commit", b"lock_timeout", b"default_transaction_isolation", b"client_encoding")
    ]
    assert shown == ["on", "10s", "read committed", "UTF8"]
    await connection.close()


def test_another_isolation_by_default_does_not_matter(database: str) -> None:
    async def open_store(projection: Projection, clock: Clock) -> Store:
        url = f"{database}%20-cdefault_transaction_isolation%3Dserializable"
        return PostgresStore(url, projection, clock=clock)

    run(suite.of_racing_appends_exactly_one_wins, open_store)


async def _fill(database: str) -> None:
    store = PostgresStore(database, SessionRows())
    await write(store, A, [[created()]])
    await store.close()


def _outside(database: str, sql: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(sql.encode())


def _everything(database: str) -> list[object]:
    """Tables with their columns and content."""
    columns = rows(
        database,
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = current_schema() ORDER BY 1, ordinal_position",
    )
    with psycopg.connect(database) as connection:
        content = [
            connection.execute(f"SELECT * FROM {table}".encode()).fetchall()
            for table in sorted({c[0] for c in columns})
        ]
    return [columns, content]
