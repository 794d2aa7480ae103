"""A turn in plan mode that ends without asking about its plan: the person is asked, and the answer ends the turn.

seed 000 calls this a synthetic approval (A-62); it belongs to no call.
"""

from uuid import UUID

import pytest

from coderelay.protocol.asks import Decision, Deny, DenyAndStop, PlanAsk, PlanDecision
from coderelay.protocol.calls import Finished
from coderelay.protocol.events import (
    AskAnswered,
    AskOpened,
    Ending,
    MessageAdded,
    PromptAdmitted,
    SessionConfigured,
    StopRequested,
    TurnEnded,
    TurnStarted,
)
from coderelay.protocol.ids import TurnId
from coderelay.protocol.message_content import Text, Thinking
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.usage_and_cost import Usage
from coderelay.session.decide import CARRY_OUT_THE_PLAN
from coderelay.session.fold import fold
from coderelay.session.model_messages import AssistantMessage, UserMessage, transcript
from coderelay.session.next_action import Action, EndTurn, Rest, StartTurn, Wait, next_action
from tests.session.played_session import ANNE, BEN, SESSION, Play
from tests.session.proposed_calls import ask_of, plan, reads

pytestmark = pytest.mark.quick

SAID = (Thinking("hm"), Text("1. think"))
THEN = TurnEnded(
    turn_id=TurnId("t1"),
    ending="done",
    text="1. think",
    usage=Usage(input_tokens=10, output_tokens=2),
    steps=1,
)


def planning(mode: Mode = "plan") -> Play:
    play = Play(mode=mode)
    play.prompt("how?", "p")
    play.claim("A")
    return play


def asked_at_the_end() -> Play:
    play = planning()
    play.message(blocks=SAID)
    return play


def endings(play: Play) -> list[Ending]:
    return [event.ending for event in play.events() if isinstance(event, TurnEnded)]


def test_a62_what_was_said_last_is_the_plan_and_the_turn_waits_for_its_end() -> None:
    play = planning()
    message, opened = [each.event for each in play.message(blocks=SAID)]
    assert isinstance(message, MessageAdded)
    assert opened == AskOpened(turn_id=TurnId("t1"), ask=PlanAsk(ask_of("m2"), "1. think"), then=THEN)
    assert play.state.open_asks() == [PlanAsk(ask_of("m2"), "1. think")]
    assert play.row is not None
    assert (play.row.open_asks, play.row.phase, play.row.owner, play.row.turn_open) == (1, "waiting", None, True)
    assert (next_action(play.state), play.state.owner, play.state.last_owner) == (Wait(), None, "A")


DECIDED: list[tuple[Decision, Mode | None, str | None, Action]] = [
    (PlanDecision("smart"), "auto-edit", CARRY_OUT_THE_PLAN, StartTurn()),
    (PlanDecision("default"), "default", CARRY_OUT_THE_PLAN, StartTurn()),
    (PlanDecision("keep"), None, None, Rest()),
    (PlanDecision("feedback", "use tabs"), None, "use tabs", StartTurn()),
    (Deny(), None, None, Rest()),
    (Deny("not that"), None, None, Rest()),
]


@pytest.mark.parametrize(("decision", "mode", "prompt", "action"), DECIDED)
def test_a62_x22_the_decision_ends_the_turn_in_the_same_append(
    decision: Decision, mode: Mode | None, prompt: str | None, action: Action
) -> None:
    play = asked_at_the_end()
    events = [each.event for each in play.answer_turn(decision, BEN)]
    admitted = [event for event in events if isinstance(event, PromptAdmitted)]
    assert events == [
        AskAnswered(ask_id=ask_of("m2"), decision=decision, by=BEN),
        *([SessionConfigured(by=BEN, mode=mode)] if mode is not None else []),
        THEN,
        *admitted,
    ]
    assert [(each.text, each.by) for each in admitted] == ([] if prompt is None else [(prompt, BEN)])
    assert play.state.settings is not None
    assert play.state.settings.mode == (mode or "plan")
    assert (next_action(play.state), play.state.open_asks(), play.state.phase) == (action, [], "done")
    assert fold(SESSION, play.log) == play.state


def test_a62_an_approved_plan_is_carried_out_in_the_new_mode() -> None:
    play = asked_at_the_end()
    play.answer_turn(PlanDecision("smart"))
    started = play.claim("B")[-1].event
    assert isinstance(started, TurnStarted)
    assert (started.mode, started.text) == ("auto-edit", CARRY_OUT_THE_PLAN)
    assert str(UUID(started.prompt_id)) == started.prompt_id  # it names a row that other programs read
    assert transcript(play.state) == [
        UserMessage("how?"),
        AssistantMessage(SAID, ()),
        UserMessage(CARRY_OUT_THE_PLAN),
    ]
    play.message()
    assert (endings(play), play.state.phase) == (["done", "done"], "done")


@pytest.mark.parametrize("decision", [PlanDecision("default"), PlanDecision("feedback", "with tabs")])
def test_x05_what_follows_a_plan_waits_no_longer_for_answers_than_the_plan(decision: PlanDecision) -> None:
    play = Play(mode="plan")
    play.prompt("go", answer_within=60, unanswered="stop")
    play.claim()
    play.message(blocks=(Text("1. think"),))
    play.answer_turn(decision)
    play.claim()
    assert play.state.turn is not None
    started = play.state.turn.started
    assert (started.answer_within, started.unanswered) == (60, "stop")


def test_a62_after_feedback_the_next_plan_is_asked_about_again() -> None:
    play = asked_at_the_end()
    play.answer_turn(PlanDecision("feedback", "use tabs"))
    play.claim()
    play.message(blocks=(Text("1. think with tabs"),))
    assert [ask.plan for ask in play.state.open_asks() if isinstance(ask, PlanAsk)] == ["1. think with tabs"]


def test_x08_what_was_queued_meanwhile_comes_before_the_word_to_begin() -> None:
    play = asked_at_the_end()
    play.prompt("and mind the tests")
    play.answer_turn(PlanDecision("default"))
    assert [each.text for each in play.state.queue] == ["and mind the tests", CARRY_OUT_THE_PLAN]


@pytest.mark.parametrize("how", ["stop", "deny and stop"])
def test_x03_a_stop_while_the_plan_waits_ends_the_turn_once(how: str) -> None:
    play = asked_at_the_end()
    if how == "stop":
        play.stop()
    else:
        decided = [each.event for each in play.answer_turn(DenyAndStop())]
        assert decided == [
            AskAnswered(ask_id=ask_of("m2"), decision=DenyAndStop(), by=ANNE),
            StopRequested(by=ANNE),
        ]
    assert next_action(play.state) == EndTurn(stopped=True)
    assert play.decide_on(ask_of("m2"), PlanDecision("smart")) == []
    play.claim("B")
    assert play.decide_on(ask_of("m2"), PlanDecision("smart")) == []
    assert (endings(play), next_action(play.state), play.state.open_asks()) == (["stopped"], Rest(), [])
    assert play.state.settings is not None
    assert play.state.settings.mode == "plan"


def test_a62_a_session_deleted_while_its_plan_waits_is_gone() -> None:
    play = asked_at_the_end()
    play.delete()
    assert (play.state.open_asks(), next_action(play.state), play.row) == ([], Rest(), None)


@pytest.mark.parametrize("mode", ["default", "auto-edit", "yolo"])
def test_a62_outside_of_plan_mode_nobody_is_asked(mode: Mode) -> None:
    play = planning(mode)
    play.message(blocks=SAID)
    assert (endings(play), play.state.open_asks()) == (["done"], [])


def test_a62_the_mode_at_the_end_of_the_turn_counts() -> None:
    left, entered = planning("plan"), planning("default")
    left.configure(mode="default")
    entered.configure(mode="plan")
    for play in (left, entered):
        play.message(blocks=SAID)
    assert (left.state.phase, entered.state.phase) == ("done", "waiting")


def test_a62_a_plan_that_was_asked_about_in_the_turn_is_not_asked_about_again() -> None:
    play = planning()
    play.message(plan("c1"))
    play.answer("c1", PlanDecision("keep"))
    play.claim()
    play.message(blocks=SAID)
    assert (endings(play), play.state.open_asks()) == (["done"], [])


def test_a62_a_plan_that_was_refused_outside_of_plan_mode_was_not_asked_about() -> None:
    """Symptom: the mode changed to plan after a refused plan_exit, and the plan was never shown for approval."""
    play = planning("default")
    play.message(plan("c1"), reads("c2"))
    play.configure(mode="plan")
    play.end_call("c2", Finished("ok"))
    play.message(blocks=SAID)
    assert [type(ask) for ask in play.state.open_asks()] == [PlanAsk]


@pytest.mark.parametrize("blocks", [(), (Thinking("hm"),), (Text(" \n"),)])
def test_a62_where_nothing_was_said_there_is_no_plan_to_approve(blocks: tuple[Text | Thinking, ...]) -> None:
    """Symptom: "Approve this plan?" under an empty plan."""
    play = planning()
    play.message(blocks=blocks)
    assert (endings(play), play.state.open_asks()) == (["done"], [])


def test_x12_a_final_message_that_meets_a_stop_asks_nothing() -> None:
    play = planning()
    play.stop()
    play.message(blocks=SAID)
    assert (play.state.open_asks(), next_action(play.state)) == ([], EndTurn(stopped=True))


def test_c13_a_plan_said_in_the_last_step_is_asked_about_before_the_limit_counts() -> None:
    play = Play(mode="plan")
    play.prompt("how?", max_steps=1)
    play.claim()
    play.message(blocks=SAID)
    assert next_action(play.state) == Wait()
    play.answer_turn(PlanDecision("keep"))
    assert endings(play) == ["done"]


@pytest.mark.parametrize("final", [True, False])
def test_a62_an_agent_that_says_more_is_not_asked_in_between(final: bool) -> None:
    play = planning()
    play.message(blocks=SAID, final=final)
    assert bool(play.state.open_asks()) == final


def test_the_owner_before_the_wait_is_forgotten_when_somebody_goes_on() -> None:
    """Symptom: long after an ask was answered, another process let 0.3 s pass before it ran a new prompt."""
    play = asked_at_the_end()
    play.answer_turn(PlanDecision("smart"))
    assert play.state.last_owner == "A"
    play.claim("B")
    assert (play.state.owner, play.state.last_owner) == ("B", None)
    play.message()
    play.prompt("more")
    assert (next_action(play.state), play.state.last_owner) == (StartTurn(), None)
