"""Signs of life on a server: the living are never taken for dead, the dead known at once."""

import asyncio
import time

import psycopg
import pytest

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.errors import StoreFailed
from coderelay.protocol.ids import OwnerId
from coderelay.store.owner_liveness_interface import Alive, Dead
from coderelay.store.postgres.owner_liveness import PostgresOwners
from coderelay.store.postgres.store import PostgresStore
from tests.house import story
from tests.patience import PATIENCE
from tests.postgres_server import PrivateServer, rows
from tests.store.postgres_process import hear, own, start, tell

pytest_plugins = ["tests.postgres"]


@story
async def test_a_living_owner_shows_its_counter_and_a_closed_one_is_dead(database: str) -> None:
    one, other = PostgresOwners(database), PostgresOwners(database)
    await one.send_heartbeat()  # before it has a name: nothing
    me = await one.me()
    assert await one.me() == me != await other.me()
    assert await other.liveness(me) == await one.liveness(me) == Alive(0)
    await one.send_heartbeat()
    await one.send_heartbeat()
    assert await other.liveness(me) == await one.liveness(me) == Alive(2)
    assert await other.liveness(OwnerId("nobody")) == Dead()
    assert await other.liveness(OwnerId("no\0body")) == Dead()
    await one.close()
    assert await other.liveness(me) == Dead()
    await one.close()
    assert await one.me() != me  # a new life
    await one.close()
    await other.close()
    assert rows(database, "SELECT id FROM owner") == []


@story
async def test_a_killed_owner_is_dead_at_once_and_swept_away_by_the_next(database: str) -> None:
    owners = PostgresOwners(database)
    await owners.me()
    for _ in range(3):
        with start(own, database) as process:
            killed = OwnerId(hear(process))
            tell(process, "beat")
            assert hear(process) == "beat"
            assert await owners.liveness(killed) == Alive(1)
            process.kill()
            process.wait()
        began = time.monotonic()
        while await owners.liveness(killed) != Dead():
            assert time.monotonic() - began < 10  # a heartbeat that stays away takes longer
    assert len(rows(database, "SELECT id FROM owner")) == 2  # each was swept away by the one after it
    await owners.close()


@story
async def test_a_dead_owner_is_dead_to_all_who_look_at_once(database: str) -> None:
    """Symptom: of two processes that looked at the same moment, one took the other for the owner."""
    owners = PostgresOwners(database)
    await owners.me()
    _outside(database, "INSERT INTO owner (id, server_start) VALUES ('gone', pg_postmaster_start_time())")
    with psycopg.connect(database) as another:  # in the middle of a look
        another.execute("SELECT pg_advisory_xact_lock_shared(tableoid::int, number) FROM owner WHERE id = 'gone'")
        assert await owners.liveness(OwnerId("gone")) == Dead()
    await owners.close()


@story
async def test_owners_that_enter_at_once_do_not_sweep_each_other_away(database: str) -> None:
    store = PostgresStore(database, SessionRows())
    await store.heads([])
    owners = [PostgresOwners(database) for _ in range(12)]
    names = await asyncio.gather(*(each.me() for each in owners))
    for looker in owners:
        assert await asyncio.gather(*(looker.liveness(name) for name in names)) == [Alive(0)] * 12
    for each in owners:
        await each.close()
    await store.close()


@story
async def test_two_logs_in_one_database_have_owners_of_their_own(postgres: PrivateServer) -> None:
    one, other = PostgresOwners(postgres.new_schema()), PostgresOwners(postgres.new_schema())
    mine, theirs = await one.me(), await other.me()
    assert (await one.liveness(mine), await other.liveness(theirs)) == (Alive(0), Alive(0))
    assert (await one.liveness(theirs), await other.liveness(mine)) == (Dead(), Dead())
    await one.close()
    assert await other.liveness(theirs) == Alive(0)
    await other.close()


@story
async def test_a_server_that_restarts_kills_nobody(postgres: PrivateServer, database: str) -> None:
    """All locks are gone with it. Nobody is taken for dead before they had time to come back."""
    one, other = PostgresOwners(database), PostgresOwners(database)
    me, them = await one.me(), await other.me()
    await one.send_heartbeat()
    postgres.restart()
    assert await other.liveness(me) == Alive(1)  # has not noticed yet
    newcomer = PostgresOwners(database)
    await newcomer.me()
    assert await newcomer.liveness(me) == Alive(1)
    assert await one.me() == me
    await one.send_heartbeat()
    assert await other.liveness(me) == Alive(2)
    assert await one.liveness(them) == Alive(0)
    with psycopg.connect(database, autocommit=True) as outside:
        held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 'owner'::regclass"
        assert outside.execute(held).fetchall() == [(3,)]
    await one.close()
    assert await other.liveness(me) == Dead()
    await other.close()
    await newcomer.close()


@story
async def test_an_owner_whose_connection_broke_comes_back_before_it_says_its_name(database: str) -> None:
    one, other = PostgresOwners(database), PostgresOwners(database)
    me = await one.me()
    await other.me()
    _outside(
        database, f"SELECT pg_terminate_backend(pid) FROM pg_locks, owner WHERE id = '{me}' AND objid = number::oid"
    )
    while await other.liveness(me) != Dead():
        pass
    assert await one.me() == me
    assert await other.liveness(me) == Alive(0)
    await one.close()
    await other.close()


@story
async def test_an_owner_takes_its_lock_from_a_connection_that_only_the_server_still_has(database: str) -> None:
    """Symptom: after the network was gone for a moment, a process could not come back until the server noticed."""
    one, other = PostgresOwners(database), PostgresOwners(database)
    me = await one.me()
    await other.me()
    with psycopg.connect(database, autocommit=True) as left_behind:
        _outside(
            database,
            f"SELECT pg_terminate_backend(pid) FROM pg_locks, owner WHERE id = '{me}' AND objid = number::oid",
        )
        left_behind.execute("SELECT pg_advisory_lock(tableoid::int, number) FROM owner WHERE id = %s", (me,))
        async with asyncio.timeout(PATIENCE):
            assert await one.me() == me
            await one.send_heartbeat()
        assert await other.liveness(me) == Alive(1)
        with pytest.raises(psycopg.OperationalError):
            left_behind.execute("SELECT 1")
    await one.close()
    await other.close()


@story
async def test_a_heartbeat_that_cannot_be_written_is_passed_over(postgres: PrivateServer, database: str) -> None:
    owners = PostgresOwners(database, patience_seconds=0.1)
    me = await owners.me()
    postgres.stop()
    try:
        await owners.send_heartbeat()
        with pytest.raises(StoreFailed, match="cannot be reached"):
            await owners.liveness(OwnerId("other"))
        with pytest.raises(StoreFailed, match="cannot be reached"):
            await owners.me()
    finally:
        postgres.start()
    assert await owners.me() == me
    await owners.send_heartbeat()
    assert await owners.liveness(me) == Alive(1)
    postgres.stop()
    try:
        await owners.close()
    finally:
        postgres.start()


def _outside(database: str, sql: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(sql.encode())
