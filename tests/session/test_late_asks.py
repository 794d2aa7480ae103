"""A call that finds, before it had any effect, that it must ask (D-11).

Its batch waits again; after the answer the call starts anew.
"""

import pytest

from coderelay.protocol.asks import Allow, Deny, DenyAndStop, PermissionAsk
from coderelay.protocol.calls import Denied, Finished, Stopped
from coderelay.protocol.events import BatchResumed, CallAsked, CallEnded, CallStarted
from coderelay.protocol.ids import CallId, MessageId
from coderelay.session.fold import fold
from coderelay.session.model_messages import ToolMessage, transcript
from coderelay.session.next_action import EndTurn, RunCall, Wait, next_action
from coderelay.session.turn_event_builder import outcome_without_running
from tests.session.played_session import SESSION, Play
from tests.session.proposed_calls import MAKE, Proposed, allowed, asked, denied, questions

pytestmark = pytest.mark.quick

BATCH = MessageId("m3")


def performing(*proposed: Proposed) -> Play:
    """The first call has started."""
    play = Play()
    play.prompt("go")
    play.claim("A")
    play.message(*proposed)
    for ask in play.state.open_asks():
        play.decide_on(ask.id, Allow())
    if play.state.owner is None:
        play.claim("A")
    return play


def starts(play: Play, call: str) -> int:
    return len([event for event in play.events() if isinstance(event, CallStarted) and event.call_id == call])


def resumptions(play: Play) -> int:
    return len([event for event in play.events() if isinstance(event, BatchResumed)])


def test_d11_it_stops_at_once_and_everything_after_it_waits() -> None:
    play = performing(allowed("c1"), allowed("c2"), denied("c3"))
    page = play.ask_again("c1")
    (ask,) = play.state.open_asks()
    assert isinstance(ask, PermissionAsk)
    assert (ask.call_id, ask.need, ask.reason) == ("c1", MAKE, "needs the network")
    assert [each.event for each in page] == [CallAsked(batch_id=BATCH, call_id=CallId("c1"), ask=ask)]
    assert [each.call.id for each in play.state.open_calls()] == ["c1", "c2", "c3"]
    assert (next_action(play.state), play.state.owner, play.state.last_owner) == (Wait(), None, "A")
    assert play.row is not None
    assert (play.row.phase, play.row.owner, play.row.open_asks) == ("waiting", None, 1)


@pytest.mark.parametrize("first", [allowed("c1"), asked("c1")], ids=["allowed", "asked"])
def test_d11_allowed_it_starts_anew_exactly_once_more(first: Proposed) -> None:
    play = performing(first, allowed("c2"))
    before = resumptions(play)
    play.ask_again("c1")
    assert isinstance(play.answer("c1", Allow())[-1].event, BatchResumed)
    assert play.state.open_asks() == []  # D-18
    assert [type(each.event) for each in play.claim("B")][1:] == [CallStarted]
    assert (starts(play, "c1"), resumptions(play)) == (2, before + 1)
    assert next_action(play.state) == RunCall(CallId("c1"))
    play.end_call("c1", Finished("ok"))
    assert next_action(play.state) == RunCall(CallId("c2"))
    assert fold(SESSION, play.log) == play.state


@pytest.mark.parametrize("first", [allowed("c1"), asked("c1")], ids=["allowed", "asked"])
def test_d22_denied_it_ends_denied_and_the_rest_goes_on(first: Proposed) -> None:
    """Whatever was allowed before counts no more."""
    play = performing(first, allowed("c2"))
    play.ask_again("c1")
    play.answer("c1", Deny("not there"))
    play.claim("B")
    assert play.state.calls[CallId("c1")].outcome == Denied("not there")
    assert (starts(play, "c1"), starts(play, "c2")) == (1, 1)
    play.end_call("c2", Finished("ok"))
    assert [each for each in transcript(play.state) if isinstance(each, ToolMessage)] == [
        ToolMessage(CallId("c1"), "bash", "Not allowed: not there. The call did not run.", failed=True),
        ToolMessage(CallId("c2"), "bash", "ok"),
    ]


def test_d12_the_first_answer_is_no_answer_to_the_second_ask() -> None:
    play = performing(asked("c1"))
    first = play.state.asks[next(iter(play.state.asks))].ask.id
    play.ask_again("c1")
    assert play.decide_on(first, Allow()) == []
    assert next_action(play.state) == Wait()


def test_promise_5_what_was_allowed_before_allows_nothing_now() -> None:
    play = performing(asked("c1"))
    assert outcome_without_running(play.state.calls[CallId("c1")]) is None
    assert play.state.batch is not None
    assert play.state.batch.resumed
    play.ask_again("c1")
    assert outcome_without_running(play.state.calls[CallId("c1")]) == Denied("the user denied it")
    assert not play.state.batch.resumed


def test_d11_it_may_ask_more_than_once() -> None:
    play = performing(allowed("c1"))
    for time in range(1, 4):
        play.ask_again("c1")
        play.answer("c1", Allow())
        play.claim()
        assert (starts(play, "c1"), resumptions(play)) == (time + 1, time)
    play.end_call("c1", Finished("ok"))
    assert len([event for event in play.events() if isinstance(event, CallEnded)]) == 1


def test_d11_in_the_middle_of_a_batch_what_was_answered_stays_answered() -> None:
    play = performing(asked("c1"), allowed("c2"), asked("c3"))
    play.end_call("c1", Finished("ok"))
    play.ask_again("c2")
    assert [ask.call_id for ask in play.state.open_asks()] == ["c2"]
    play.answer("c2", Allow())
    play.claim()
    play.end_call("c2", Finished("ok"))
    assert next_action(play.state) == RunCall(CallId("c3"))
    assert (starts(play, "c1"), starts(play, "c3")) == (1, 1)


def test_d11_a_question_behind_it_keeps_its_answer() -> None:
    play = Play()
    play.prompt("go")
    play.claim()
    play.message(allowed("c1"), questions("c2"))
    play.decide_on(play.state.open_asks()[0].id, Deny("no idea"))
    play.claim()
    play.ask_again("c1")
    play.answer("c1", Deny())
    play.claim()
    assert play.state.calls[CallId("c2")].outcome == Denied("no idea")


def test_x25_after_a_crash_it_is_not_taken_for_lost() -> None:
    """It had started, but had no effect: it still waits, and is not unknown."""
    play = performing(allowed("c1"))
    play.ask_again("c1")
    again = fold(SESSION, play.log)
    assert (again.calls[CallId("c1")].started_epoch, next_action(again)) == (None, Wait())


def test_x25_started_anew_it_can_be_lost_like_any_other() -> None:
    play = performing(allowed("c1"))
    play.ask_again("c1")
    play.answer("c1", Allow())
    play.claim("B")
    ended = [each.event for each in play.claim("C")][1]
    assert isinstance(ended, CallEnded)
    assert (type(ended.outcome).__name__, starts(play, "c1")) == ("Unknown", 2)


@pytest.mark.parametrize("how", ["stop", "deny and stop"])
def test_x03_a_stop_while_it_waits_ends_everything(how: str) -> None:
    play = performing(allowed("c1"), allowed("c2"))
    play.ask_again("c1")
    if how == "stop":
        play.stop()
    else:
        play.answer("c1", DenyAndStop())
    assert next_action(play.state) == EndTurn(stopped=True)
    play.claim("B")
    assert [play.state.calls[CallId(call)].outcome for call in ("c1", "c2")] == [Stopped(started=False)] * 2
    assert play.state.open_asks() == []


def test_x12_after_a_stop_nobody_is_asked() -> None:
    """Symptom: a question appeared after the stop, and no answer to it counted."""
    play = performing(allowed("c1"), allowed("c2"))
    play.stop()
    ended = CallEnded(batch_id=BATCH, call_id=CallId("c1"), outcome=Stopped(started=False))
    assert [each.event for each in play.ask_again("c1")] == [ended]
    assert (play.state.open_asks(), next_action(play.state)) == ([], EndTurn(stopped=True))
