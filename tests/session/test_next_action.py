"""What a session needs next, from its state alone."""

from collections.abc import Callable

import pytest

from coderelay.protocol.asks import Allow, Answers, Deny, PlanDecision
from coderelay.protocol.calls import Finished
from coderelay.protocol.ids import CallId
from coderelay.session.next_action import (
    Action,
    AskModel,
    Compact,
    EndTurn,
    Rest,
    RunCall,
    StartTurn,
    Wait,
    needs_owner,
    next_action,
)
from tests.session.played_session import Play
from tests.session.proposed_calls import allowed, asked, denied, questions

pytestmark = pytest.mark.quick

Moves = list[Callable[[Play], object]]

TURN: Moves = [lambda play: play.prompt("go", max_steps=2), lambda play: play.claim()]
ASKED: Moves = [*TURN, lambda play: play.message(asked("c1"), allowed("c2"), asked("c3"))]
ANSWERED: Moves = [*ASKED, lambda play: play.answer("c3", Allow()), lambda play: play.answer("c1", Deny())]
QUESTION: Moves = [*TURN, lambda play: play.message(questions("c1"), allowed("c2"))]
PLANNED: Moves = [lambda play: play.configure(mode="plan"), *TURN, lambda play: play.message()]
OVER_BUDGET: Moves = [
    *TURN,
    lambda play: play.message(denied("c1"), cost=1.0),
    lambda play: play.pause_for_ask(1.0),
]
SUMMARY: Moves = [lambda play: play.compact_history("p"), lambda play: play.claim()]
AGAIN: Moves = [*TURN, lambda play: play.message(allowed("c1"), allowed("c2")), lambda play: play.ask_again("c1")]


def answer_question(play: Play) -> None:
    play.answer("c1", Answers({"Which colour?": "Red"}))


ACTIONS: dict[str, tuple[Moves, Action]] = {
    "new": ([], Rest()),
    "a prompt waits": (TURN[:1], StartTurn()),
    "a turn begins": (TURN, AskModel()),
    "a call runs": ([*TURN, lambda play: play.message(allowed("c1"))], RunCall(CallId("c1"))),
    "a prompt comes meanwhile": ([*TURN, lambda play: play.prompt("more")], AskModel()),
    "D-06 people are asked": (ASKED, Wait()),
    "D-06 one has answered": (ANSWERED[:-1], Wait()),
    "D-06 a prompt does not end the wait": ([*ASKED, lambda play: play.prompt("more")], Wait()),
    "a stop ends the wait": ([*ASKED, lambda play: play.stop()], EndTurn(stopped=True)),
    "D-05 all have answered": (ANSWERED, RunCall(CallId("c1"))),
    "the denied call is passed": ([*ANSWERED, lambda play: play.claim("B")], RunCall(CallId("c2"))),
    "D-08 one result is missing": (
        [*ANSWERED, lambda play: play.claim("B"), lambda play: play.end_call("c2", Finished("ok"))],
        RunCall(CallId("c3")),
    ),
    "D-08 all results are there": (
        [
            *ANSWERED,
            lambda play: play.claim("B"),
            lambda play: play.end_call("c2", Finished("ok")),
            lambda play: play.end_call("c3", Finished("ok")),
        ],
        AskModel(),
    ),
    "all calls were denied": ([*TURN, lambda play: play.message(denied("c1"))], AskModel()),
    "C-13 the steps are used up": (
        [*TURN, lambda play: play.message(denied("c1")), lambda play: play.message(denied("c2"))],
        EndTurn(stopped=False),
    ),
    "C-13 the last step still runs its calls": (
        [*TURN, lambda play: play.message(denied("c1")), lambda play: play.message(allowed("c2"))],
        RunCall(CallId("c2")),
    ),
    "a question": (QUESTION, Wait()),
    "an answered question is still to be told": ([*QUESTION, answer_question], RunCall(CallId("c1"))),
    "an answered question does not run": (
        [*QUESTION, answer_question, lambda play: play.claim("B")],
        RunCall(CallId("c2")),
    ),
    "A-62 a plan waits for its end": (PLANNED, Wait()),
    "A-62 an approved plan": ([*PLANNED, lambda play: play.answer_turn(PlanDecision("default"))], StartTurn()),
    "A-62 a plan that is kept": ([*PLANNED, lambda play: play.answer_turn(PlanDecision("keep"))], Rest()),
    "A-62 a stop while a plan waits": ([*PLANNED, lambda play: play.stop()], EndTurn(stopped=True)),
    "D-11 a call asks again": (AGAIN, Wait()),
    "D-11 it may start anew": ([*AGAIN, lambda play: play.answer("c1", Allow())], RunCall(CallId("c1"))),
    "D-11 it may not": (
        [*AGAIN, lambda play: play.answer("c1", Deny()), lambda play: play.claim("B")],
        RunCall(CallId("c2")),
    ),
    "a prompt that steers": ([*TURN, lambda play: play.prompt("rather", steer=True)], AskModel()),
    "X-08 it was taken": (
        [*TURN, lambda play: play.prompt("rather", steer=True), lambda play: play.take_steering()],
        AskModel(),
    ),
    "X-08 it came too late": (
        [*TURN, lambda play: play.prompt("rather", steer=True), lambda play: play.message()],
        StartTurn(),
    ),
    "C-28 a summary is wanted": (SUMMARY[:1], StartTurn()),
    "C-28 it is made": (SUMMARY, Compact()),
    "C-28 by the next owner, if the first is gone": ([*SUMMARY, lambda play: play.claim("B")], Compact()),
    "C-28 it is there": ([*SUMMARY, lambda play: play.compact()], Rest()),
    "C-28 stopped": ([*SUMMARY, lambda play: play.stop()], EndTurn(stopped=True)),
    "C-28 recalled": ([SUMMARY[0], lambda play: play.recall("p")], Rest()),
    "C-11 a summary in mid-turn": ([*TURN, lambda play: play.compact()], AskModel()),
    "C-11 a summary is no step": (
        [*TURN, lambda play: play.message(denied("c1")), lambda play: play.compact()],
        AskModel(),
    ),
    "the budget is used up": (OVER_BUDGET, Wait()),
    "more is allowed": ([*OVER_BUDGET, lambda play: play.answer_turn(Allow())], AskModel()),
    "no more is allowed": ([*OVER_BUDGET, lambda play: play.answer_turn(Deny())], EndTurn(stopped=True)),
    "a stop while money is asked for": ([*OVER_BUDGET, lambda play: play.stop()], EndTurn(stopped=True)),
    "a recalled prompt": ([*TURN[:1], lambda play: play.recall(play.state.queue[0].prompt_id)], Rest()),
    "done": ([*TURN, lambda play: play.message()], Rest()),
    "the next prompt": ([*TURN, lambda play: play.prompt("more"), lambda play: play.message()], StartTurn()),
    "deleted": ([*ASKED, lambda play: play.delete()], Rest()),
}


@pytest.mark.parametrize(("moves", "action"), ACTIONS.values(), ids=ACTIONS)
def test_d05_d06_d08_c13_what_comes_next(moves: Moves, action: Action) -> None:
    play = Play()
    for move in moves:
        move(play)
    assert next_action(play.state) == action
    assert needs_owner(play.state) == (not isinstance(action, Rest | Wait))
