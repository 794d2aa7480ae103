"""What an owner writes, case by case. An append holds an event and all that follows from it at once."""

import pytest
from msgspec.structs import replace

from coderelay.protocol.asks import Allow, Decision, Deny, DenyAndStop
from coderelay.protocol.calls import Denied, Failed, Finished, Outcome, Stopped, Unknown
from coderelay.protocol.event_codec import kind_of
from coderelay.protocol.events import (
    BatchOpened,
    CallEnded,
    CallStarted,
    Ending,
    MessageAdded,
    Recorded,
    SessionClaimed,
    TurnEnded,
    TurnStarted,
)
from coderelay.protocol.ids import CallId, MessageId, OwnerId, PromptId, TurnId
from coderelay.protocol.usage_and_cost import Usage
from coderelay.session.next_action import RunCall, next_action
from coderelay.session.state import CallState
from coderelay.session.unfinished_call_outcomes import outcome_without_running
from tests.session.played_session import ANNE, Play
from tests.session.proposed_calls import Proposed, allowed, asked, broken, denied, questions

pytestmark = pytest.mark.quick


def running(*proposed: Proposed) -> Play:
    play = Play()
    play.prompt("go", "p")
    play.claim()
    if proposed:
        play.message(*proposed)
    return play


def story(page: list[Recorded]) -> list[str]:
    """An append in words: `started c1`, `ended c2 denied`."""
    return [_line(each) for each in page]


def _line(recorded: Recorded) -> str:
    match recorded.event:
        case CallStarted(call_id=call):
            return f"started {call}"
        case CallEnded(call_id=call, outcome=outcome):
            return f"ended {call} {type(outcome).__name__.lower()}"
        case TurnEnded(ending=ending):
            return f"turn {ending}"
        case event:
            return kind_of(event)


def test_a_claim_starts_the_oldest_prompt() -> None:
    play = Play(mode="auto-edit")
    play.prompt("go", "p", max_steps=7)
    play.prompt("later")
    turn = TurnStarted(
        turn_id=TurnId("t2"),
        prompt_id=PromptId("p"),
        text="go",
        agent="native",
        model="m",
        mode="auto-edit",
        cwd="/w",
        max_steps=7,
        tools=("bash",),
        by=ANNE,
    )
    assert [each.event for each in play.claim("A", max_steps=10)] == [
        SessionClaimed(owner=OwnerId("A"), epoch=1),
        turn,
    ]
    play.message()
    started = play.claim("B", max_steps=10)[1].event
    assert isinstance(started, TurnStarted)
    assert (started.text, started.max_steps, play.state.epoch) == ("later", 10, 2)


def test_c13_a_message_starts_its_first_call_in_the_same_append() -> None:
    assert story(running().message(allowed("c1"), allowed("c2"))) == ["message.added", "batch.opened", "started c1"]


def test_d02_a_message_with_an_ask_starts_nothing_and_leaves_the_owner() -> None:
    play = running()
    assert story(play.message(allowed("c1"), asked("c2"))) == ["message.added", "batch.opened"]
    assert play.state.owner is None


def test_calls_that_may_not_run_end_at_once() -> None:
    assert story(running().message(denied("c1"), broken("c2"), allowed("c3"), denied("c4"))) == [
        "message.added",
        "batch.opened",
        "ended c1 denied",
        "ended c2 failed",
        "started c3",
    ]
    assert story(running().message(denied("c1"), broken("c2")))[2:] == ["ended c1 denied", "ended c2 failed"]


def test_d10_d11_the_session_is_owned_from_the_resume_to_the_next_ask_or_the_end() -> None:
    play = running(asked("c1"), allowed("c2"))
    play.answer("c1", Allow())
    owners = [play.state.owner]
    for move in (
        lambda: play.claim("B"),
        lambda: play.end_call("c1", Finished("ok")),
        lambda: play.end_call("c2", Finished("ok")),
        lambda: play.message(asked("c3")),
        lambda: play.answer("c3", Allow()),
        lambda: play.claim("C"),
        lambda: play.end_call("c3", Finished("ok")),
        lambda: play.message(),
    ):
        move()
        owners.append(play.state.owner)
    assert owners == [None, "B", "B", "B", None, None, "C", "C", None]


def test_d01_d09_a_batch_has_the_id_of_its_message_and_its_calls_in_order() -> None:
    message, opened, *_ = [each.event for each in running().message(allowed("c1"), asked("c2"))]
    assert isinstance(message, MessageAdded)
    assert isinstance(opened, BatchOpened)
    assert opened.batch_id == message.message_id
    assert [each.call_id for each in opened.judged] == [call.id for call in message.calls] == ["c1", "c2"]


def test_c02_c46_a_message_without_calls_ends_the_turn_unless_more_follows() -> None:
    play = running()
    assert story(play.message(final=False)) == ["message.added"]
    page = play.message(stop_reason="max_tokens")
    assert page[1].event == TurnEnded(
        turn_id=TurnId("t1"),
        ending="done",
        stop_reason="max_tokens",
        text="well",
        usage=Usage(input_tokens=20, output_tokens=4),
        steps=2,
        ms=5,
    )


def test_x12_a_message_that_meets_a_stop_starts_nothing() -> None:
    """Symptom: a call began after the stop, and was then told to have been interrupted."""
    play = running()
    play.stop()
    assert story(play.message(allowed("c1"), denied("c2"))) == ["message.added", "batch.opened"]
    assert story(play.close("stopped")) == ["ended c1 stopped", "ended c2 stopped", "turn stopped"]


def test_x12_a_message_that_meets_a_stop_asks_nobody() -> None:
    """Symptom: the question was shown after the stop, and the session waited for an answer that did not count."""
    play = running()
    play.stop()
    play.message(asked("c1"), questions("c2"))
    assert (play.state.open_asks(), play.state.asks, play.state.owner) == ([], {}, "A")
    assert play.row is not None
    assert (play.row.open_asks, play.row.phase) == (0, "running")
    assert story(play.close("stopped")) == ["ended c1 stopped", "ended c2 stopped", "turn stopped"]


def test_x12_a_stop_closes_what_is_open() -> None:
    play = running(asked("c1"))
    play.stop()
    assert play.row is not None
    assert (play.state.open_asks(), play.row.open_asks, play.state.phase) == ([], 0, "running")
    assert story(play.claim("B")) == ["session.claimed", "ended c1 stopped", "turn stopped"]


def test_d03_an_end_starts_the_next_call_in_order() -> None:
    play = running(allowed("c1"), denied("c2"), allowed("c3"))
    assert story(play.end_call("c1", Failed("no"))) == ["ended c1 failed", "ended c2 denied", "started c3"]
    assert story(play.end_call("c3", Finished("ok"))) == ["ended c3 finished"]


def test_a_call_that_was_cut_short_starts_no_other() -> None:
    play = running(allowed("c1"), allowed("c2"))
    assert story(play.end_call("c1", Unknown())) == ["ended c1 unknown"]
    assert next_action(play.state) == RunCall(CallId("c2"))


def test_after_a_call_was_cut_short_a_denied_one_is_not_next() -> None:
    """Symptom: the agent was told to run a call that the policy had denied."""
    play = running(allowed("c1"), denied("c2"), allowed("c3"))
    assert story(play.end_call("c1", Unknown())) == ["ended c1 unknown", "ended c2 denied"]
    assert next_action(play.state) == RunCall(CallId("c3"))


def test_an_end_after_the_stop_starts_nothing() -> None:
    play = running(allowed("c1"), allowed("c2"))
    play.stop()
    assert story(play.end_call("c1", Finished("ok"))) == ["ended c1 finished"]


def test_d22_one_denial_leaves_the_rest() -> None:
    play = running(asked("c1"), allowed("c2"), asked("c3"))
    play.answer("c1", Deny("not that"))
    play.answer("c3", Allow())
    assert story(play.claim("B")) == ["session.claimed", "ended c1 denied", "started c2"]
    assert play.state.calls[CallId("c1")].outcome == Denied("not that")
    assert story(play.end_call("c2", Finished("ok"))) == ["ended c2 finished", "started c3"]


def test_x25_a_claim_ends_what_was_started_and_goes_on_with_the_rest() -> None:
    play = running(allowed("c1"), denied("c2"), allowed("c3"))
    assert story(play.claim("B")) == ["session.claimed", "ended c1 unknown", "ended c2 denied", "started c3"]
    assert story(play.claim("C")) == ["session.claimed", "ended c3 unknown"]


def test_a_claim_of_a_stopped_turn_ends_it() -> None:
    play = running(allowed("c1"), allowed("c2"))
    play.stop()
    assert story(play.claim("B")) == ["session.claimed", "ended c1 unknown", "ended c2 stopped", "turn stopped"]


def test_c46_a_claim_of_a_turn_whose_steps_are_used_up_ends_it() -> None:
    """Symptom: a process without the session's agent claimed it again and again, without an end."""
    play = Play()
    play.prompt("go", max_steps=1)
    play.claim()
    play.message(denied("c1"))
    page = play.claim("B")
    assert story(page) == ["session.claimed", "turn step_limit"]
    assert isinstance(page[1].event, TurnEnded)
    assert page[1].event.error == "step limit reached"


def test_x03_deny_and_stop_ends_every_call_of_the_batch() -> None:
    play = running(asked("c1"), allowed("c2"), asked("c3"))
    play.answer("c3", DenyAndStop())
    assert story(play.claim("B")) == [
        "session.claimed",
        "ended c1 stopped",
        "ended c2 stopped",
        "ended c3 stopped",
        "turn stopped",
    ]


def test_a_turn_that_fails_does_not_say_that_a_person_stopped_it() -> None:
    play = running(allowed("c1"), allowed("c2"))
    assert story(play.close("failed", "boom")) == ["ended c1 unknown", "ended c2 failed", "turn failed"]
    assert play.state.calls[CallId("c2")].outcome == Failed("not run, because the turn failed first")


@pytest.mark.parametrize(
    ("ending", "error", "reason"),
    [
        ("stopped", None, "cancelled"),
        ("failed", "boom", "end_turn"),
        ("step_limit", "step limit reached", "end_turn"),
    ],
)
def test_x12_c46_how_a_turn_is_closed(ending: Ending, error: str | None, reason: str) -> None:
    play = running(denied("c1"))
    if ending == "stopped":
        play.stop()
    ended = play.close(ending, error)[-1].event
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.error, ended.stop_reason, ended.steps) == (ending, error, reason, 1)


OUTCOMES: list[tuple[Proposed, Decision | None, Outcome | None]] = [
    (allowed("c"), None, None),
    (denied("c"), None, Denied("deny: a rule")),
    (denied("c"), Allow(), Denied("deny: a rule")),
    (broken("c"), None, Failed("bad arguments")),
    (replace(broken("c"), verdict="allow"), None, Failed("bad arguments")),
    (asked("c"), Allow(), None),
    (asked("c"), Deny(), Denied("the user denied it")),
    (asked("c"), Deny("no"), Denied("no")),
    (asked("c"), DenyAndStop(), Denied("the user denied it")),
    (asked("c"), None, Denied("the user denied it")),  # silence is never consent
]


@pytest.mark.parametrize(("proposed", "answer", "outcome"), OUTCOMES)
def test_only_what_was_allowed_may_run(proposed: Proposed, answer: Decision | None, outcome: Outcome | None) -> None:
    assert outcome_without_running(CallState(proposed.call(), MessageId("m"), proposed.judged(), answer)) == outcome


def test_a_call_that_ran_when_the_turn_was_stopped_is_told_so() -> None:
    play = running(allowed("c1"), allowed("c2"))
    play.stop()
    play.end_call("c1", Stopped(started=True))
    assert story(play.close("stopped")) == ["ended c2 stopped", "turn stopped"]
    assert play.state.calls[CallId("c1")].outcome == Stopped(started=True)
    assert play.state.calls[CallId("c2")].outcome == Stopped(started=False)
