"""Connections that break and servers that restart: nothing acknowledged is lost, nothing is written twice, and
whoever waits for news gets it."""

import asyncio
import time
from collections import Counter

import psycopg
import pytest

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.errors import Fenced, HeadMoved, StoreFailed
from coderelay.protocol.events import PromptAdmitted, SessionDeleted
from coderelay.protocol.ids import SessionId
from coderelay.store.postgres.append_notifications import SEND_SECONDS
from coderelay.store.postgres.store import PostgresStore
from coderelay.testing.store_suite import BY, claimed, created, prompt, summary_of, whole_turn, write
from tests.house import story
from tests.patience import PATIENCE, until
from tests.postgres_server import PrivateServer, rows
from tests.store.breakable_connection import A, elsewhere, wired

pytest_plugins = ["tests.postgres"]


@story
async def test_an_append_whose_answer_was_lost_is_found_to_be_written(postgres: PrivateServer, database: str) -> None:
    async with wired(postgres, database) as (wire, store):
        turn = [event for events in whole_turn() for event in events]
        wire.lose_answer()
        recorded = await store.append(A, 1, turn)
        assert await store.read(A, 1) == recorded


@story
async def test_an_append_whose_answer_was_lost_is_found_behind_what_others_wrote_since(
    postgres: PrivateServer, database: str
) -> None:
    async with wired(postgres, database) as (wire, store):
        await store.append(A, 1, [claimed(1)])
        wire.lose_answer(elsewhere(database, 3, prompt("theirs"), claimed(2)))
        recorded = await store.append(A, 2, [prompt("mine")], epoch=1)
        assert [each.seq for each in recorded] == [3]
        assert await store.read(A, 2, limit=1) == recorded
        with pytest.raises(Fenced):
            await store.append(A, 5, [prompt()], epoch=1)


@story
async def test_the_same_events_of_another_are_not_taken_for_ones_own(postgres: PrivateServer, database: str) -> None:
    async with wired(postgres, database) as (wire, store):
        same = prompt("same")
        wire.lose_request(elsewhere(database, 1, same))
        with pytest.raises(HeadMoved) as moved:
            await store.append(A, 1, [same])
        assert moved.value.head == 2
        assert len(await store.read(A, 1)) == 1


@story
async def test_an_append_that_was_deleted_since_counts_as_overtaken(postgres: PrivateServer, database: str) -> None:
    async with wired(postgres, database) as (wire, store):
        wire.lose_answer(elsewhere(database, 2, SessionDeleted(by=BY)))
        with pytest.raises(HeadMoved):
            await store.append(A, 1, [prompt()])
        assert len(await store.read(A)) == 1


@story
async def test_a_deletion_whose_answer_was_lost_is_found_to_be_written(
    postgres: PrivateServer, database: str
) -> None:
    async with wired(postgres, database) as (wire, store):
        wire.lose_answer()
        recorded = await store.append(A, 1, [prompt(), SessionDeleted(by=BY)])
        assert await store.read(A) == recorded[1:]


@story
async def test_an_append_that_nobody_waits_for_any_more_does_not_meet_itself(
    postgres: PrivateServer, database: str
) -> None:
    """The first attempt is still at it in the server while the second is made; only one of them is written."""
    async with wired(postgres, database) as (wire, store):
        with psycopg.connect(database, autocommit=True) as outside:
            outside.execute("SELECT pg_advisory_lock(hashtextextended('a', 0))")
            wire.lose_sight()
            append = asyncio.create_task(store.append(A, 1, [prompt()]))
            waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            await until(lambda: outside.execute(waiting).fetchall() == [(2,)])
            outside.execute("SELECT pg_advisory_unlock(hashtextextended('a', 0))")
        recorded = await append
        assert await store.read(A, 1) == recorded


@story
async def test_an_append_whose_request_was_lost_is_written_once(postgres: PrivateServer, database: str) -> None:
    async with wired(postgres, database) as (wire, store):
        wire.lose_request()
        recorded = await store.append(A, 1, [prompt("one"), prompt("two")])
        assert await store.read(A, 1) == recorded
        assert (await store.append(A, 3, [prompt("three")]))[0].seq == 4


@story
async def test_what_was_acknowledged_survives_a_server_that_stops_at_once(
    postgres: PrivateServer, database: str
) -> None:
    """Several times, in the middle of appends; whoever appends only waits a little longer."""
    store = PostgresStore(database, SessionRows())
    acknowledged: dict[SessionId, list[str]] = {SessionId(f"s{number}"): [] for number in range(6)}
    done = asyncio.Event()

    async def append_until_accepted(session: SessionId, texts: list[str]) -> None:
        await store.append(session, 0, [created()])
        while not done.is_set():
            text = f"{session} {len(texts)}"
            (recorded,) = await store.append(session, len(texts) + 1, [prompt(text)])
            assert recorded.seq == len(texts) + 2
            texts.append(text)

    async with asyncio.TaskGroup() as group:
        for session, texts in acknowledged.items():
            group.create_task(append_until_accepted(session, texts))
        for _ in range(3):
            so_far = sum(map(len, acknowledged.values()))
            await until(lambda so_far=so_far: sum(map(len, acknowledged.values())) >= so_far + 100)
            await asyncio.to_thread(postgres.restart)
        done.set()
    for session, texts in acknowledged.items():
        found = [each.event.text for each in await store.read(session, 1) if isinstance(each.event, PromptAdmitted)]
        assert found == texts
        assert summary_of(await store.read(session)) == await store.session(session)
    await store.close()


@story
async def test_a_server_that_does_not_come_back_is_said_and_used_again_when_it_does(
    postgres: PrivateServer, database: str
) -> None:
    store = PostgresStore(database, SessionRows(), patience_seconds=0.2)
    await write(store, A, [[created()]])
    with psycopg.connect(database, autocommit=True) as outside:
        outside.execute("SELECT pg_advisory_lock(hashtextextended('a', 0))")
        append = asyncio.create_task(store.append(A, 1, [prompt()]))
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        await until(lambda: outside.execute(waiting).fetchall() == [(1,)])
        postgres.stop()
    try:
        with pytest.raises(StoreFailed, match="cannot be reached") as caught:
            await append
        assert "Whether the last events were written" in caught.value.hint
        with pytest.raises(StoreFailed, match="cannot be reached") as caught:
            await store.read(A)
        assert "The log is unchanged" in caught.value.hint
    finally:
        postgres.start()
    assert len(await store.read(A)) == 1
    await store.append(A, 1, [prompt()])
    await store.close()


@story
async def test_closing_does_not_wait_for_a_server_that_is_gone(postgres: PrivateServer, database: str) -> None:
    store = PostgresStore(database, SessionRows(), patience_seconds=3600.0)
    await write(store, A, [[created()]])
    postgres.stop()
    try:
        append = asyncio.create_task(store.append(A, 1, [prompt()]))
        await asyncio.sleep(0)  # begun
        async with asyncio.timeout(PATIENCE):
            await store.close()
        with pytest.raises(StoreFailed):
            await append
    finally:
        postgres.start()


# Who waits for news.


@story
async def test_a_store_is_closed_while_the_connection_of_a_notification_breaks(
    postgres: PrivateServer, database: str
) -> None:
    """Symptom: the error of the connection took the place of the cancellation, and closing waited for ever."""
    async with asyncio.timeout(PATIENCE), wired(postgres, database) as (wire, store):
        wire.lose_notification()
        await store.append(A, 1, [prompt("one")])
        await wire.holds_notification.wait()


@story
async def test_a_lost_listener_is_replaced_and_what_it_missed_is_asked_for(database: str) -> None:
    store, other = PostgresStore(database, SessionRows(), poll_seconds=3600), PostgresStore(database, SessionRows())
    await write(store, A, [[created()]])
    for number in range(3):
        seen = store.change_counter()
        _append_silently(database, number + 1)
        assert _end_listeners(database)
        await until(lambda seen=seen: store.change_counter() != seen)
    seen = store.change_counter()
    await write(other, A, [[prompt()]])
    await until(lambda: store.change_counter() != seen)
    await store.close()
    await other.close()


@story
async def test_a_lost_notification_costs_a_delay_and_no_more(database: str) -> None:
    store = PostgresStore(database, SessionRows(), poll_seconds=0.05)
    await write(store, A, [[created()]])
    for number in range(3):
        seen = store.change_counter()
        _append_silently(database, number + 1)
        await until(lambda seen=seen: store.change_counter() != seen)
    assert await store.heads([A]) == {A: 4}
    await store.close()


def _end_listeners(database: str) -> bool:
    """Known by what they said last: LISTEN, or at first the question that follows it."""
    found = rows(
        database,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid != pg_backend_pid()"
        " AND (query LIKE 'LISTEN%' OR query LIKE 'SELECT pg_current_snapshot%')",
    )
    return len(found) > 0


def _append_silently(database: str, at: int) -> None:
    """As a process does that dies before it could say so."""
    with psycopg.connect(database, autocommit=True) as outside:
        outside.execute(
            "INSERT INTO event SELECT session_id, seq + 1, epoch, kind, at, body, 0 FROM event WHERE seq = %s", (at,)
        )


@story
async def test_many_appends_share_few_notifications_that_name_sessions_only(database: str) -> None:
    store = PostgresStore(database, SessionRows(), poll_seconds=3600)
    names = {SessionId(f"s{number}") for number in range(8)}
    with psycopg.connect(database, autocommit=True) as listener:
        listener.execute("LISTEN coder_change")
        began = time.monotonic()
        await asyncio.gather(*(write(store, name, [[created()], *([prompt()] for _ in range(60))]) for name in names))
        counter = store.change_counter()
        await store.close()
        took = time.monotonic() - began
        heard = Counter(notice.payload for notice in listener.notifies(timeout=0.2))
    assert set(heard) == names
    assert max(heard.values()) <= 2 + took / SEND_SECONDS
    assert counter == 8 * 61  # its own are counted once, when they are written
