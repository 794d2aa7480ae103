"""What every Store must do, as checks that run on any of them.

    @pytest.mark.parametrize("check", CHECKS, ids=name)
    def test_it_is_a_store(check: Check, tmp_path: Path) -> None:
        async def open_store(projection: Projection, clock: Clock) -> Store:
            return MyStore(tmp_path, projection, clock)

        run(check, open_store)

Every opening during one check must be of the same log, empty at first; two openings stand for two
processes. A check that finds a promise broken raises AssertionError.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from coderelay.app import Rows
from coderelay.protocol.asks import Allow, By, PermissionAsk
from coderelay.protocol.calls import Call, Finished, Need
from coderelay.protocol.content import Text, Thinking, Usage
from coderelay.protocol.errors import BadInput, CoderError, Fenced, HeadMoved, StoreDamaged, StoreFailed
from coderelay.protocol.events import (
    AnyEvent,
    AskAnswered,
    BatchOpened,
    BatchResumed,
    CallEnded,
    CallStarted,
    Judged,
    MessageAdded,
    PromptAdmitted,
    Recorded,
    SessionClaimed,
    SessionCreated,
    SessionDeleted,
    TurnEnded,
    TurnStarted,
    Unrecognised,
)
from coderelay.protocol.ids import AskId, CallId, MessageId, OwnerId, PromptId, SessionId, TurnId, new_id
from coderelay.protocol.summary import MessageRow, Summary
from coderelay.store.sqlite import wall_clock
from coderelay.store.store import Projection, Store

E = TypeVar("E", bound=CoderError)

Clock = Callable[[], int]
Opener = Callable[[Projection, Clock], Awaitable[Store]]

ROWS = Rows()
BY = By("ann", "suite")


class Log:
    """One log, opened as often as a check wants. All openings are closed at the end."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._opened: list[Store] = []

    async def open(self, *, projection: Projection = ROWS, clock: Clock = wall_clock) -> Store:
        store = await self._opener(projection, clock)
        self._opened.append(store)
        return store

    async def close(self) -> None:
        for store in self._opened:
            await store.close()


Check = Callable[[Log], Awaitable[None]]
CHECKS: list[Check] = []


def run(check: Check, opener: Opener) -> None:
    async def whole() -> None:
        log = Log(opener)
        try:
            await check(log)
        finally:
            await log.close()

    asyncio.run(whole())


def name(check: Check) -> str:
    return getattr(check, "__name__", repr(check))


def promise(check: Check) -> Check:
    CHECKS.append(check)
    return check


# What the checks write.


def created(cwd: str = "/work", title: str = "") -> SessionCreated:
    return SessionCreated(cwd=cwd, agent="native", model="m", mode="default", by=BY, title=title)


def prompt(text: str = "go", prompt_id: str | None = None) -> PromptAdmitted:
    return PromptAdmitted(prompt_id=PromptId(prompt_id or new_id()), text=text, by=BY)


def claimed(epoch: int) -> SessionClaimed:
    return SessionClaimed(owner=OwnerId(f"owner-{epoch}"), epoch=epoch)


def turn_started(text: str = "go", prompt_id: str | None = None) -> TurnStarted:
    return TurnStarted(
        turn_id=TurnId(new_id()),
        prompt_id=PromptId(prompt_id or new_id()),
        text=text,
        agent="native",
        model="m",
        mode="default",
        cwd="/work",
        max_steps=8,
        tools=("bash",),
    )


def whole_turn(epoch: int = 1, text: str = "build it") -> list[list[AnyEvent]]:
    """The appends of a turn in which a person is asked, as the host writes them."""
    started = turn_started(text)
    turn, message, call = started.turn_id, MessageId(new_id()), CallId(new_id())
    need = Need(tool="bash", kind="command", title="make", command="make")
    ask = PermissionAsk(AskId(new_id()), call, need, "commands are asked about")
    proposal = MessageAdded(
        message_id=message,
        turn_id=turn,
        model="m",
        blocks=(Thinking("hm"), Text("I will build.")),
        calls=(Call(call, "bash", '{"command":"make"}'),),
        usage=Usage(input_tokens=10, output_tokens=5),
    )
    opened = BatchOpened(batch_id=message, turn_id=turn, judged=(Judged(call, "ask", need, ask.reason, ask),))
    final = MessageAdded(message_id=MessageId(new_id()), turn_id=turn, model="m", blocks=(Text("built"),))
    return [
        [PromptAdmitted(prompt_id=started.prompt_id, text=text, by=BY)],
        [claimed(epoch), started],
        [proposal, opened],
        [AskAnswered(ask_id=ask.id, decision=Allow(), by=BY), BatchResumed(batch_id=message)],
        [claimed(epoch + 1), CallStarted(batch_id=message, call_id=call)],
        [CallEnded(batch_id=message, call_id=call, outcome=Finished("ok"), ms=3)],
        [final, TurnEnded(turn_id=turn, ending="done", text="built", steps=2, ms=9)],
    ]


async def write(store: Store, session: SessionId, appends: Sequence[Sequence[AnyEvent]]) -> list[Recorded]:
    """Each after the other, behind what is there."""
    head = (await store.heads([session])).get(session, 0)
    written: list[Recorded] = []
    for events in appends:
        written += await store.append(session, head + len(written), events)
    return written


# What the checks look at.


async def refused(kind: type[E], attempt: Awaitable[object]) -> E:
    try:
        await attempt
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was expected")


async def everything(store: Store, *sessions: SessionId) -> list[object]:
    """All that can be seen of a log, to find out whether anything changed."""
    seen: list[object] = [await store.sessions(), await store.heads(sessions)]
    for session in sessions:
        seen += [await store.read(session), await store.session(session), await store.messages(session)]
    return seen


def summary_of(recorded: Sequence[Recorded]) -> Summary | None:
    row = None
    for each in recorded:
        row = ROWS.summary(row, each)
    return row


def messages_of(recorded: Sequence[Recorded]) -> list[MessageRow]:
    return [row for each in recorded for row in ROWS.messages(each)]


A, B, C = SessionId("a"), SessionId("b"), SessionId("c")


# One truth, one write.


@promise
async def events_are_numbered_from_one(log: Log) -> None:
    store = await log.open(clock=lambda: 1000)
    first, more = created(), [prompt(), prompt()]
    assert await store.append(A, 0, [first]) == [Recorded(A, 1, 0, 1000, first)]
    assert await store.append(A, 1, more) == [Recorded(A, 2, 0, 1000, more[0]), Recorded(A, 3, 0, 1000, more[1])]
    assert await store.append(B, 0, [first]) == [Recorded(B, 1, 0, 1000, first)]
    assert [each.event for each in await store.read(A)] == [first, *more]


@promise
async def an_append_is_seen_by_everyone_at_once(log: Log) -> None:
    one, other = await log.open(), await log.open()
    for count in range(1, 20):
        writer, reader = (one, other) if count % 2 else (other, one)
        written = await writer.append(A, count - 1, [prompt() if count > 1 else created()])
        assert await reader.read(A, count - 1) == written == await writer.read(A, count - 1)
        assert await reader.heads([A]) == {A: count}
        assert await reader.session(A) == await writer.session(A) == summary_of(await one.read(A))


@promise
async def a_moved_head_changes_nothing(log: Log) -> None:
    store = await log.open()
    await write(store, A, [[created()], *whole_turn()])
    before = await everything(store, A, B)
    head = (await store.heads([A]))[A]
    for wrong in (0, head - 1, head + 1):
        assert (await refused(HeadMoved, store.append(A, wrong, [prompt()]))).head == head
    assert (await refused(HeadMoved, store.append(B, 1, [prompt()]))).head == 0
    assert await everything(store, A, B) == before


@promise
async def a_wrong_epoch_changes_nothing(log: Log) -> None:
    """Also when the head moved as well, as it does when another takes over: stop, do not decide again."""
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


@promise
async def a_claim_raises_the_epoch_for_itself_and_what_follows(log: Log) -> None:
    store = await log.open()
    await write(store, A, [[created()], [prompt(), claimed(1), prompt()], [prompt(), claimed(5)], [prompt()]])
    assert [each.epoch for each in await store.read(A)] == [0, 0, 1, 1, 1, 5, 5]
    await store.append(A, 7, [prompt()], epoch=5)


@promise
async def whoever_owns_nothing_writes_under_any_epoch(log: Log) -> None:
    store, other = await log.open(), await log.open()
    await write(store, A, [[created()], [claimed(7)]])
    (recorded,) = await other.append(A, 2, [prompt("from elsewhere")])
    assert recorded.epoch == 7
    await store.append(A, 3, [prompt()], epoch=7)


@promise
async def nothing_to_append_writes_nothing(log: Log) -> None:
    store = await log.open()
    assert await store.append(B, 0, []) == []
    await write(store, A, [[created()], [claimed(1)]])
    before = await everything(store, A, B)
    assert await store.append(A, 2, [], epoch=1) == []
    await refused(HeadMoved, store.append(A, 1, []))
    await refused(Fenced, store.append(A, 2, [], epoch=2))
    assert await everything(store, A, B) == before


@promise
async def of_racing_appends_exactly_one_wins(log: Log) -> None:
    stores = [await log.open(), await log.open()]
    sessions = [SessionId(f"race-{number}") for number in range(4)]
    won: dict[SessionId, list[AnyEvent]] = {session: [] for session in sessions}
    told: list[tuple[int, int]] = []

    async def contend(store: Store, session: SessionId, head: int) -> AnyEvent | None:
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
        events = await asyncio.gather(*(contend(store, session, head) for store, session in entries))
        for (_, session), event in zip(entries, events, strict=True):
            won[session] += [event] if event is not None else []
    assert set(told) == {(head, head + 1) for head in range(20)}
    for session in sessions:
        assert [each.event for each in await stores[0].read(session)] == won[session]
        assert [each.seq for each in await stores[1].read(session)] == list(range(1, 21))


@promise
async def racing_appends_that_try_again_all_get_in(log: Log) -> None:
    stores = [await log.open(), await log.open()]

    async def insist(store: Store, session: SessionId, text: str) -> None:
        head = 0
        while True:
            try:
                await store.append(session, head, [prompt(text)])
            except HeadMoved as moved:
                head = moved.head
            else:
                return

    texts = {(session, f"{number}") for session in (A, B, C) for number in range(40)}
    tasks = [insist(stores[number % 2], session, text) for number, (session, text) in enumerate(sorted(texts))]
    await asyncio.gather(*tasks)
    found = [(session, each) for session in (A, B, C) for each in await stores[0].read(session)]
    assert [each.seq for _, each in found] == [*range(1, 41)] * 3
    assert {(session, _text(each)) for session, each in found} == texts


@promise
async def refused_appends_leave_their_company_alone(log: Log) -> None:
    """Many at once share a commit; each stands or falls alone, whatever is wrong with the others."""
    store = await log.open(projection=Stumbling())
    await store.append(A, 0, [created()])
    appends: list[tuple[SessionId, int, AnyEvent, int | None]] = []
    for number in range(60):
        new = SessionId(f"new-{number}")
        appends += [
            (new, 0, created(), None),
            (A, 9, prompt(), None),
            (A, 1, prompt(), 3),
            (A, 1, prompt("stumble"), None),
            (A, 1, claimed(2**70), None),
        ]
    results = await asyncio.gather(
        *(store.append(session, at, [event], epoch=epoch) for session, at, event, epoch in appends),
        return_exceptions=True,
    )
    kinds = [type(each).__name__ for each in results]
    assert kinds[0::5] == ["list"] * 60
    assert kinds[1::5] == ["HeadMoved"] * 60
    assert kinds[2::5] == ["Fenced"] * 60
    assert kinds[3::5] == ["Stumbled"] * 60
    assert "list" not in kinds[4::5]
    assert len(await store.read(A)) == 1
    assert len(await store.sessions()) == 61
    assert await store.heads([SessionId("new-59")]) == {SessionId("new-59"): 1}


@promise
async def a_cancelled_append_is_carried_out_whole(log: Log) -> None:
    store, other = await log.open(), await log.open()
    await write(store, A, [[created()]])
    sessions = [SessionId(f"cut-{number}") for number in range(20)]
    tasks = [asyncio.create_task(store.append(session, 0, [created(), prompt()])) for session in sessions]
    await asyncio.sleep(0)  # begun
    for task in tasks:
        task.cancel()
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(end, asyncio.CancelledError) for end in ends)
    await store.close()
    assert await other.heads(sessions) == dict.fromkeys(sessions, 2)
    assert [len(await other.read(session)) for session in sessions] == [2] * 20


# Reading.


@promise
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


@promise
async def heads_name_only_sessions_that_are_there(log: Log) -> None:
    store = await log.open()
    await write(store, A, [[created(), prompt()]])
    await write(store, B, [[created()]])
    assert await store.heads([B, C, A]) == {A: 2, B: 1}
    assert await store.heads([]) == {}


@promise
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


@promise
async def time_never_runs_backwards_within_a_session(log: Log) -> None:
    times = iter([5000, 4000, 6000, 10])
    store, behind = await log.open(clock=lambda: next(times)), await log.open(clock=lambda: 1)
    await write(store, A, [[created()], [prompt(), prompt()], [prompt()]])
    await write(behind, A, [[prompt()]])
    assert [each.at for each in await store.read(A)] == [5000, 5000, 5000, 6000, 6000]
    (free,) = await store.append(B, 0, [created()])
    assert free.at == 10


# Rows that follow from the events.


@promise
async def rows_follow_from_the_events(log: Log) -> None:
    store, other = await log.open(), await log.open()
    written: list[Recorded] = []
    for appended in [[created(title="mine")], *whole_turn(), *whole_turn(3, "again")]:
        written += await store.append(A, len(written), appended)
        assert await other.session(A) == summary_of(written)
        assert await other.messages(A) == messages_of(written)
    assert len(messages_of(written)) == 12
    assert await other.sessions() == [summary_of(written)]
    assert await other.session(B) is None
    assert await other.messages(B) == []


@promise
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


@promise
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


@promise
async def a_message_id_counts_once_in_each_session(log: Log) -> None:
    store = await log.open()
    first, again = turn_started("first", "p"), turn_started("again", "p")
    for session in (A, B):
        written = await write(store, session, [[created()], [first], [again]])
        assert await store.messages(session) == [
            *messages_of(written[:2]),
            *[row for row in messages_of(written[2:]) if row.id != "p"],
        ]


@promise
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
    assert await store.messages(A) == []
    assert (await everything(store, B))[2:] == kept
    assert [each.id for each in await store.sessions()] == [B]
    for at in (0, head):
        assert (await refused(HeadMoved, store.append(A, at, [created()]))).head == head + 2
    (after,) = await store.append(A, head + 2, [prompt()])
    assert (after.seq, after.epoch) == (head + 3, deleted[1].epoch)
    assert await store.session(A) is None
    assert await store.read(A) == [deleted[1], after]


@promise
async def rows_are_written_again_from_the_events(log: Log) -> None:
    blank = await log.open(projection=Blank())
    written = await write(blank, A, [[created()], *whole_turn()])
    await write(blank, B, [[created()], *whole_turn(), [SessionDeleted(by=BY)]])
    await blank.append(C, 0, [created()])
    assert await blank.sessions() == []
    store = await log.open()
    await store.rebuild()
    assert await store.session(A) == summary_of(written)
    assert await store.messages(A) == messages_of(written)
    assert {each.id for each in await store.sessions()} == {A, C}
    before = await everything(blank, A, B, C)
    await store.rebuild()
    assert await everything(blank, A, B, C) == before
    await write(store, A, whole_turn(3))


# What is written.


@promise
async def events_of_a_newer_version_are_kept_as_they_are(log: Log) -> None:
    store = await log.open()
    body: dict[str, Any] = {
        "kind": "party.started",
        "guests": ["ann", None, True, 1.5, 1.0, -(2**63), 2**80, {"深": {"er": []}}],
        "text": 'quote " backslash \\ slash / nul \x00 line \u2028',
    }
    newer = Unrecognised("party.started", body)
    await write(store, A, [[created()], [newer, prompt()]])
    read = (await store.read(A, 1))[0].event
    assert read == newer
    assert _whole(read) == _whole(newer)
    await write(store, B, [[created()], [read]])
    assert _whole((await store.read(B, 1))[0].event) == _whole(newer)
    summary = await store.session(A)
    assert summary is not None
    assert summary.head == 3


@promise
async def an_event_that_cannot_be_read_is_named(log: Log) -> None:
    store = await log.open()
    await write(store, A, [[created()], [prompt()], [Unrecognised("prompt.admitted", {"text": 5})], [prompt()]])
    await write(store, B, [[created()]])
    for after in (0, 2):
        message = str(await refused(StoreDamaged, store.read(A, after)))
        assert "event 3" in message
        assert f"session {A}" in message
    assert len(await store.read(A, limit=2)) == 2
    assert len(await store.read(A, 3)) == 1
    assert len(await store.read(B)) == 1
    before = await store.sessions(), await store.messages(A)
    await refused(StoreDamaged, store.rebuild())
    assert (await store.sessions(), await store.messages(A)) == before


@promise
async def large_events_are_kept_whole(log: Log) -> None:
    store = await log.open()
    large = prompt("0123456789é日🐉\n" * 300_000)
    await write(store, A, [[created()], [large], [turn_started(large.text)]])
    assert len(large.text.encode()) > 5_000_000
    assert [_text(each) for each in await store.read(A, 1)] == [large.text] * 2


@promise
async def all_of_unicode_is_kept(log: Log) -> None:
    store = await log.open()
    text = "日本語 🐉 e\u0301 \u00e9 \u202e \u2028 \ufeff \U0010ffff \x00 \x1b[0m \r\n\t '\"\\ %s ? :x $1 \x7f"
    session = SessionId("s 日'\"")
    events = [created(f"/{text}", text), prompt(text), turn_started(text)]
    written = await write(store, session, [events])
    assert [each.event for each in await store.read(session)] == events
    assert await store.sessions(cwd=f"/{text}") == [summary_of(written)]
    assert await store.messages(session) == messages_of(written)
    assert await store.heads([session]) == {session: 3}


@promise
async def half_a_character_is_refused(log: Log) -> None:
    """UTF-8 cannot hold a lone surrogate, which is what Python makes of a file name that is not UTF-8."""
    store = await log.open()
    await write(store, A, [[created()]])
    half, before = "half \ud83d", await everything(store, A)
    for session, event in ((A, prompt(half)), (A, Unrecognised("new", {"x": half})), (SessionId(half), created())):
        error = await refused(BadInput, store.append(session, 1 if session == A else 0, [prompt(), event]))
        assert "U+D83D" in str(error)
    assert await everything(store, A) == before
    unknown = SessionId(half)
    assert await everything(store, unknown) == [await store.sessions(), {}, [], None, []]
    assert await store.sessions(cwd=half) == []


@promise
async def closing_finishes_what_was_begun_and_then_takes_nothing(log: Log) -> None:
    store, other = await log.open(), await log.open()
    unused = await log.open()
    tasks = [asyncio.create_task(store.append(SessionId(f"s{n}"), 0, [created()])) for n in range(50)]
    await asyncio.sleep(0)  # begun
    await asyncio.gather(store.close(), store.close())
    assert [len(await task) for task in tasks] == [1] * 50
    assert len(await other.sessions()) == 50
    await unused.close()
    for closed in (store, unused):
        await closed.close()
        await refused(StoreFailed, closed.append(A, 0, [created()]))
        await refused(StoreFailed, closed.rebuild())
        await refused(StoreFailed, closed.read(A))
        await refused(StoreFailed, closed.heads([A]))
        await refused(StoreFailed, closed.sessions())
    assert await other.read(A) == []
    await write(other, A, [[created()]])


class Stumbled(Exception):
    """Not one of ours: what a fault in a projection looks like."""


class Stumbling(Rows):
    """A projection with a fault."""

    def messages(self, recorded: Recorded) -> Sequence[MessageRow]:
        if isinstance(recorded.event, PromptAdmitted) and recorded.event.text == "stumble":
            raise Stumbled
        return super().messages(recorded)


class Blank(Rows):
    """A projection that makes no rows."""

    def summary(self, row: Summary | None, recorded: Recorded) -> Summary | None:
        return None


def _text(recorded: Recorded) -> str:
    assert isinstance(recorded.event, PromptAdmitted | TurnStarted)
    return recorded.event.text


def _whole(event: AnyEvent) -> str:
    """Types and order included, which == leaves out."""
    assert isinstance(event, Unrecognised)
    return repr((event.kind, event.body))
