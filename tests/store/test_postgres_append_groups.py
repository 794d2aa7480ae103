"""Appends on PostgreSQL that arrive together share one commit, and each is still written or refused on its own."""

import asyncio
from collections.abc import Sequence

import psycopg
import pytest

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.errors import HeadMoved, StoreFull
from coderelay.protocol.events import AnyEvent, Recorded, SessionDeleted
from coderelay.protocol.ids import SessionId
from coderelay.store.postgres.store import PostgresStore
from coderelay.testing.store_suite import BY, claimed, created, messages_of, prompt, summary_of, whole_turn, write
from tests.house import story
from tests.patience import PATIENCE
from tests.postgres_server import PrivateServer, rows
from tests.store.breakable_connection import A, elsewhere, wired

pytest_plugins = ["tests.postgres"]

B, C = SessionId("b"), SessionId("c")


async def append_together(
    store: PostgresStore, at: int, events: Sequence[AnyEvent], sessions: Sequence[SessionId] = (A, B, C)
) -> list[list[Recorded]]:
    return await asyncio.gather(*(store.append(session, at, events) for session in sessions))


async def expect_rows_as_events(store: PostgresStore, *sessions: SessionId) -> None:
    for session in sessions:
        log = await store.read(session)
        assert await store.session(session) == summary_of(log)
        assert (await store.messages(session)).rows == messages_of(log)


@story
async def test_appends_that_arrive_together_share_one_commit(database: str) -> None:
    """The first of them goes ahead alone if the appends before had no company."""
    store = PostgresStore(database, SessionRows())
    sessions = [SessionId(f"s{number}") for number in range(40)]
    turn = [event for events in whole_turn() for event in events]
    for session in sessions:
        await write(store, session, [[created()]])
    recorded = await append_together(store, 1, turn, sessions)
    commits = "SELECT count(*) FROM event WHERE seq = 2 GROUP BY xmin::text ORDER BY 1"
    assert rows(database, commits) == [(1,), (39,)]
    assert [await store.read(session, 1) for session in sessions] == recorded
    await expect_rows_as_events(store, *sessions)
    assert [row.id for row in await store.sessions()] == sessions[::-1]
    before = [[await store.session(session), (await store.messages(session)).rows] for session in sessions]
    await store.rebuild()
    assert [[await store.session(session), (await store.messages(session)).rows] for session in sessions] == before
    await store.close()


@story
async def test_one_of_a_group_that_was_overtaken_is_refused_alone(database: str) -> None:
    store = PostgresStore(database, SessionRows())
    for session in (A, B, C):
        await write(store, session, [[created()]])
    await elsewhere(database, 1, prompt("theirs"))()
    mine, others, last = await asyncio.gather(
        *(store.append(session, 1, [prompt("mine")]) for session in (A, B, C)), return_exceptions=True
    )
    assert isinstance(mine, HeadMoved)
    assert mine.head == 2
    assert [await store.read(B, 1), await store.read(C, 1)] == [others, last]
    assert len(await store.read(A)) == 2
    await expect_rows_as_events(store, A, B, C)
    await store.close()


@story
async def test_a_session_that_another_process_is_writing_to_holds_up_no_other(database: str) -> None:
    store = PostgresStore(database, SessionRows())
    for session in (A, B, C):
        await write(store, session, [[created()]])
    with psycopg.connect(database, autocommit=True) as outside:
        outside.execute("SELECT pg_advisory_lock(hashtextextended('a', 0))")
        held, *others = [asyncio.create_task(store.append(session, 1, [prompt()])) for session in (A, B, C)]
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*others)
            assert (await store.append(B, 2, [prompt()]))[0].seq == 3
        assert not held.done()
        outside.execute("SELECT pg_advisory_unlock(hashtextextended('a', 0))")
        assert await held == await store.read(A, 1)
    await store.close()


@story
async def test_appends_to_one_session_are_in_different_groups(database: str) -> None:
    """One of them wins. A claim and a deletion at the same time do what they do alone."""
    store = PostgresStore(database, SessionRows())
    for session in (A, B, C):
        await write(store, session, [[created()], [prompt()]])
    one, other, deleted, claim = await asyncio.gather(
        store.append(A, 2, [prompt("one")]),
        store.append(A, 2, [prompt("other")]),
        store.append(B, 2, [SessionDeleted(by=BY)]),
        store.append(C, 2, [claimed(1), prompt()], epoch=0),
        return_exceptions=True,
    )
    assert sorted([type(one), type(other)], key=str) == [HeadMoved, list]
    assert await store.read(A, 2) in (one, other)
    assert deleted == await store.read(B)
    assert claim == await store.read(C, 2)
    assert [each.epoch for each in await store.read(C, 2)] == [1, 1]
    assert await store.session(B) is None
    await expect_rows_as_events(store, A, C)
    await store.close()


@pytest.mark.parametrize("lost", ["request", "answer"])
@story
async def test_a_group_whose_connection_breaks_is_written_once(
    postgres: PrivateServer, database: str, lost: str
) -> None:
    async with wired(postgres, database) as (wire, store):
        await write(store, B, [[created()]])
        await write(store, C, [[created()]])
        (wire.lose_request if lost == "request" else wire.lose_answer)()
        recorded = await append_together(store, 1, [prompt("one"), prompt("two")])
        assert [await store.read(session, 1) for session in (A, B, C)] == recorded
        assert [[each.seq for each in log] for log in recorded] == [[2, 3]] * 3
        await append_together(store, 3, [prompt("three")])
        await expect_rows_as_events(store, A, B, C)


@story
async def test_one_of_a_lost_group_that_was_overtaken_is_refused_alone(
    postgres: PrivateServer, database: str
) -> None:
    async with wired(postgres, database) as (wire, store):
        await write(store, B, [[created()]])
        wire.lose_request(elsewhere(database, 1, prompt("theirs")))
        mine, other = await asyncio.gather(
            *(store.append(session, 1, [prompt("mine")]) for session in (A, B)), return_exceptions=True
        )
        assert isinstance(mine, HeadMoved)
        assert other == await store.read(B, 1)
        assert len(await store.read(A)) == 2


@story
async def test_closing_waits_for_an_append_that_was_sent_alone(database: str) -> None:
    store = PostgresStore(database, SessionRows())
    await write(store, A, [[created()], [prompt("one")]])
    on_its_way = asyncio.create_task(store.append(A, 2, [prompt("two")]))
    await asyncio.sleep(0)
    await store.close()
    assert [each.seq for each in await on_its_way] == [3]
    assert rows(database, "SELECT count(*) FROM event") == [(3,)]


@story
async def test_an_append_that_fills_the_connection_is_sent_whole(database: str) -> None:
    store = PostgresStore(database, SessionRows())
    await write(store, A, [[created()]])
    long = await store.append(A, 1, [prompt("x" * 8_000_000)])
    assert await store.read(A, 1) == long
    await store.append(A, 2, [prompt("short")])
    await expect_rows_as_events(store, A)
    await store.close()


@pytest.mark.parametrize("is_lonely", [True, False], ids=["alone", "in company"])
@story
async def test_an_append_waited_for_ever_when_the_connection_ended_while_it_was_sent(
    postgres: PrivateServer, database: str, is_lonely: bool
) -> None:
    async with asyncio.timeout(PATIENCE), wired(postgres, database) as (wire, store):
        await write(store, B, [[created()]])
        company = [] if is_lonely else [store.append(C, 0, [created()])]
        wire.end_while_sending()
        _, long = await asyncio.gather(asyncio.gather(*company), store.append(A, 1, [prompt("x" * 8_000_000)]))
        assert await store.read(A, 1) == long


@story
async def test_an_append_waited_for_another_session_although_nobody_wrote(database: str) -> None:
    """Symptom: the one that had been sent alone was done, and nobody took what had come meanwhile."""
    store = PostgresStore(database, SessionRows())
    for session in (A, B, C):
        await write(store, session, [[created()]])
    with psycopg.connect(database, autocommit=True) as outside:
        outside.execute(
            "SELECT pg_advisory_lock(hashtextextended('a', 0)), pg_advisory_lock(hashtextextended('b', 0))"
        )
        alone = asyncio.create_task(store.append(A, 1, [prompt()]))
        await asyncio.sleep(0)
        held = asyncio.create_task(store.append(B, 1, [prompt()]))
        await asyncio.sleep(0)
        late = asyncio.create_task(store.append(C, 1, [prompt()]))
        await asyncio.sleep(0.05)
        outside.execute("SELECT pg_advisory_unlock(hashtextextended('a', 0))")
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(alone, late)
        assert not held.done()
        outside.execute("SELECT pg_advisory_unlock(hashtextextended('b', 0))")
        await held
    await store.close()


_FULL = """
CREATE SEQUENCE tries;
CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM nextval('tries'); RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$;
CREATE TRIGGER full_disk BEFORE INSERT ON event EXECUTE FUNCTION full_disk();
"""


@story
async def test_a_lone_append_that_the_server_refuses_is_not_tried_again(database: str) -> None:
    store = PostgresStore(database, SessionRows())
    await write(store, A, [[created()], [prompt()]])
    with psycopg.connect(database, autocommit=True) as outside:
        outside.execute(_FULL)
        with pytest.raises(StoreFull, match="no space"):
            await store.append(A, 2, [prompt()])
        assert outside.execute("SELECT last_value FROM tries").fetchall() == [(1,)]
    await store.close()
