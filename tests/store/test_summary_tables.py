"""The tables other programs read, and that they follow from the events alone."""

import asyncio
import itertools
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from coderelay.app import App
from coderelay.client.views.cowork_messages import SessionRows
from coderelay.config.loaded_config import load
from coderelay.protocol.asks import Allow, Answers, Approval, DenyAndStop, PermissionAsk, PlanAsk, QuestionAsk
from coderelay.protocol.calls import Call, Denied, Failed, Finished, Need, Question, Unknown
from coderelay.protocol.events import (
    AnyEvent,
    ApprovalGranted,
    ApprovalRevoked,
    AskAnswered,
    AskOpened,
    BatchOpened,
    BatchResumed,
    CallAsked,
    CallEnded,
    CallStarted,
    Ending,
    Judged,
    MessageAdded,
    PromptAdmitted,
    PromptRecalled,
    Recorded,
    SessionClaimed,
    SessionConfigured,
    SessionCreated,
    SessionDeleted,
    StopRequested,
    TurnEnded,
    TurnStarted,
    Unrecognised,
)
from coderelay.protocol.ids import APPROVALS, AskId, CallId, MessageId, OwnerId, PromptId, SessionId, TurnId
from coderelay.protocol.message_content import Text, Thinking
from coderelay.protocol.projected_rows import Summary
from coderelay.store.sqlite.store import SqliteStore
from coderelay.testing.store_suite import BY, created, prompt, whole_turn, write
from tests.store.plain_sqlite_reader import connected, dictionaries, events, rows, tables

Appends = Sequence[tuple[SessionId, Sequence[AnyEvent]]]

# Any events in any order: more than a host would ever write, and with ids that are used again.
_text = st.text(max_size=12)
_id = st.sampled_from(["1", "2", "3"])
_need = Need(tool="bash", kind="command", title="make")
_permission = PermissionAsk(AskId("1"), CallId("1"), _need, "why")
_asks = [_permission, QuestionAsk(AskId("2"), CallId("1"), (Question("why?"),)), PlanAsk(AskId("3"), "think")]
_judged = st.sampled_from(
    [Judged(CallId("1"), "allow", _need), *(Judged(CallId("1"), "ask", _need, "why", ask) for ask in _asks)]
)
_event: st.SearchStrategy[AnyEvent] = st.one_of(
    st.builds(
        SessionCreated,
        cwd=_text,
        agent=st.just("native"),
        model=st.just("m"),
        by=st.just(BY),
        title=_text,
        allowed_tools=st.lists(_text, max_size=2).map(tuple),
        agent_session_id=st.none() | _text,
    ),
    st.builds(SessionConfigured, by=st.just(BY), title=st.none() | _text),
    st.builds(SessionClaimed, owner=st.just(OwnerId("o")), epoch=st.just(0)),
    st.builds(PromptAdmitted, prompt_id=_id.map(PromptId), text=_text, by=st.just(BY)),
    st.builds(PromptRecalled, prompt_id=_id.map(PromptId), by=st.just(BY)),
    st.builds(
        TurnStarted,
        turn_id=_id.map(TurnId),
        prompt_id=_id.map(PromptId),
        text=_text,
        agent=st.just("native"),
        model=st.just("m"),
        cwd=_text,
        max_steps=st.just(1),
    ),
    st.builds(
        MessageAdded,
        message_id=_id.map(MessageId),
        turn_id=_id.map(TurnId),
        model=st.just("m"),
        blocks=st.tuples(st.builds(Text, _text), st.builds(Thinking, _text)),
        calls=st.tuples(st.builds(Call, _id.map(CallId), st.just("bash"), _text)),
    ),
    st.builds(BatchOpened, batch_id=_id.map(MessageId), turn_id=_id.map(TurnId), judged=st.tuples(_judged)),
    st.builds(
        AskOpened,
        turn_id=_id.map(TurnId),
        ask=st.sampled_from(_asks),
        then=st.builds(TurnEnded, turn_id=_id.map(TurnId), ending=st.just("done")),
    ),
    st.builds(
        AskAnswered,
        ask_id=_id.map(AskId),
        decision=st.sampled_from([Allow(), Answers({"why?": "so"}), DenyAndStop()]),
        by=st.just(BY),
    ),
    st.builds(BatchResumed, batch_id=_id.map(MessageId)),
    st.builds(
        ApprovalGranted,
        approval=st.builds(Approval, _id.map(AskId), st.just("session"), st.just("bash"), _text),
        by=st.just(BY),
    ),
    st.builds(ApprovalRevoked, approval_id=_id.map(AskId), by=st.just(BY)),
    st.builds(CallStarted, batch_id=_id.map(MessageId), call_id=_id.map(CallId)),
    st.builds(CallAsked, batch_id=_id.map(MessageId), call_id=_id.map(CallId), ask=st.just(_permission)),
    st.builds(
        CallEnded,
        batch_id=_id.map(MessageId),
        call_id=_id.map(CallId),
        outcome=st.sampled_from([Finished("ok"), Failed("no"), Denied("no"), Unknown()]),
    ),
    st.builds(TurnEnded, turn_id=_id.map(TurnId), error=st.none() | _text),
    st.just(StopRequested(by=BY)),
    st.just(SessionDeleted(by=BY)),
    st.builds(Unrecognised, st.just("newer"), st.dictionaries(_text, _text, max_size=2)),
)
_appends = st.lists(
    st.tuples(st.sampled_from([SessionId("a"), SessionId("b")]), st.lists(_event, min_size=1, max_size=5)),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(appends=_appends)
def test_rows_are_the_same_however_the_events_were_grouped_and_when_rebuilt(appends: Appends) -> None:
    with tempfile.TemporaryDirectory() as folder:
        grouped, single = Path(folder) / "grouped.db", Path(folder) / "single.db"
        asyncio.run(_fill(grouped, appends))
        before = tables(grouped)
        asyncio.run(_fill(single, [(session, [event]) for session, group in appends for event in group]))
        assert tables(single) == before
        assert events(single) == events(grouped)
        _empty(grouped)
        asyncio.run(_rebuild(grouped))
        assert tables(grouped) == before


def test_rows_of_many_sessions_are_rebuilt_exactly(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    asyncio.run(_fill(path, _lives(), clock_step=3))
    before, log = tables(path), events(path)
    assert len(before[0]) == 8
    assert len(before[1]) == 8 * 2 * 6
    _empty(path)
    asyncio.run(_rebuild(path))
    assert tables(path) == before
    assert events(path) == log


def test_b13_the_database_is_sessions_db_in_the_home_of_the_person_with_wal(tmp_path: Path) -> None:
    async def use() -> None:
        store = App(load({"CODER_HOME": str(tmp_path / "home")})).store()
        await write(store, SessionId("a"), [[created()]])
        await store.close()

    asyncio.run(use())
    path = tmp_path / "home" / "sessions.db"
    assert rows(path, "PRAGMA journal_mode") == [("wal",)]
    assert [each.name for each in path.parent.iterdir()] == ["sessions.db"]


_ENDINGS: list[tuple[Ending, str]] = [
    ("done", "completed"),
    ("failed", "error"),
    ("step_limit", "error"),
    ("stopped", "idle"),
]


@pytest.mark.parametrize(
    ("life", "status"),
    [
        ([], "idle"),
        ([prompt()], "idle"),
        ([event for append in whole_turn()[:2] for event in append], "running"),
        ([event for append in whole_turn()[:3] for event in append], "running"),  # waits for a person
        ([event for append in whole_turn()[:4] for event in append], "running"),
        *(
            ([*whole_turn()[1], TurnEnded(turn_id=TurnId("t"), ending=ending, error="why")], status)
            for ending, status in _ENDINGS
        ),
        ([*(event for append in whole_turn() for event in append), *whole_turn(3)[1]], "running"),
    ],
)
def test_b14_the_status_other_programs_read(life: list[AnyEvent], status: str, tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    asyncio.run(_fill(path, [(SessionId("a"), [created(), *life])]))
    assert rows(path, "SELECT status FROM sessions") == [(status,)]


def test_b14_every_phase_has_a_status() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sessions.db"
        asyncio.run(_fill(path, [(SessionId("a"), [created()])]))
        with connected(path) as connection:
            found: dict[str, str] = {}
            for phase in ("idle", "running", "waiting", "done", "failed", "stopped"):
                connection.execute("UPDATE sessions SET phase = ?", (phase,))
                (found[phase],) = connection.execute("SELECT status FROM sessions").fetchone()
        assert found == {
            "idle": "idle",
            "running": "running",
            "waiting": "running",
            "done": "completed",
            "failed": "error",
            "stopped": "idle",
        }


def test_b14_the_table_of_sessions(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    session = SessionId("0d0c3a35-2f3a-4f8e-9d0f-0c4d2f6a7b11")
    start = SessionCreated(
        cwd="/home/ann/日本",
        agent="claude",
        model="m",
        mode="default",
        by=BY,
        allowed_tools=("Bash", "Read"),
        agent_session_id="claude-1",
    )
    asyncio.run(_fill(path, [(session, [start]), *((session, each) for each in whole_turn())], clock_step=5))
    (row,) = dictionaries(path, "SELECT * FROM sessions")
    wanted = {
        "id": session,
        "title": "build it",
        "claude_session_id": "claude-1",
        "status": "completed",
        "cwd": "/home/ann/日本",
        "allowed_tools": "Bash,Read",
        "last_prompt": "build it",
        "created_at": 1005,
        "updated_at": 1040,
    }
    assert {name: row[name] for name in wanted} == wanted


def test_b15_b56_the_table_of_messages(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    life = [[created()], *whole_turn()]
    asyncio.run(_fill(path, [(SessionId("a"), each) for each in life], clock_step=5))
    found = dictionaries(path, "SELECT * FROM messages WHERE session_id = 'a' ORDER BY created_at, rowid")
    assert [list(row) for row in found] == [["id", "session_id", "data", "created_at"]] * 6
    data = [json.loads(row["data"]) for row in found]
    assert [each["type"] for each in data] == ["user_prompt", "system", "assistant", "user", "assistant", "result"]
    assert data[0] == {"type": "user_prompt", "prompt": "build it"}
    assert [row["id"] for row in found[1:]] == [each["uuid"] for each in data[1:]]
    assert [row["created_at"] for row in found] == [1015, 1015, 1020, 1035, 1040, 1040]


def test_the_log_of_approvals_is_no_session(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    granted = ApprovalGranted(approval=Approval(AskId("1"), "person", "bash", "make", command="make"), by=BY)
    asyncio.run(_fill(path, [(APPROVALS, [granted]), (APPROVALS, [ApprovalRevoked(approval_id=AskId("1"), by=BY)])]))
    assert tables(path) == ([], [])
    asyncio.run(_rebuild(path))
    assert tables(path) == ([], [])
    assert len(events(path)) == 2


def test_a_projection_may_change_any_column(tmp_path: Path) -> None:
    """Symptom: the row kept its first folder and time when the summary named others."""

    class Moving(SessionRows):
        def summary(self, row: Summary | None, recorded: Recorded) -> Summary | None:
            made = super().summary(row, recorded)
            return made and replace(made, cwd=f"/{recorded.seq}", created_at=recorded.seq)

    path = tmp_path / "sessions.db"

    async def use() -> None:
        store = SqliteStore(str(path), Moving())
        await write(store, SessionId("a"), [[created()], [prompt()]])
        assert [each.created_at for each in await store.sessions(cwd="/2")] == [2]
        await store.close()

    asyncio.run(use())
    assert rows(path, "SELECT cwd, created_at FROM sessions") == [("/2", 2)]


def test_the_session_that_changed_last_keeps_its_place_in_the_lists_while_it_goes_on(tmp_path: Path) -> None:
    """An append to it writes to no index of sessions; an append to another one puts that one first."""
    path, a, b = tmp_path / "sessions.db", SessionId("a"), SessionId("b")

    async def use() -> None:
        store = SqliteStore(str(path), SessionRows())
        for session in (a, b):
            await write(store, session, [[created()]])
        before = rows(path, "SELECT id, changed FROM sessions ORDER BY changed DESC")
        await write(store, b, [[prompt()], [prompt("second")]])
        assert rows(path, "SELECT id, changed FROM sessions ORDER BY changed DESC") == before
        assert [(each.id, each.queued) for each in await store.sessions()] == [(b, 2), (a, 0)]
        await write(store, a, [[prompt()]])
        assert [(each.id, each.queued) for each in await store.sessions()] == [(a, 1), (b, 2)]
        await write(store, b, [[prompt("third")]])
        assert [(each.id, each.queued) for each in await store.sessions(cwd="/work")] == [(b, 3), (a, 1)]
        await store.close()

    asyncio.run(use())


def test_a_deleted_session_is_not_to_be_found_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    secret = "correct horse battery staple"
    appends: list[tuple[SessionId, Sequence[AnyEvent]]] = [(SessionId("a"), [created(f"/{secret}")])]
    appends += [(SessionId("a"), [prompt(f"{secret} {number} " * 20)]) for number in range(50)]
    appends += [(SessionId("a"), each) for each in whole_turn(text=secret)]
    asyncio.run(_fill(path, appends))
    assert secret.encode() in path.read_bytes()
    asyncio.run(_fill(path, [(SessionId("a"), [SessionDeleted(by=BY)])]))
    assert secret.encode() not in path.read_bytes()
    assert rows(path, "SELECT kind FROM event") == [("session.deleted",)]


def _lives() -> Appends:
    """Ten sessions that take turns, two of them deleted, one of these after others went on."""
    lives: dict[SessionId, list[Sequence[AnyEvent]]] = {}
    for number in range(10):
        lives[SessionId(f"s{number}")] = [[created(f"/{number % 3}")], *whole_turn(), *whole_turn(3)]
    lives[SessionId("s3")].insert(7, [SessionDeleted(by=BY)])
    del lives[SessionId("s3")][8:]
    lives[SessionId("s4")].append([SessionDeleted(by=BY)])
    waves = itertools.zip_longest(*([(session, each) for each in life] for session, life in lives.items()))
    return [append for wave in waves for append in wave if append is not None]


async def _fill(path: Path, appends: Appends, clock_step: int = 0) -> None:
    """Behind what is there; claims get the next epoch."""
    ticks = itertools.count(1000 + clock_step, clock_step or 1)
    store = SqliteStore(str(path), SessionRows(), clock=lambda: next(ticks) if clock_step else 1000)
    epochs: dict[SessionId, int] = {}
    for session, group in appends:
        raised: list[AnyEvent] = []
        for event in group:
            if isinstance(event, SessionClaimed):
                epochs[session] = epochs.get(session, 0) + 1
                event = replace(event, epoch=epochs[session])
            raised.append(event)
        await write(store, session, [raised])
    await store.close()


async def _rebuild(path: Path) -> None:
    store = SqliteStore(str(path), SessionRows())
    await store.rebuild()
    await store.close()


def _empty(path: Path) -> None:
    with connected(path) as connection:
        connection.execute("DELETE FROM sessions")
        connection.execute("DELETE FROM messages")
