"""What was spent, and what happens when that is as much as was allowed."""

import pytest

from coderelay.protocol.asks import Allow, Answers, BudgetAsk, Deny, DenyAndStop, PlanDecision
from coderelay.protocol.calls import Finished
from coderelay.protocol.commands import AnswerAsk
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import AskAnswered, AskOpened, SessionClaimed, StopRequested, TurnEnded
from coderelay.protocol.ids import OwnerId
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.usage_and_cost import Usage
from coderelay.session import decide
from coderelay.session.next_action import AskModel, Wait, next_action
from coderelay.session.summary_row import summarise
from tests.session.played_session import ANNE, BEN, SESSION, USED, Play
from tests.session.proposed_calls import allowed, asked, denied

pytestmark = pytest.mark.quick

DAY = 86_400_000


def running() -> Play:
    play = Play()
    play.prompt("go")
    play.claim()
    return play


def over_budget() -> Play:
    play = running()
    play.message(denied("c1"), cost=1.5)
    play.pause_for_ask(1.0)
    return play


def open_ask(play: Play) -> BudgetAsk:
    (ask,) = play.state.open_asks()
    assert isinstance(ask, BudgetAsk)
    return ask


def test_costs_add_up_in_the_turn_the_session_and_the_row() -> None:
    play = running()
    play.message(denied("c1"), cost=0.25)
    play.message(denied("c2"))
    play.compact(cost=0.5)
    ended = play.message(cost=0.25)[-1].event
    assert isinstance(ended, TurnEnded)
    four = Usage(input_tokens=40, output_tokens=8)
    assert (ended.usage, ended.cost, ended.steps) == (four, 1.0, 3)
    play.prompt("more")
    play.claim()
    ended = play.message(cost=0.125)[-1].event
    assert isinstance(ended, TurnEnded)
    assert (ended.usage, ended.cost, play.state.cost) == (USED, 0.125, 1.125)
    assert play.row is not None
    assert (play.row.usage, play.row.cost) == (four.plus(USED), 1.125)


def test_a_cost_that_is_not_known_is_not_nothing() -> None:
    play = running()
    ended = play.message()[-1].event
    assert isinstance(ended, TurnEnded)
    assert play.row is not None
    assert (ended.cost, play.state.cost, play.row.cost, play.row.day) == (None, None, None, "")


def test_the_window_is_as_full_as_the_provider_counted_last() -> None:
    play = running()
    filled = [play.state.context_tokens]
    for usage in (Usage(input_tokens=100, output_tokens=20), Usage(), Usage(input_tokens=200, output_tokens=1)):
        play.message(denied(play.new("c")), usage=usage)
        filled.append(play.state.context_tokens)
    play.compact()
    filled.append(play.state.context_tokens)
    assert filled == [0, 120, 120, 201, 0]
    assert play.row is not None
    assert play.row.context_tokens == 0


def test_the_row_knows_what_the_last_day_has_cost() -> None:
    play, days = running(), list[tuple[str, float]]()
    for at, cost in ((DAY - 10, 0.25), (DAY - 5, 0.5), (DAY, 1.0), (DAY + 5, None), (2 * DAY, None), (3 * DAY, 2.0)):
        play.now = at - 5  # the next append is 5 ms later
        play.message(denied(play.new("c")), cost=cost)
        assert play.row is not None
        days.append((play.row.day, play.row.day_cost))
    second = ("1970-01-02", 1.0)
    assert days == [("1970-01-01", 0.25), ("1970-01-01", 0.75), second, second, second, ("1970-01-04", 2.0)]


def test_the_row_is_the_same_when_it_is_read_again() -> None:
    play = over_budget()
    play.answer_turn(Allow())
    play.claim("B")
    play.compact(cost=0.5)
    row: Summary | None = None
    for recorded in play.log:
        row = summarise(row, recorded)
    assert row == play.row


def test_a_budget_is_asked_about_when_it_is_used_up_and_nobody_owns_what_waits() -> None:
    play = running()
    play.message(denied("c1"), cost=0.75)
    assert play.pause_for_ask(1.0) == []
    play.message(denied("c2"), cost=0.75)
    (opened,) = [each.event for each in play.pause_for_ask(1.0)]
    assert isinstance(opened, AskOpened)
    assert opened.ask == BudgetAsk(opened.ask.id, span="session", spent=1.5, limit=1.0, until=2.5)
    assert (opened.then, play.state.owner, play.state.last_owner) == (None, None, OwnerId("A"))
    assert play.row is not None
    assert (play.row.open_asks, play.row.phase, play.row.owner) == (1, "waiting", None)


def test_an_answer_lets_the_same_amount_be_spent_once_more() -> None:
    play = over_budget()
    ask = open_ask(play)
    assert [each.event for each in play.answer_turn(Allow(), BEN)] == [
        AskAnswered(ask_id=ask.id, decision=Allow(), by=BEN)
    ]
    assert (next_action(play.state), play.state.allowances) == (AskModel(), {"session": 2.5})
    play.claim("B")
    assert play.pause_for_ask(1.0) == []
    play.message(denied("c2"), cost=1.0)
    play.pause_for_ask(1.0)
    assert (open_ask(play).spent, open_ask(play).until) == (2.5, 3.5)


@pytest.mark.parametrize("decision", [Deny(), Deny("too much"), DenyAndStop()])
def test_a_denial_stops_the_turn(decision: Deny | DenyAndStop) -> None:
    play = over_budget()
    ask = open_ask(play)
    assert [each.event for each in play.answer_turn(decision)] == [
        AskAnswered(ask_id=ask.id, decision=decision, by=ANNE),
        StopRequested(by=ANNE),
    ]
    ended = play.claim("B")[-1].event
    assert isinstance(ended, TurnEnded)
    assert (ended.ending, ended.cost, play.state.allowances) == ("stopped", 1.5, {})


def test_d12_an_answer_about_money_counts_once() -> None:
    play = over_budget()
    ask = open_ask(play)
    play.answer_turn(Allow(), BEN)
    late = AnswerAsk(session=SESSION, ask=ask.id, decision=Deny(), by=ANNE)
    assert decide.answer(play.state, late) == []
    play.claim("B")
    assert decide.answer(play.state, late) == []
    assert decide.recorded_answer(play.state, late) == (Allow(), BEN)


def test_an_answer_about_money_that_comes_after_the_stop_does_not_count() -> None:
    play = over_budget()
    ask = open_ask(play)
    play.stop()
    late = AnswerAsk(session=SESSION, ask=ask.id, decision=Allow(), by=ANNE)
    assert decide.answer(play.state, late) == []
    play.claim("B")
    assert decide.answer(play.state, late) == []
    assert (decide.recorded_answer(play.state, late), play.state.allowances) == ((None, None), {})


@pytest.mark.parametrize("decision", [Answers({}), PlanDecision("smart")])
def test_x37_only_yes_and_no_are_answers_about_money(decision: Answers | PlanDecision) -> None:
    play = over_budget()
    with pytest.raises(BadInput):
        play.answer_turn(decision)
    assert next_action(play.state) == Wait()


def test_nobody_is_asked_about_money_after_a_stop() -> None:
    play = running()
    play.message(denied("c1"), cost=1.5)
    play.stop()
    assert play.pause_for_ask(1.0) == []


def test_a62_a_turn_may_ask_about_money_and_then_about_its_plan() -> None:
    play = Play(mode="plan")
    play.prompt("go")
    play.claim()
    play.message(denied("c1"), cost=1.5)
    play.pause_for_ask(1.0)
    play.answer_turn(Allow())
    play.claim("B")
    play.message(cost=0.5)
    assert play.state.phase == "waiting"
    play.answer_turn(PlanDecision("keep"))
    ended = play.state.last_ending
    assert ended is not None
    assert (ended.ending, ended.cost, play.state.phase) == ("done", 2.0, "done")


def test_d03_the_batch_is_asked_about_first_and_the_budget_before_the_next_step() -> None:
    play = running()
    play.message(asked("c1"), allowed("c2"), cost=1.5)
    play.answer("c1", Deny())
    play.claim("B")
    play.end_call("c2", Finished("ok"))
    play.pause_for_ask(1.0)
    assert play.row is not None
    assert (play.row.open_asks, play.state.open_asks()) == (1, [open_ask(play)])
    play.answer_turn(Allow())
    assert [each.event for each in play.claim("C")] == [SessionClaimed(owner=OwnerId("C"), epoch=3)]
    assert next_action(play.state) == AskModel()
