"""What an append that starts calls writes when today's policy has something against them."""

import pytest

from coderelay.protocol.asks import Allow, Deny, PermissionAsk
from coderelay.protocol.calls import Denied, Finished, Unknown
from coderelay.protocol.events import CallAsked, CallEnded, CallStarted, SessionClaimed
from coderelay.protocol.ids import AskId, CallId, OwnerId, TurnId
from coderelay.session import turn_event_builder
from coderelay.session.next_action import Wait, next_action
from coderelay.session.state import CallState, State
from tests.session.played_session import Play
from tests.session.proposed_calls import MAKE, Proposed, allowed, asked, denied

pytestmark = pytest.mark.quick

NO = Denied("no longer")


def against(**objections: Denied | PermissionAsk) -> turn_event_builder.Rejudge:
    def rejudge(state: State, call: CallState) -> Denied | PermissionAsk | None:
        return objections.get(call.call.id)

    return rejudge


def ask(call: str) -> PermissionAsk:
    return PermissionAsk(AskId(f"again-{call}"), CallId(call), MAKE, "no longer")


def running(*proposed: Proposed) -> Play:
    play = Play()
    play.prompt("go")
    play.claim("A")
    play.message(*proposed)
    return play


def brief(events: list[object]) -> list[object]:
    """Calls by name: started, asked, or how they ended."""
    told: list[object] = []
    for event in events:
        match event:
            case CallStarted(call_id=call_id):
                told.append(f"start {call_id}")
            case CallAsked(call_id=call_id):
                told.append(f"ask {call_id}")
            case CallEnded(call_id=call_id, outcome=outcome):
                told.append((call_id, outcome))
            case SessionClaimed():
                pass
            case _:
                told.append(event)
    return told


def after_first(play: Play, rejudge: turn_event_builder.Rejudge) -> list[object]:
    ends = [turn_event_builder.End(CallId("c1"), Finished("x"), 0)]
    return brief([*turn_event_builder.after_calls(play.state, ends, go_on=True, rejudge=rejudge)])[1:]


def test_what_is_denied_by_now_ends_and_the_next_one_starts() -> None:
    play = running(allowed("c1"), allowed("c2"), denied("c3"), allowed("c4"))
    assert after_first(play, against(c2=NO)) == [("c2", NO), ("c3", Denied("deny: a rule")), "start c4"]


def test_what_must_be_asked_by_now_waits_and_all_behind_it() -> None:
    play = running(allowed("c1"), allowed("c2"), allowed("c3"))
    assert after_first(play, against(c2=ask("c2"), c3=NO)) == ["start c2", "ask c2"]
    ends = [turn_event_builder.End(CallId("c1"), Finished("x"), 0)]
    play.write(
        turn_event_builder.after_calls(play.state, ends, go_on=True, rejudge=against(c2=ask("c2"))),
        epoch=play.state.epoch,
    )
    assert (next_action(play.state), play.state.owner) == (Wait(), None)
    assert [each.id for each in play.state.open_asks()] == ["again-c2"]
    play.decide_on(AskId("again-c2"), Allow())
    assert [each.call.id for each in play.state.open_calls()] == ["c2", "c3"]


def test_a_claim_looks_again_at_what_it_starts_and_never_at_what_was_lost() -> None:
    play = running(allowed("c1"), allowed("c2"), allowed("c3"))
    rejudge = against(c1=NO, c2=NO)
    claim = turn_event_builder.Claim(OwnerId("B"), 0, TurnId("t"), 9, (), rejudge=rejudge)
    assert brief([*turn_event_builder.claim(play.state, claim)]) == [("c1", Unknown()), ("c2", NO), "start c3"]


def test_what_nobody_allowed_needs_no_second_look() -> None:
    play = running(asked("c1"), asked("c2"))
    first, second = (each.id for each in play.state.open_asks())
    play.decide_on(first, Allow())
    play.decide_on(second, Deny())
    claim = turn_event_builder.Claim(OwnerId("B"), 0, TurnId("t"), 9, (), rejudge=against(c2=ask("c2")))
    assert brief([*turn_event_builder.claim(play.state, claim)]) == ["start c1"]
