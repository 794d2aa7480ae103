"""Each event in the shapes of the Cowork contract (B-55)."""

import json
from typing import Any, get_args

import pytest

from coderelay.client.views import cowork_messages
from coderelay.protocol.asks import Allow, Approval, By, PermissionAsk, PlanAsk
from coderelay.protocol.background_commands import Gone
from coderelay.protocol.calls import Call, Denied, Failed, Finished, Need, Outcome, Stopped, Unknown
from coderelay.protocol.events import (
    AgentAttached,
    AnyEvent,
    ApprovalGranted,
    ApprovalRevoked,
    AskAnswered,
    AskOpened,
    AskParked,
    BackgroundEnded,
    BackgroundStopRequested,
    BatchOpened,
    BatchResumed,
    CallAsked,
    CallEnded,
    CallProposed,
    CallStarted,
    ChildOpened,
    Ending,
    EnvironmentSetUp,
    HistoryCleared,
    HistoryCompacted,
    Judged,
    MessageAdded,
    MessageKept,
    PartialsKept,
    PromptAdmitted,
    PromptEdited,
    PromptRecalled,
    PromptTaken,
    Recorded,
    SessionClaimed,
    SessionConfigured,
    SessionCreated,
    SessionDeleted,
    SessionForked,
    SessionMoved,
    StopReason,
    StopRequested,
    TreeTaken,
    TurnEnded,
    TurnParked,
    TurnProlonged,
    TurnStarted,
    TurnUndone,
    Unrecognised,
)
from coderelay.protocol.external_agent_events import PartialBlock
from coderelay.protocol.ids import (
    AskId,
    BackgroundId,
    CallId,
    MachineId,
    MachineIdentity,
    MessageId,
    OwnerId,
    PromptId,
    SessionId,
    TurnId,
)
from coderelay.protocol.message_content import Text, Thinking
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.usage_and_cost import Usage

pytestmark = pytest.mark.quick

BY = By("anne", "web")
NEED = Need(tool="bash", kind="command", title="make", command="make")
BATCH, CALL, TURN = MessageId("m1"), CallId("c1"), TurnId("t1")
USAGE = Usage(input_tokens=5, output_tokens=3, cache_read_tokens=2, reasoning_tokens=1)
WIRE_USAGE = {
    "input_tokens": 3,
    "output_tokens": 3,
    "cache_read_input_tokens": 2,
    "cache_creation_input_tokens": 0,
}


def recorded(event: AnyEvent, seq: int = 4, session: str = "s") -> Recorded:
    return Recorded(SessionId(session), seq, 1, 1000, event)


def messages(of: Recorded) -> list[dict[str, Any]]:
    return [json.loads(row.data) for row in cowork_messages.rows(of)]


def one(event: AnyEvent) -> dict[str, Any]:
    (message,) = messages(recorded(event))
    return message


def started(mode: Mode = "default") -> TurnStarted:
    return TurnStarted(
        turn_id=TURN,
        prompt_id=PromptId("p1"),
        text="go",
        agent="native",
        model="openai:m",
        mode=mode,
        cwd="/w",
        max_steps=3,
        tools=("read", "bash", "mcp__git__log"),
    )


def test_b53_b55_a_turn_starts_with_the_prompt_and_init() -> None:
    prompt, init = messages(recorded(started()))
    assert prompt == {"type": "user_prompt", "prompt": "go"}
    assert init == {
        "type": "system",
        "subtype": "init",
        "uuid": init["uuid"],
        "session_id": "s",
        "cwd": "/w",
        "model": "openai:m",
        "permissionMode": "default",
        "tools": ["Read", "Bash", "mcp__git__log"],
        "mcp_servers": [{"name": "git", "status": "connected"}],
        "slash_commands": [],
        "apiKeySource": "none",
        "agent": "native",
    }


MODES: list[tuple[Mode, str]] = [
    ("plan", "plan"),
    ("default", "default"),
    ("auto-edit", "acceptEdits"),
    ("yolo", "bypassPermissions"),
]


@pytest.mark.parametrize(("mode", "name"), MODES)
def test_x21_the_modes_have_claudes_names(mode: Mode, name: str) -> None:
    assert messages(recorded(started(mode)))[1]["permissionMode"] == name


def test_b55_an_assistant_message_has_thinking_text_and_tool_use_in_this_order() -> None:
    calls = (Call(CALL, "read", '{"path":"a.py"}'), Call(CallId("c2"), "bash", '{"command":'))
    blocks = (Thinking("hm"), Text("look"))
    event = MessageAdded(message_id=BATCH, turn_id=TURN, model="m", blocks=blocks, calls=calls, usage=USAGE)
    assert one(event) == {
        "type": "assistant",
        "uuid": "m1",
        "session_id": "s",
        "parent_tool_use_id": None,
        "message": {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": ""},
                {"type": "text", "text": "look"},
                {"type": "tool_use", "id": "c1", "name": "Read", "input": {"file_path": "a.py"}},
                {"type": "tool_use", "id": "c2", "name": "Bash", "input": {}},
            ],
            "stop_reason": "tool_use",
            "usage": WIRE_USAGE,
        },
    }


@pytest.mark.parametrize("reason", ["end_turn", "max_tokens", "refusal", "cancelled"])
def test_b55_a_message_without_calls_keeps_its_stop_reason(reason: StopReason) -> None:
    event = MessageAdded(message_id=BATCH, turn_id=TURN, model="m", blocks=(Text("a"),), stop_reason=reason)
    assert one(event)["message"]["stop_reason"] == reason


RESULTS: list[tuple[Outcome, bool, str]] = [
    (Finished("ok"), False, "ok"),
    (Failed("no such file"), True, "Error: no such file"),
    (Denied("no"), True, "Not allowed: no. The call did not run."),
    (Stopped(started=False), True, "Not run: the person stopped the turn."),
    (Unknown(), True, "Interrupted: the process that ran it went away. It may have run; check before repeating it."),
]


@pytest.mark.parametrize(("outcome", "is_error", "text"), RESULTS)
def test_b29_b55_d22_a_result_is_a_user_message(outcome: Outcome, is_error: bool, text: str) -> None:
    message = one(CallEnded(batch_id=BATCH, call_id=CALL, outcome=outcome))
    assert message == {
        "type": "user",
        "uuid": message["uuid"],
        "session_id": "s",
        "parent_tool_use_id": None,
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": text, "is_error": is_error}],
        },
        **({"outcome": "unknown"} if isinstance(outcome, Unknown) else {}),
    }


def test_b29_a_result_says_how_long_the_call_ran():
    message = one(CallEnded(batch_id=BATCH, call_id=CALL, outcome=Finished("ok"), ms=1250))

    assert message["duration_ms"] == 1250


ENDINGS: list[tuple[Ending, StopReason, str | None, str, bool]] = [
    ("done", "end_turn", None, "success", False),
    ("done", "max_tokens", None, "success", False),
    ("done", "refusal", None, "success", False),
    ("step_limit", "end_turn", "step limit reached", "error_max_turns", True),
    ("failed", "end_turn", "no network", "error_during_execution", True),
    ("stopped", "cancelled", None, "error_during_execution", True),
]


@pytest.mark.parametrize(("ending", "reason", "error", "subtype", "is_error"), ENDINGS)
def test_x12_b31_the_result_of_each_ending(
    ending: Ending, reason: StopReason, error: str | None, subtype: str, is_error: bool
) -> None:
    message = one(
        TurnEnded(turn_id=TURN, ending=ending, stop_reason=reason, text="t", error=error, usage=USAGE, steps=2, ms=70)
    )
    assert message == {
        "type": "result",
        "subtype": subtype,
        "uuid": message["uuid"],
        "session_id": "s",
        "is_error": is_error,
        "duration_ms": 70,
        "duration_api_ms": 0,
        "num_turns": 2,
        "result": "t",
        "stop_reason": reason,
        "usage": WIRE_USAGE,
        "total_cost_usd": 0.0,
        "permission_denials": [],
        **({} if error is None else {"error": error, "errors": [error]}),
    }


SILENT: list[AnyEvent] = [
    SessionCreated(cwd="/w", agent="native", model="m", mode="plan", by=BY),
    SessionConfigured(by=BY, mode="yolo"),
    SessionClaimed(owner=OwnerId("A"), epoch=1),
    SessionMoved(machine=MachineIdentity(MachineId("m2"), "laptop"), by=BY),
    SessionForked(of=SessionId("other"), at=7, by=BY),
    AgentAttached(turn_id=TURN, agent="claude", agent_session_id="theirs"),
    SessionDeleted(by=BY),
    BackgroundStopRequested(background_id=BackgroundId("1"), by=BY),
    BackgroundEnded(background_id=BackgroundId("1"), end=Gone()),
    PromptAdmitted(prompt_id=PromptId("p1"), text="go", by=BY),  # shown when its turn starts
    BatchOpened(batch_id=BATCH, turn_id=TURN, judged=()),
    PromptEdited(prompt_id=PromptId("p1"), text="go on", by=BY),
    PromptRecalled(prompt_id=PromptId("p1"), by=BY),
    AskOpened(
        turn_id=TURN, ask=PlanAsk(AskId("a1"), "1. think"), then=TurnEnded(turn_id=TURN, ending="done")
    ),  # its result is shown when the turn has ended
    AskAnswered(ask_id=AskId("a1"), decision=Allow(), by=BY),
    AskParked(ask_id=AskId("a1")),
    TurnParked(turn_id=TURN),
    CallAsked(batch_id=BATCH, call_id=CALL, ask=PermissionAsk(AskId("a1"), CALL, NEED, "needs the network")),
    ApprovalGranted(approval=Approval(AskId("a1"), "session", "bash", "make", command="make"), by=BY),
    ApprovalRevoked(approval_id=AskId("a1"), by=BY),
    BatchResumed(batch_id=BATCH),
    TreeTaken(turn_id=TURN, tree="{}"),
    EnvironmentSetUp(turn_id=TURN, variables={"LANG": "C"}),
    TurnProlonged(turn_id=TURN, reason="the tests fail"),
    ChildOpened(call_id=CALL, child=SessionId("s2")),
    CallStarted(batch_id=BATCH, call_id=CALL),
    StopRequested(by=BY),
    MessageKept(turn_id=TURN, message_id=MessageId("m1"), data="{}", form="acp"),
    MessageAdded(message_id=BATCH, turn_id=TURN, model="m", verbatim=True),
    CallEnded(batch_id=BATCH, call_id=CALL, outcome=Finished("ok"), verbatim=True),
    TurnEnded(turn_id=TURN, ending="done", verbatim=True),
    Unrecognised("session.painted", {"kind": "session.painted"}),
]


@pytest.mark.parametrize("event", SILENT, ids=lambda event: type(event).__name__)
def test_other_events_are_no_messages(event: AnyEvent) -> None:
    assert cowork_messages.rows(recorded(event)) == []


PROPOSED = CallProposed(
    turn_id=TURN, batch_id=BATCH, call=Call(CALL, "bash", '{"command":"make"}'), judged=Judged(CALL, "allow", NEED)
)
SPOKEN: list[AnyEvent] = [
    started(),
    PromptTaken(prompt_id=PromptId("p2"), turn_id=TURN, text="rather so"),
    MessageAdded(message_id=BATCH, turn_id=TURN, model="m", blocks=(Text("a"),)),
    HistoryCompacted(turn_id=TURN, summary="so far", dropped=2, model="m"),
    HistoryCleared(by=BY),
    PROPOSED,
    CallEnded(batch_id=BATCH, call_id=CALL, outcome=Finished("ok")),
    TurnEnded(turn_id=TURN, ending="done"),
    MessageKept(turn_id=TURN, message_id=MessageId("m1"), data='{ "uuid": "m1" }'),
    PartialsKept(turn_id=TURN, message_id=MessageId("m1"), blocks=(PartialBlock(0, "text", ("he", "llo")),)),
    TurnUndone(turn_id=TURN, by=BY, removed=("a.txt",)),
]


def test_every_kind_of_event_is_either_shown_or_not() -> None:
    assert {type(event) for event in [*SILENT, *SPOKEN]} == set(get_args(AnyEvent))


def test_x24_b55_a_call_that_an_agent_proposes_by_itself_is_a_message_with_that_call() -> None:
    (message,) = messages(recorded(PROPOSED))
    made = {"type": "tool_use", "id": CALL, "name": "Bash", "input": {"command": "make"}}
    assert (message["type"], message["message"]["content"]) == ("assistant", [made])


@pytest.mark.parametrize("event", SPOKEN, ids=lambda event: type(event).__name__)
def test_b15_b56_rows_are_the_messages_under_their_own_ids_and_always_the_same(event: AnyEvent) -> None:
    rows = cowork_messages.rows(recorded(event))
    assert rows == cowork_messages.rows(recorded(event))
    named = [(row.id, json.loads(row.data)) for row in rows]
    assert all(data["uuid"] == row_id for row_id, data in named if "uuid" in data)
    assert len({row_id for row_id, _ in named}) == len(rows)


def test_b15_the_same_event_at_another_place_is_another_row() -> None:
    event = CallEnded(batch_id=BATCH, call_id=CALL, outcome=Finished("ok"))
    places = [recorded(event), recorded(event, seq=5), recorded(event, session="other")]
    assert len({row.id for place in places for row in cowork_messages.rows(place)}) == 3
