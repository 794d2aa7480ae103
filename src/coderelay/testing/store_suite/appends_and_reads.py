"""Checks of appends and reads: numbering, epochs, races, cancellation, cursors, the change counter, time."""

import asyncio

from coderelay.protocol.errors import Fenced, HeadMoved
from coderelay.protocol.events import (
    AnyEvent,
    Recorded,
    SessionDeleted,
)
from coderelay.protocol.ids import APPROVALS, SessionId
from coderelay.store.store import Store
from coderelay.testing.store_suite.check_framework import Log, check
from coderelay.testing.store_suite.sample_events import (
    BY,
    A,
    B,
    C,
    Stumbling,
    claimed,
    created,
    everything,
    prompt,
    refused,
    summary_of,
    text_in,
    whole_turn,
    write,
)


@check
async def events_are_numbered_from_one(log: Log) -> None:
    store = await log.open(clock=lambda: 1000)
    first, more = created(), [prompt(), prompt()]
    assert await store.append(A, 0, [first]) == [Recorded(A, 1, 0, 1000, first)]
    assert await store.append(A, 1, more) == [Recorded(A, 2, 0, 1000, more[0]), Recorded(A, 3, 0, 1000, more[1])]
    assert await store.append(B, 0, [first]) == [Recorded(B, 1, 0, 1000, first)]
    assert [each.event for each in await store.read(A)] == [first, *more]


@check
async def an_append_is_seen_by_everyone_at_once(log: Log) -> None:
    one, other = await log.open(), await log.open()
    for count in range(1, 20):
        writer, reader = (one, other) if count % 2 else (other, one)
        written = await writer.append(A, count - 1, [prompt() if count > 1 else created()])
        assert await reader.read(A, count - 1) == written == await writer.read(A, count - 1)
        assert await reader.heads([A]) == {A: count}
        assert await reader.session(A) == await writer.session(A) == summary_of(await one.read(A))


@check
async def a_moved_head_changes_nothing(log: Log) -> None:
    store = await log.open()
    await write(store, A, [[created()], *whole_turn()])
    before = await everything(store, A, B)
    head = (await store.heads([A]))[A]
    for wrong in (0, head - 1, head + 1):
        assert (await refused(HeadMoved, store.append(A, wrong, [prompt()]))).head == head
    assert (await refused(HeadMoved, store.append(B, 1, [prompt()]))).head == 0
    assert await everything(store, A, B) == before


@check
async def an_append_that_another_overtook_changes_nothing(log: Log) -> None:
    """Checked for an append alone, for one in a group whose other appends succeed, and for one overtaken by a
    deletion."""
    one, other = await log.open(), await log.open()
    ahead, gone = SessionId("ahead"), SessionId("gone")
    for session in (A, B, C, ahead, gone):
        await write(one, session, [[created()]])
    await other.append(A, 1, [prompt("theirs")])
    for session in (C, gone):
        await write(other, session, [[prompt("theirs")], [SessionDeleted(by=BY)]])
    before = await everything(other, A, gone, C)
    assert (await refused(HeadMoved, one.append(A, 1, [prompt("mine")]))).head == 2
    assert (await refused(HeadMoved, one.append(gone, 1, [prompt("mine")]))).head == 3
    assert await everything(other, A, gone, C) == before
    _, overtaken, written = await asyncio.gather(
        one.append(ahead, 1, [prompt("mine")]),
        refused(HeadMoved, one.append(C, 1, [prompt("mine")])),
        one.append(B, 1, [prompt("mine")]),
    )
    assert overtaken.head == 3
    assert (await everything(other, C))[-3:] == before[-3:]
    assert await other.read(B, 1) == written


@check
async def a_wrong_epoch_changes_nothing(log: Log) -> None:
    """Fenced is raised even if the head has moved too, as it does when another owner takes over: the old owner must
    stop, and not decide again."""
    store, other = await log.open(), await log.open()
    await store.append(A, 0, [created()])
    await store.append(A, 1, [claimed(1)])
    await store.append(A, 2, [prompt()], epoch=1)
    await other.append(A, 3, [claimed(2)])
    before = await everything(store, A)
    for epoch, at in ((1, 4), (1, 3), (3, 4), (0, 4)):
        assert (await refused(Fenced, store.append(A, at, [prompt()], epoch=epoch))).current == 2
    assert await everything(store, A) == before
    await other.append(A, 4, [prompt()], epoch=2)


@check
async def a_claim_raises_the_epoch_for_itself_and_what_follows(log: Log) -> None:
    store = await log.open()
    await write(store, A, [[created()], [prompt(), claimed(1), prompt()], [prompt(), claimed(5)], [prompt()]])
    assert [each.epoch for each in await store.read(A)] == [0, 0, 1, 1, 1, 5, 5]
    await store.append(A, 7, [prompt()], epoch=5)


@check
async def whoever_owns_nothing_writes_under_any_epoch(log: Log) -> None:
    store, other = await log.open(), await log.open()
    await write(store, A, [[created()], [claimed(7)]])
    (recorded,) = await other.append(A, 2, [prompt("from elsewhere")])
    assert recorded.epoch == 7
    await store.append(A, 3, [prompt()], epoch=7)


@check
async def nothing_to_append_writes_nothing(log: Log) -> None:
    store = await log.open()
    assert await store.append(B, 0, []) == []
    await write(store, A, [[created()], [claimed(1)]])
    before = await everything(store, A, B)
    assert await store.append(A, 2, [], epoch=1) == []
    await refused(HeadMoved, store.append(A, 1, []))
    await refused(Fenced, store.append(A, 2, [], epoch=2))
    assert await everything(store, A, B) == before


@check
async def of_racing_appends_exactly_one_wins(log: Log) -> None:
    stores = [await log.open(), await log.open()]
    sessions = [SessionId(f"race-{number}") for number in range(4)]
    won: dict[SessionId, list[AnyEvent]] = {session: [] for session in sessions}
    told: list[tuple[int, int]] = []

    async def append_once_at_head(store: Store, session: SessionId, head: int) -> AnyEvent | None:
        event = prompt() if head else created()
        try:
            (recorded,) = await store.append(session, head, [event])
        except HeadMoved as moved:
            told.append((head, moved.head))
            return None
        assert (recorded.seq, recorded.event) == (head + 1, event)
        return event

    for head in range(20):
        entries = [(store, session) for session in sessions for store in stores for _ in range(3)]
        events = await asyncio.gather(*(append_once_at_head(store, session, head) for store, session in entries))
        for (_, session), event in zip(entries, events, strict=True):
            won[session] += [event] if event is not None else []
    assert set(told) == {(head, head + 1) for head in range(20)}
    for session in sessions:
        assert [each.event for each in await stores[0].read(session)] == won[session]
        assert [each.seq for each in await stores[1].read(session)] == list(range(1, 21))


@check
async def racing_appends_that_try_again_all_get_in(log: Log) -> None:
    stores = [await log.open(), await log.open()]

    async def append_until_accepted(store: Store, session: SessionId, text: str) -> None:
        head = 0
        while True:
            try:
                await store.append(session, head, [prompt(text)])
            except HeadMoved as moved:
                head = moved.head
            else:
                return

    texts = {(session, f"{number}") for session in (A, B, C) for number in range(40)}
    tasks = [
        append_until_accepted(stores[number % 2], session, text)
        for number, (session, text) in enumerate(sorted(texts))
    ]
    await asyncio.gather(*tasks)
    found = [(session, each) for session in (A, B, C) for each in await stores[0].read(session)]
    assert [each.seq for _, each in found] == [*range(1, 41)] * 3
    assert {(session, text_in(each)) for session, each in found} == texts


@check
async def refused_appends_leave_their_company_alone(log: Log) -> None:
    """Concurrent appends share a commit, but each succeeds or fails alone, whatever is wrong with the others."""
    store = await log.open(projection=Stumbling())
    for session in (A, B):
        await store.append(session, 0, [created()])
    appends: list[tuple[SessionId, int, AnyEvent, int | None]] = []
    for number in range(60):
        new = SessionId(f"new-{number}")
        appends += [
            (new, 0, created(), None),
            (A, 9, prompt(), None),
            (A, 1, prompt(), 3),
            (A, 1, prompt("stumble"), None),
            (A, 1, claimed(2**70), None),
            (B, 1, prompt("stumble"), None),
            (SessionId(f"huge-{number}"), 0, claimed(2**70), None),
        ]
    results = await asyncio.gather(
        *(store.append(session, at, [event], epoch=epoch) for session, at, event, epoch in appends),
        return_exceptions=True,
    )
    kinds = [type(each).__name__ for each in results]
    assert kinds[0::7] == ["list"] * 60
    assert kinds[1::7] == ["HeadMoved"] * 60
    assert kinds[2::7] == ["Fenced"] * 60
    assert kinds[3::7] == ["Stumbled"] * 60
    assert kinds[5::7] == ["Stumbled"] * 60
    assert "list" not in kinds[4::7] + kinds[6::7]
    assert len(await store.read(A)) == 1
    assert len(await store.sessions()) == 62
    assert await store.heads([SessionId("new-59")]) == {SessionId("new-59"): 1}


@check
async def a_cancelled_append_is_carried_out_whole(log: Log) -> None:
    store, other = await log.open(), await log.open()
    await write(store, A, [[created()]])
    sessions = [SessionId(f"cut-{number}") for number in range(20)]
    tasks = [asyncio.create_task(store.append(session, 0, [created(), prompt()])) for session in sessions]
    await asyncio.sleep(0)  # lets the appends begin
    for task in tasks:
        task.cancel()
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(end, asyncio.CancelledError) for end in ends)
    await store.close()
    assert await other.heads(sessions) == dict.fromkeys(sessions, 2)
    assert [len(await other.read(session)) for session in sessions] == [2] * 20


@check
async def reading_starts_at_any_cursor(log: Log) -> None:
    store = await log.open()
    written = await write(store, A, [[created()], *([prompt(str(number))] for number in range(9))])
    await write(store, B, [[created()]])
    for cursor in range(12):
        assert await store.read(A, cursor) == written[cursor:]
    assert await store.read(C) == []
    pages: list[Recorded] = []
    while page := await store.read(A, pages[-1].seq if pages else 0, limit=4):
        assert len(page) <= 4
        pages += page
    assert pages == written
    many = await store.append(B, 1, [prompt() for _ in range(1200)])
    assert await store.read(B, 1) == many[:1000]
    assert await store.read(B, 1001) == many[1000:]


@check
async def heads_name_only_sessions_that_are_there(log: Log) -> None:
    store = await log.open()
    await write(store, A, [[created(), prompt()]])
    await write(store, B, [[created()]])
    assert await store.heads([B, C, A]) == {A: 2, B: 1}
    assert await store.heads([]) == {}


@check
async def the_change_counter_moves_with_appends_only(log: Log) -> None:
    store, other = await log.open(), await log.open()
    await write(store, A, [[created()]])
    seen = store.change_counter()
    await refused(HeadMoved, other.append(A, 0, [prompt()]))
    await refused(Fenced, other.append(A, 1, [prompt()], epoch=4))
    await everything(other, A)
    await everything(store, A)
    assert store.change_counter() == seen
    for writer in (other, other, store):
        await write(writer, A, [[prompt()]])
        assert store.change_counter() != seen
        seen = store.change_counter()
        assert store.change_counter() == seen


@check
async def changes_are_named_once_to_everyone(log: Log) -> None:
    store, other = await log.open(), await log.open()
    await write(other, B, [[created()]])
    await write(store, A, [[created()]])
    await write(other, B, [[prompt()]])
    first = await store.changed(None)
    assert first.heads == {}
    assert (await store.changed(first.cursor)).heads == {}
    cursor = first.cursor
    for head in range(2, 6):
        writer = other if head % 2 else store
        await write(writer, A, [[prompt()]])
        changes = await store.changed(cursor)
        assert changes.heads == {A: head}
        cursor = changes.cursor
        assert (await store.changed(cursor)).heads == {}
    await write(other, C, [[created()], [prompt(), prompt()]])
    await write(store, B, [[prompt()]])
    assert (await store.changed(cursor)).heads == {B: 3, C: 3}
    assert (await store.changed(first.cursor)).heads == {A: 5, B: 3, C: 3}
    cursor = (await store.changed(cursor)).cursor
    await write(other, A, [[SessionDeleted(by=BY)]])
    assert (await store.changed(cursor)).heads == {A: 6}
    assert (await store.changed((await store.changed(cursor)).cursor)).heads == {}
    await refused(HeadMoved, store.append(B, 1, [prompt()]))
    assert (await store.changed(cursor)).heads == {A: 6}


@check
async def an_empty_log_changes_with_its_first_event(log: Log) -> None:
    store, other = await log.open(), await log.open()
    cursor = (await store.changed(None)).cursor
    assert (await store.changed(cursor)).heads == {}
    await write(store, A, [[created()]])
    await write(other, B, [[created(), prompt()]])
    assert (await store.changed(cursor)).heads == {A: 1, B: 2}


@check
async def the_heads_of_all_logs_include_the_deleted(log: Log) -> None:
    store = await log.open()
    assert await store.all_heads() == {}
    await write(store, A, [[created(), prompt()], [SessionDeleted(by=BY)]])
    await write(store, B, [[created()], *([prompt()] for _ in range(9))])
    await write(store, APPROVALS, [[prompt()]])
    assert await store.all_heads() == {A: 3, B: 10, APPROVALS: 1}


@check
async def time_never_runs_backwards_within_a_session(log: Log) -> None:
    times = iter([5000, 4000, 6000, 10])
    store, behind = await log.open(clock=lambda: next(times)), await log.open(clock=lambda: 1)
    await write(store, A, [[created()], [prompt(), prompt()], [prompt()]])
    await write(behind, A, [[prompt()]])
    assert [each.at for each in await store.read(A)] == [5000, 5000, 5000, 6000, 6000]
    (free,) = await store.append(B, 0, [created()])
    assert free.at == 10
