"""What a client offers: asked about before the next step, decided once in a session."""

from itertools import groupby

import pytest

from coderelay.protocol.asks import Allow, Deny, DenyAndStop, OfferAsk, PlanDecision
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import AskAnswered, SessionConfigured, StopRequested
from coderelay.protocol.ids import AskId
from coderelay.session.history_undo_and_clear import forget_origin_session
from coderelay.session.next_action import AskModel, EndTurn, StartTurn, Wait, next_action
from tests.session.ask_checks import BrokenPromise
from tests.session.played_session import ANNE, Play
from tests.session.promise_checker import Checker

pytestmark = pytest.mark.quick

SERVER = OfferAsk(AskId("o1"), what="server", name="echo", mark="f00", shown="npx echo")
FOLDER = OfferAsk(AskId("o2"), what="folder", name="/other", mark="/other", shown="/other")


def running() -> Play:
    play = Play()
    play.prompt("go")
    play.claim()
    return play


@pytest.mark.parametrize(("decision", "accepted"), [(Allow(), True), (Deny(), False)])
def test_an_offer_waits_for_a_person_and_either_answer_lets_the_turn_go_on(
    decision: Allow | Deny, accepted: bool
) -> None:
    play = running()
    play.offer(SERVER)
    assert isinstance(next_action(play.state), Wait)
    assert play.state.owner is None
    answered = [each.event for each in play.answer_turn(decision)]
    assert answered == [AskAnswered(ask_id=SERVER.id, decision=decision, by=ANNE)]
    assert play.state.offers == {"f00": accepted}
    play.claim("B")
    assert isinstance(next_action(play.state), AskModel)


def test_a_folder_that_is_accepted_becomes_one_of_the_session_in_the_same_append() -> None:
    play = running()
    play.offer(FOLDER)
    _, configured = [each.event for each in play.answer_turn(Allow())]
    assert configured == SessionConfigured(by=ANNE, folders=("/other",))
    assert play.state.settings is not None
    assert play.state.settings.folders == ("/other",)


def test_a_folder_that_is_refused_is_none_of_the_session() -> None:
    play = running()
    play.offer(FOLDER)
    play.answer_turn(Deny())
    assert play.state.settings is not None
    assert (play.state.settings.folders, play.state.offers) == ((), {"/other": False})


def test_a_refusal_that_stops_ends_the_turn() -> None:
    play = running()
    play.offer(SERVER)
    assert StopRequested(by=ANNE) in [each.event for each in play.answer_turn(DenyAndStop())]
    assert next_action(play.state) == EndTurn(stopped=True)


def test_nobody_is_asked_after_a_stop_and_another_kind_of_answer_does_not_fit() -> None:
    play = running()
    play.offer(SERVER)
    with pytest.raises(BadInput):
        play.answer_turn(PlanDecision("default"))
    play.answer_turn(Allow())
    play.claim("B")
    play.stop()
    assert play.offer(FOLDER) == []


def read_by_page(play: Play) -> None:
    checker = Checker()
    for _, page in groupby(play.log, lambda each: each.at):  # every append has a time of its own
        checker.see([*page])


def test_the_checker_knows_an_offer_that_was_decided_before() -> None:
    play = running()
    play.offer(SERVER)
    play.answer_turn(Deny())
    play.claim("B")
    play.offer(FOLDER)
    play.answer_turn(Allow())
    play.claim("C")
    read_by_page(play)
    play.offer(OfferAsk(AskId("o3"), what="server", name="echo", mark="f00", shown="npx echo"))
    with pytest.raises(BrokenPromise, match="decided"):
        read_by_page(play)


def test_a_fork_begins_without_what_was_accepted() -> None:
    play = running()
    play.offer(SERVER)
    play.answer_turn(Allow())
    play.claim("B")
    play.message()
    forget_origin_session(play.state)
    assert play.state.offers == {}
    play.prompt("more")
    assert isinstance(next_action(play.state), StartTurn)
