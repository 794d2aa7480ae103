"""PostgreSQL keeps the contract of a store, and broken ones are found out on it as well."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.errors import BadInput, CoderError, HeadMoved, StoreFailed
from coderelay.protocol.events import AnyEvent, PromptAdmitted, Recorded, SessionCreated, SessionDeleted
from coderelay.protocol.ids import PromptId, SessionId
from coderelay.protocol.key_value_store import Change
from coderelay.store.postgres import migrations
from coderelay.store.postgres.append_notifications import AppendNotifications
from coderelay.store.postgres.connection import Connection, ConnectionPool, PostgresServer
from coderelay.store.postgres.store import PostgresStore
from coderelay.store.store import Projection, Store
from coderelay.testing import store_suite as suite
from coderelay.testing.store_suite import (
    BY,
    CHECKS,
    Blank,
    Check,
    Clock,
    Opener,
    created,
    everything,
    name,
    prompt,
    run,
    turn_started,
    whole_turn,
    write,
)
from tests.house import story
from tests.patience import PATIENCE, until
from tests.postgres_server import rows

pytest_plugins = ["tests.postgres"]

A, B = SessionId("a"), SessionId("b")


class Told(PostgresStore):
    """Its appends return when the other openings that are in use have been told, which takes some milliseconds.
    The suite expects that of every append, as SQLite does it."""

    opened: list["Told"]
    used = False

    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        others = [(each, each.change_counter()) for each in self.opened if each is not self and each.used]
        recorded = await super().append(session, at, events, epoch=epoch)
        self.used = True
        async with asyncio.timeout(PATIENCE):
            while recorded and any(each.change_counter() == before for each, before in others):  # noqa: ASYNC110
                await asyncio.sleep(0.001)
        return recorded


@pytest.mark.parametrize("check", CHECKS, ids=name)
def test_postgres_keeps_the_contract_of_a_store(check: Check, database: str) -> None:
    run(check, _opener(Told if check in ABOUT_CHANGES else PostgresStore, database))


ABOUT_CHANGES = (
    suite.the_change_counter_moves_with_appends_only,
    suite.changes_are_named_once_to_everyone,
    suite.an_empty_log_changes_with_its_first_event,
)


def _opener(build: type[PostgresStore], database: str) -> Opener:
    opened: list[Told] = []

    async def open_store(projection: Projection, clock: Clock) -> Store:
        store = build(database, projection, clock=clock, poll_seconds=3600)
        if isinstance(store, Told):
            opened.append(store)
            store.opened = opened
        return store

    return open_store


class AppendsWithoutComparing(PostgresStore):
    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        try:
            return await super().append(session, at, events, epoch=epoch)
        except HeadMoved as moved:
            return await self.append(session, moved.head, events, epoch=epoch)


class WithoutEpochs(PostgresStore):
    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        return await super().append(session, at, events)


class NotShielded(PostgresStore):
    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        await asyncio.sleep(0)
        return await super().append(session, at, events, epoch=epoch)


class WithoutRows(PostgresStore):
    def __init__(self, url: str, projection: Projection, *, clock: Clock, poll_seconds: float) -> None:
        super().__init__(url, Blank(), clock=clock, poll_seconds=poll_seconds)


@pytest.mark.parametrize(
    ("build", "check"),
    [
        (AppendsWithoutComparing, suite.a_moved_head_changes_nothing),
        (AppendsWithoutComparing, suite.of_racing_appends_exactly_one_wins),
        (WithoutEpochs, suite.a_wrong_epoch_changes_nothing),
        (NotShielded, suite.a_cancelled_append_is_carried_out_whole),
        (WithoutRows, suite.rows_follow_from_the_events),
    ],
)
def test_a_broken_store_is_found_out(build: type[PostgresStore], check: Check, database: str) -> None:
    with pytest.raises((AssertionError, CoderError)):
        run(check, _opener(build, database))


@pytest.mark.parametrize(
    ("line", "instead", "check"),
    [
        (
            "head_seq != p_seq OR head_epoch != p_epoch OR head_at != p_at",
            "false",
            suite.an_append_that_another_overtook_changes_nothing,
        ),
        (
            "fits[new.place] AND coalesce(",
            "fits[new.place] OR coalesce(",
            suite.an_append_that_another_overtook_changes_nothing,
        ),
        ("DELETE FROM event WHERE session_id = p_session", "NULL; --", suite.deletion_erases_all_but_itself),
        ("ON CONFLICT DO NOTHING", "", suite.a_message_id_counts_once_in_each_session),
        ("IF p_dropped THEN", "IF false THEN", suite.deletion_erases_all_but_itself),
    ],
    ids=["no comparison", "no comparison in a group", "no erasing", "ids twice", "rows stay"],
)
def test_every_line_of_the_append_is_needed(
    line: str, instead: str, check: Check, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert any(line in step for step in migrations.STEPS)
    monkeypatch.setattr(migrations, "STEPS", tuple(step.replace(line, instead) for step in migrations.STEPS))
    with pytest.raises((AssertionError, CoderError)):
        run(check, _opener(PostgresStore, database))


LOCK = "PERFORM pg_advisory_xact_lock(hashtextextended(p_session, 0))"


@pytest.mark.parametrize(("instead", "waits"), [(LOCK, True), ("NULL", False)], ids=["as it is", "no lock"])
@story
async def test_an_append_waits_while_another_program_appends_to_the_session(
    instead: str, waits: bool, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert any(LOCK in step for step in migrations.STEPS)
    monkeypatch.setattr(migrations, "STEPS", tuple(step.replace(LOCK, instead) for step in migrations.STEPS))
    store = PostgresStore(database, SessionRows())
    await write(store, A, [[created()]])
    with psycopg.connect(database) as outside, psycopg.connect(database, autocommit=True) as watcher:
        outside.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [A])
        blocked = "SELECT 1 FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))"
        appending = asyncio.create_task(store.append(A, 1, [prompt()]))
        while not (found := watcher.execute(blocked, [outside.info.backend_pid]).fetchone()):
            await asyncio.sleep(0.001)
            if appending.done():
                break
        assert (found is not None) == waits
        outside.rollback()
        assert [each.seq for each in await appending] == [2]
    await store.close()


@story
async def test_two_programs_write_in_turns_and_each_knows_what_the_other_wrote(database: str) -> None:
    """What a process remembers of a head never outlives it."""
    one, other = PostgresStore(database, SessionRows()), PostgresStore(database, SessionRows())
    head = 0
    for number, events in enumerate([[created()], *whole_turn(), *whole_turn(3, "again")]):
        head = (await (one, other)[number % 2].append(A, head, events))[-1].seq
    assert suite.summary_of(await one.read(A)) == await other.session(A)
    assert suite.messages_of(await one.read(A)) == (await other.messages(A)).rows
    await one.close()
    await other.close()


@story
async def test_what_is_remembered_of_a_log_that_was_replaced_is_not_believed(database: str) -> None:
    """Symptom: after the database was restored from a backup, old rows came back with the next append."""
    store = PostgresStore(database, SessionRows())
    await write(store, A, [[created(title="old")], [prompt()]])
    with psycopg.connect(database, autocommit=True) as outside:
        outside.execute("TRUNCATE event, sessions, messages")
    restored = PostgresStore(database, SessionRows(), clock=lambda: 7)
    await write(restored, A, [[created(title="restored")], [prompt()]])
    await store.append(A, 2, [prompt()])
    found = await store.session(A)
    assert found is not None
    assert (found.title, found.queued) == ("restored", 2)
    await store.close()
    await restored.close()


@story
async def test_names_that_hold_nul_stay_apart(database: str) -> None:
    names = ["x", "x\0", "x\u2400", "x\u24000", "\0x", "x\0\u2400\0"]
    store = PostgresStore(database, SessionRows())
    for each in names:
        session = SessionId(each)
        await write(store, session, [[created(cwd=each, title=each)], [turn_started("t", f"p{each}")]])
    for each in names:
        session = SessionId(each)
        (found,) = await store.sessions(cwd=each)
        assert (found.id, found.cwd, found.title) == (each, each, each)
        assert (await store.messages(session)).rows[0].id == f"p{each}"
        assert len(await store.read(session)) == 2
        assert await store.heads([session]) == {session: 2}
    await store.close()
    shown = [title for (title,) in rows(database, "SELECT title FROM sessions")]
    assert sorted(shown) == sorted(["x", "x␀0", "x␀␀", "x␀␀0", "␀0x", "x␀0␀␀␀0"])


@story
async def test_what_the_server_cannot_take_is_refused_and_changes_nothing(database: str) -> None:
    store = PostgresStore(database, SessionRows())
    await write(store, A, [[created()]])
    before = await everything(store, A)
    scattered = "".join(chr(0x4E00 + number * 7919 % 20000) for number in range(9000))
    long = PromptAdmitted(prompt_id=PromptId("p"), text="go", by=BY)
    with pytest.raises(BadInput, match="index row"):
        await store.append(SessionId(scattered), 0, [long])
    assert await everything(store, A) == before
    await store.append(A, 1, [long])
    await store.close()


@story
async def test_a_folder_may_be_longer_than_an_index_can_hold(database: str) -> None:
    cwd = "/" + "".join(chr(0x4E00 + number * 7919 % 20000) for number in range(9000))
    store = PostgresStore(database, SessionRows())
    await write(store, A, [[created(cwd=cwd)]])
    assert [each.cwd for each in await store.sessions(cwd=cwd)] == [cwd]
    await store.close()


@story
async def test_rows_are_rebuilt_exactly(database: str) -> None:
    store = PostgresStore(database, SessionRows())
    for number in range(6):
        session = SessionId(f"s{number}")
        await write(store, session, [[created(f"/{number}")], *whole_turn(), *whole_turn(3)])
    await write(store, SessionId("s3"), [[SessionDeleted(by=BY)]])
    await write(store, SessionId("s4"), [[SessionDeleted(by=BY), created("/again"), prompt()]])
    before = _tables(database)
    assert len(before[0]) == 5
    assert len(before[1]) == 4 * 12
    with psycopg.connect(database, autocommit=True) as outside:
        outside.execute("UPDATE sessions SET title = 'spoiled'; DELETE FROM messages WHERE created_at % 2 = 0")
        outside.execute("INSERT INTO messages (id, session_id, data, created_at) VALUES ('x', 's1', '{}', 0)")
    await store.rebuild()
    assert _tables(database) == before
    await write(store, SessionId("s1"), [[prompt()]])
    await store.close()


def _tables(database: str) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Of `changed`, which orders the lists, only the order counts: see 0035."""
    return (
        rows(
            database,
            "SELECT to_jsonb(sessions) - 'changed', rank() OVER (ORDER BY changed) FROM sessions ORDER BY id",
        ),
        rows(database, "SELECT id, session_id, data, created_at FROM messages ORDER BY session_id, number"),
    )


@story
async def test_the_session_that_changed_last_writes_to_no_index_of_sessions(database: str) -> None:
    """Its row is replaced within its page while the session goes on; an append to another one puts that one first."""
    store, a, b = PostgresStore(database, SessionRows()), SessionId("a"), SessionId("b")
    for session in (a, b):
        await write(store, session, [[created()]])
    query = "SELECT id, changed FROM sessions ORDER BY changed DESC"
    before = rows(database, query)
    await write(store, b, [[prompt(str(number))] for number in range(5)])
    assert rows(database, query) == before
    assert [(each.id, each.queued) for each in await store.sessions()] == [(b, 5), (a, 0)]
    await write(store, a, [[prompt()]])
    assert [each.id for each in await store.sessions(cwd="/work")] == [a, b]
    await store.close()
    in_page, all_updates = 0, 0
    for _ in range(200):  # the server counts a little later
        ((in_page, all_updates),) = rows(database, _UPDATES)
        if all_updates == 6:
            break
        await asyncio.sleep(0.05)
    assert (in_page, all_updates) == (5, 6)


_UPDATES = "SELECT n_tup_hot_upd, n_tup_upd FROM pg_stat_user_tables WHERE relid = 'sessions'::regclass"


@story
async def test_b14_b15_the_tables_other_programs_read(database: str) -> None:
    ticks = iter(range(1000, 2000, 5))
    store = PostgresStore(database, SessionRows(), clock=lambda: next(ticks))
    start = SessionCreated(
        cwd="/home/ann/日本",
        agent="claude",
        model="m",
        mode="default",
        by=BY,
        allowed_tools=("Bash", "Read"),
        agent_session_id="claude-1",
    )
    await write(store, A, [[start], *whole_turn()])
    await store.close()
    (row,) = rows(
        database,
        "SELECT id, title, claude_session_id, status, cwd, allowed_tools, last_prompt, created_at, updated_at"
        " FROM sessions",
    )
    assert row == (A, "build it", "claude-1", "completed", "/home/ann/日本", "Bash,Read", "build it", 1000, 1035)
    found = rows(database, "SELECT id, session_id, data, created_at FROM messages ORDER BY created_at, number")
    data = [json.loads(row[2]) for row in found]
    assert [each["type"] for each in data] == ["user_prompt", "system", "assistant", "user", "assistant", "result"]
    assert [row[3] for row in found] == [1010, 1010, 1015, 1030, 1035, 1035]
    with psycopg.connect(database, autocommit=True) as outside:
        for phase, status in [
            ("idle", "idle"),
            ("running", "running"),
            ("waiting", "running"),
            ("done", "completed"),
            ("failed", "error"),
            ("stopped", "idle"),
        ]:
            outside.execute("UPDATE sessions SET phase = %s", (phase,))
            assert outside.execute("SELECT status FROM sessions").fetchall() == [(status,)]


@story
async def test_a_cancelled_read_leaves_the_connection_to_the_next(database: str) -> None:
    store = PostgresStore(database, SessionRows())
    await write(store, A, [[created(), *(prompt("x" * 1000) for _ in range(1000))]])
    for _ in range(20):
        reading = asyncio.create_task(store.read(A))
        await asyncio.sleep(0)
        reading.cancel()
        assert await store.heads([A]) == {A: 1001}
    await store.close()


def test_nobody_pays_for_postgres_who_does_not_use_it() -> None:
    modules = "sys, coderelay.app, coderelay.cli.startup.run_headless_or_plain_repl"
    program = f"import {modules}; assert 'psycopg' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_missing_psycopg_is_said_with_what_to_do() -> None:
    program = """
import sys
sys.modules["psycopg"] = None
from coderelay.protocol.errors import StoreFailed
try:
    from coderelay.store.postgres.store import PostgresStore
except StoreFailed as error:
    print(error.hint)
"""
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert "pip install 'psycopg[binary]'" in ran.stdout


@story
async def test_a_store_that_is_closed_says_so(database: str) -> None:
    store = PostgresStore(database, SessionRows())
    await store.close()
    with pytest.raises(StoreFailed, match="was closed by this program"):
        await store.read(A)


@story
async def test_a_store_that_is_closed_as_soon_as_it_is_open_leaves_no_connection(database: str) -> None:
    """The task that listens was cancelled before it began, and its connection stayed open."""

    async def nothing(connection: Connection) -> None:
        return

    server = PostgresServer(database)
    reader, writers = ConnectionPool(server, 1, nothing), ConnectionPool(server, 1, nothing)
    notices = AppendNotifications(server, reader, writers, 60.0)
    await notices.start()
    await notices.close()
    await reader.close()
    await writers.close()
    # The server lists a closed connection a moment longer.
    await until(lambda: rows(database, "SELECT 1 FROM pg_stat_activity WHERE application_name = 'coder'") == [])


@pytest.mark.parametrize("count", [1, 2])
def test_appends_go_on_after_a_rollback_on_their_connection(database: str, count: int) -> None:
    """The driver lets the server forget all prepared statements then, its own and ours."""

    @story
    async def tell() -> None:
        store = PostgresStore(database, SessionRows())
        try:
            book = store.key_value_store("book")
            for _ in range(10):  # what is run often is prepared by the driver
                await book.write(Change("key", b"value"))
            assert await book.write(Change("key", b"value", at=0)) == 0
            await book.write(Change("key", b"value"))
            appends = [store.append(SessionId(f"s{number}"), 0, [created()]) for number in range(count)]
            assert [len(each) for each in await asyncio.gather(*appends)] == [1] * count
        finally:
            await store.close()

    tell()
