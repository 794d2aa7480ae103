"""Checks that projected rows (summaries, messages) follow from the events, also after a deletion or a rebuild."""

import asyncio

from coderelay.protocol.errors import HeadMoved
from coderelay.protocol.events import (
    Recorded,
    SessionDeleted,
)
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import Messages
from coderelay.testing.store_suite.check_framework import Log, check
from coderelay.testing.store_suite.sample_events import (
    BY,
    A,
    B,
    Blank,
    C,
    Stumbled,
    Stumbling,
    created,
    everything,
    messages_of,
    prompt,
    refused,
    summary_of,
    turn_started,
    whole_turn,
    write,
)


@check
async def rows_follow_from_the_events(log: Log) -> None:
    store, other = await log.open(), await log.open()
    written: list[Recorded] = []
    for appended in [[created(title="mine")], *whole_turn(), *whole_turn(3, "again")]:
        written += await store.append(A, len(written), appended)
        assert await other.session(A) == summary_of(written)
        assert (await other.messages(A)).rows == messages_of(written)
    assert len(messages_of(written)) == 12
    assert await other.sessions() == [summary_of(written)]
    assert await other.session(B) is None
    assert (await other.messages(B)).rows == []


@check
async def events_and_their_rows_are_one_transaction(log: Log) -> None:
    store = await log.open(projection=Stumbling())
    await write(store, A, [[created()], *whole_turn()])
    before = await everything(store, A)
    head = (await store.heads([A]))[A]
    for events in ([prompt("stumble")], [turn_started("fine"), prompt("stumble")]):
        try:
            await store.append(A, head, events)
        except Stumbled:
            pass
        else:
            raise AssertionError("the projection failed and the append did not")
    assert await everything(store, A) == before


@check
async def the_newest_change_comes_first(log: Log) -> None:
    times = iter(range(1, 100))
    store = await log.open(clock=lambda: next(times))
    for session, cwd in ((A, "/one"), (B, "/two"), (C, "/one")):
        await store.append(session, 0, [created(cwd)])
    assert [each.id for each in await store.sessions()] == [C, B, A]
    await store.append(A, 1, [prompt()])
    assert [each.id for each in await store.sessions()] == [A, C, B]
    assert [each.id for each in await store.sessions(limit=2)] == [A, C]
    assert [each.id for each in await store.sessions(cwd="/one")] == [A, C]
    assert [each.id for each in await store.sessions(cwd="/one", limit=1)] == [A]
    assert await store.sessions(cwd="/on") == []
    ahead, behind = await log.open(clock=lambda: 1_000_000), await log.open(clock=lambda: 1)
    await ahead.append(B, 1, [prompt()])
    assert [each.id for each in await store.sessions()] == [B, A, C]
    await behind.append(C, 1, [prompt()])
    await behind.append(A, 2, [prompt()])
    assert [each.id for each in await store.sessions()] == [A, C, B], "a clock that was ahead counts for good"
    await store.rebuild()
    assert [each.id for each in await store.sessions(cwd="/one")] == [A, C]


@check
async def folders_are_ordered_by_their_newest_session(log: Log) -> None:
    store, other = await log.open(), await log.open()
    assert await store.recent_folders(10) == []
    for session, cwd in ((A, "/one"), (B, "/two"), (C, "/one")):
        await store.append(session, 0, [created(cwd)])
    assert await other.recent_folders(10) == ["/one", "/two"]
    await store.append(B, 1, [prompt()])
    assert await other.recent_folders(10) == ["/two", "/one"]
    assert await other.recent_folders(1) == ["/two"]
    await store.append(B, 2, [SessionDeleted(by=BY)])
    assert await other.recent_folders(10) == ["/one"]


@check
async def sessions_that_wait_are_found_among_the_others(log: Log) -> None:
    times = iter(range(1, 100))
    store = await log.open(clock=lambda: next(times))
    for session in (A, B, C):
        await write(store, session, [[created()], *whole_turn()[:3]])  # the session waits for a person
    assert await store.waiting() == [await store.session(each) for each in (C, B, A)]
    await write(store, B, whole_turn()[3:])
    await write(store, C, [[SessionDeleted(by=BY)]])
    assert [each.id for each in await store.waiting()] == [A]
    assert [each.open_asks for each in await store.waiting()] == [1]


@check
async def sessions_are_found_by_the_beginning_of_their_ids(log: Log) -> None:
    store = await log.open()
    for name in ("b1-2", "a", "b1", "b", "B1", "b1\u00e9", "c"):
        await store.append(SessionId(name), 0, [created()])
    assert [each.id for each in await store.named("b1")] == ["b1", "b1-2", "b1\u00e9"]
    assert await store.named("b1") == [await store.session(SessionId(each)) for each in ("b1", "b1-2", "b1\u00e9")]
    assert await store.named("d") == []
    assert len(await store.named("")) == 7


@check
async def a_message_id_counts_once_in_each_session(log: Log) -> None:
    store = await log.open()
    first, again = turn_started("first", "p"), turn_started("again", "p")
    for session in (A, B):
        written = await write(store, session, [[created()], [first], [again]])
        assert (await store.messages(session)).rows == [
            *messages_of(written[:2]),
            *[row for row in messages_of(written[2:]) if row.id != "p"],
        ]


@check
async def messages_end_at_the_head_of_the_same_moment(log: Log) -> None:
    store, other = await log.open(), await log.open()
    assert (await other.messages(A)).seq == 0
    await store.append(A, 0, [created()])
    assert await other.messages(A) == Messages([], 1)

    async def write_turns() -> None:
        for number in range(30):
            await store.append(A, number + 1, [turn_started("again", f"p{number}")])

    writing = asyncio.create_task(write_turns())
    while not writing.done():
        found = await other.messages(A)
        assert len(found.rows) == 2 * (found.seq - 1)
        await asyncio.sleep(0)
    await writing
    assert await other.messages(A) == Messages(messages_of(await store.read(A)), 31)
    await store.append(A, 31, [SessionDeleted(by=BY)])
    assert await other.messages(A) == Messages([], 32)


@check
async def deletion_erases_all_but_itself(log: Log) -> None:
    store, other = await log.open(), await log.open()
    head = len(await write(store, A, [[created()], *whole_turn()]))
    await write(store, B, [[created()], *whole_turn()])
    kept = (await everything(store, B))[2:]
    deleted = await other.append(A, head, [prompt(), SessionDeleted(by=BY)])
    assert await store.read(A) == await store.read(A, 3) == deleted[1:]
    assert await store.read(A, head + 2) == []
    assert await store.heads([A]) == {A: head + 2}
    assert await store.session(A) is None
    assert (await store.messages(A)).rows == []
    assert (await everything(store, B))[2:] == kept
    assert [each.id for each in await store.sessions()] == [B]
    for at in (0, head):
        assert (await refused(HeadMoved, store.append(A, at, [created()]))).head == head + 2
    (after,) = await store.append(A, head + 2, [prompt()])
    assert (after.seq, after.epoch) == (head + 3, deleted[1].epoch)
    assert await store.session(A) is None
    assert await store.read(A) == [deleted[1], after]


@check
async def rows_are_written_again_from_the_events(log: Log) -> None:
    blank = await log.open(projection=Blank())
    written = await write(blank, A, [[created()], *whole_turn()])
    await write(blank, B, [[created()], *whole_turn(), [SessionDeleted(by=BY)]])
    await blank.append(C, 0, [created()])
    assert await blank.sessions() == []
    store = await log.open()
    await store.rebuild()
    assert await store.session(A) == summary_of(written)
    assert (await store.messages(A)).rows == messages_of(written)
    assert {each.id for each in await store.sessions()} == {A, C}
    before = await everything(blank, A, B, C)
    await store.rebuild()
    assert await everything(blank, A, B, C) == before
    await write(store, A, whole_turn(3))
