"""A process that lives long forgets what nobody follows, works on or waits for. Counted, not timed."""

import asyncio
import gc
import os
from contextlib import aclosing
from pathlib import Path

import pytest

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.host.host import Host
from coderelay.host.loaded_session_cache import LoadedSessionCache
from coderelay.host.supervised_sessions_index import SupervisedSessions
from coderelay.protocol.background_commands import StoppedBy
from coderelay.protocol.commands import OpenSession, StopBackground
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.events import BackgroundEnded
from coderelay.protocol.ids import OwnerId, SessionId, new_id
from coderelay.protocol.queries import ListBackground, ListTodos, ReadMessages, ShowSession, WhyWaiting
from coderelay.store.sqlite.store import SqliteStore
from coderelay.testing.store_suite import claimed, created, prompt, turn_started
from coderelay.testing.store_suite import write as write_log
from tests.house import ME, house, story
from tests.model_server import call, proposes, says, script, write
from tests.patience import PATIENCE

RECENT = 32  # records that may stay although nobody uses them


def records_of(host: Host) -> int:
    gc.collect()
    return len(host.context.sessions)


async def until_forgotten(host: Host, most: int = 0) -> None:
    """Wait until at most so many sessions are attended; the polling loop forgets four times a second."""
    async with asyncio.timeout(PATIENCE):
        while host.supervised() > most:  # noqa: ASYNC110 - nothing is told when a session is forgotten
            await asyncio.sleep(0.01)


@story
async def test_unknown_ids_leave_nothing_behind(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        for _ in range(1000):
            unknown = SessionId(new_id())
            with pytest.raises(UnknownSession):
                await coder.host.send(OpenSession(session=unknown, by=ME))
            with pytest.raises(UnknownSession):
                await coder.host.get(ShowSession(unknown))
            with pytest.raises(UnknownSession):
                await coder.host.get(ReadMessages(unknown))
            assert await coder.host.get(WhyWaiting(unknown)) is None
            with pytest.raises(UnknownSession):
                await anext(coder.host.follow(unknown))
        assert records_of(coder.host) == 0
        assert coder.host.supervised() == 0


@story
async def test_sessions_used_one_after_the_other_leave_a_few_records(tmp_path: Path) -> None:
    """X-24. Each is opened, asked about, followed and left."""
    async with house(tmp_path, script()) as coder:
        sessions = [SessionId(new_id()) for _ in range(300)]
        await asyncio.gather(*(coder.host.store.append(each, 0, [created(str(coder.folder))]) for each in sessions))
        counts: list[tuple[int, int]] = []
        for number, session in enumerate(sessions, 1):
            await coder.host.send(OpenSession(session=session, by=ME))
            await coder.host.get(ListTodos(session))
            async with aclosing(coder.host.follow(session)) as feed:
                await anext(feed)
            if number % 100 == 0:
                await until_forgotten(coder.host)
                counts.append((len(asyncio.all_tasks()), len(os.listdir("/proc/self/fd"))))
        assert records_of(coder.host) <= RECENT
        tasks, descriptors = zip(*counts, strict=True)
        assert max(tasks) - min(tasks) < 5
        assert max(descriptors) - min(descriptors) < 20  # the file of live text is opened somewhere in between


@story
async def test_finished_sessions_are_forgotten_and_go_on_when_prompted_again(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one"), says("two"))) as coder:
        await coder.prompt("first")
        await coder.ended()
        await until_forgotten(coder.host)
        await coder.prompt("second")
        assert (await coder.ended(turns=2)).text == "two"
        await until_forgotten(coder.host)


@story
async def test_a_session_that_waits_for_people_is_remembered(tmp_path: Path) -> None:
    """D-09: nobody follows it, and yet its process goes on with it when another one answers."""
    async with (
        house(tmp_path, script(proposes(write("a", "x")), says("done"))) as first,
        house(tmp_path, script()) as second,
    ):
        await first.create("default")
        await first.prompt("go")
        (ask,) = await first.asks()
        await first.create("default")  # rests
        second.session = SessionId((await second.host.store.waiting())[0].id)
        await until_forgotten(first.host, most=1)
        await second.answer(ask)
        assert (await second.ended()).text == "done"
        await until_forgotten(first.host)
        await until_forgotten(second.host)


@story
async def test_a_background_command_keeps_its_session_until_it_is_stopped(tmp_path: Path) -> None:
    async with (
        house(tmp_path, script(proposes(call("bash", command="sleep 600", background=True)), says("left"))) as first,
        house(tmp_path, script()) as second,
    ):
        await first.prompt("go")
        await first.ended()
        (row,) = await first.host.get(ListBackground(first.session))
        second.session = first.session
        assert first.host.supervised() == 1
        await second.host.send(StopBackground(session=second.session, background=row.id, by=ME))
        ended = await second.until(lambda event: isinstance(event, BackgroundEnded))
        assert isinstance(ended.event, BackgroundEnded)
        assert ended.event.end == StoppedBy(ME)
        await until_forgotten(first.host)


@story
async def test_an_owner_is_looked_at_once_however_many_sessions_it_has(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "sessions.db"), SessionRows())
    records, attended = LoadedSessionCache(store, lambda session: None), SupervisedSessions()
    for number in range(5):
        session = SessionId(f"s{number}")
        await write_log(store, session, [[created()], [prompt()], [claimed(number % 2 + 1), turn_started()]])
        attended.add(await records.load(session))
    assert sorted(map(str, attended.owners())) == ["owner-1", "owner-2"]
    assert [each.session for each in attended.sessions_needing_owner(OwnerId("owner-2"))] == ["s1", "s3"]
    record = attended.sessions[SessionId("s3")]
    await write_log(store, record.session, [[claimed(7)]])
    await record.sync()
    assert sorted(map(str, attended.owners())) == ["owner-1", "owner-2", "owner-7"]
    attended.discard(record)
    assert sorted(map(str, attended.owners())) == ["owner-1", "owner-2"]
    await store.close()
