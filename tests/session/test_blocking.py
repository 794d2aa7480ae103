"""Turns whose agent blocks (X-24): it proposes call by call, and its owner holds the asks."""

import pytest

from coderelay.protocol.asks import Allow, Answers, Deny, DenyAndStop, PlanDecision
from coderelay.protocol.calls import Denied, Failed, Finished, Need, Stopped, Unknown
from coderelay.protocol.events import (
    AnyEvent,
    AskAnswered,
    BatchResumed,
    CallEnded,
    CallProposed,
    CallStarted,
    MessageAdded,
    Recorded,
    TurnEnded,
)
from coderelay.protocol.ids import CallId
from coderelay.session import external_agent_calls
from coderelay.session.fold import fold
from coderelay.session.model_messages import AssistantMessage, ToolMessage, UserMessage, transcript
from coderelay.session.next_action import EndTurn, RunAgent, Wait, needs_owner, next_action
from coderelay.session.openai_chat_format import snapshot
from tests.session.played_session import SESSION, Play
from tests.session.proposed_calls import allowed, asked, broken, denied, plan, questions, runs

pytestmark = pytest.mark.quick

OK = Finished("ok")


def begun() -> Play:
    play = Play()
    play.prompt("go")
    play.claim("A", blocking=True)
    return play


def kinds(page: list[Recorded]) -> list[type[AnyEvent]]:
    return [type(each.event) for each in page]


def outcome_of(play: Play, call: str) -> object:
    return play.state.calls[CallId(call)].outcome


def resumptions(play: Play) -> int:
    return len([event for event in play.events() if isinstance(event, BatchResumed)])


def test_x24_a_held_ask_keeps_the_owner_and_nobody_else_is_needed() -> None:
    play = begun()
    assert kinds(play.propose(asked("c1"))) == [CallProposed]
    assert (play.state.owner, play.state.last_owner, play.state.phase) == ("A", None, "waiting")
    assert (next_action(play.state), needs_owner(play.state)) == (Wait(), False)
    assert play.row is not None
    assert (play.row.owner, play.row.phase, play.row.open_asks) == ("A", "waiting", 1)


def test_x24_an_allowed_call_starts_and_a_denied_one_ends_in_the_append_that_proposes_it() -> None:
    play = begun()
    assert kinds(play.propose(allowed("c1"))) == [CallProposed, CallStarted]
    assert kinds(play.propose(denied("c2"))) == [CallProposed, CallEnded]
    assert kinds(play.propose(broken("c3"))) == [CallProposed, CallEnded]
    assert [outcome_of(play, each) for each in ("c1", "c2", "c3")] == [
        None,
        Denied("deny: a rule"),
        Failed("bad arguments"),
    ]
    told = [external_agent_calls.decision_on(play.state, CallId(each)) for each in ("c1", "c2", "c3")]
    assert told == [Allow(), Deny("deny: a rule"), Deny("bad arguments")]


def test_d01_the_batch_is_that_of_the_last_message_and_grows_as_long_as_a_call_is_open() -> None:
    play = begun()
    play.propose(allowed("c1"))
    play.message(final=False)
    play.propose(allowed("c2"))  # c1 still runs
    play.hear(allowed("c1"), OK)
    play.hear(allowed("c2"), OK)
    play.propose(allowed("c3"))
    batches = [play.state.calls[CallId(each)].batch_id for each in ("c1", "c2", "c3")]
    messages = [event.message_id for event in play.events() if isinstance(event, MessageAdded)]
    assert batches[0] == batches[1] != batches[2]
    assert batches[2] == messages[0]


def test_d03_x24_a_batch_that_grows_waits_again_and_is_resumed_once_for_each_time_it_waited() -> None:
    play = begun()
    play.propose(asked("c1"))
    play.propose(asked("c2"))
    assert kinds(play.answer("c1", Allow())) == [AskAnswered]
    assert kinds(play.answer("c2", Allow())) == [AskAnswered, BatchResumed]
    play.propose(asked("c3"))
    assert play.state.phase == "waiting"
    assert kinds(play.answer("c3", Allow())) == [AskAnswered, BatchResumed]
    assert resumptions(play) == 2


@pytest.mark.parametrize(("together", "first"), [(True, False), (False, True)])
def test_x24_answers_are_released_together_or_each_when_it_comes(together: bool, first: bool) -> None:
    play = begun()
    play.propose(asked("c1"))
    play.propose(asked("c2"))
    play.answer("c1", Allow())
    assert external_agent_calls.is_released(play.state, CallId("c1"), together=together) is first
    assert not external_agent_calls.is_released(play.state, CallId("c2"), together=together)
    play.answer("c2", Deny())
    assert external_agent_calls.is_released(play.state, CallId("c1"), together=together)
    assert external_agent_calls.is_released(play.state, CallId("c2"), together=together)


def test_d22_one_denial_leaves_the_rest() -> None:
    play = begun()
    play.propose(asked("c1"))
    play.propose(asked("c2"))
    play.answer("c1", Deny("no"))
    play.answer("c2", Allow())
    assert kinds(play.release("c1")) == [CallEnded]
    assert kinds(play.release("c2")) == [CallStarted]
    assert play.release("c2") == []
    assert outcome_of(play, "c1") == Denied("no")
    assert external_agent_calls.decision_on(play.state, CallId("c1")) == Deny("no")


def test_an_answered_question_and_an_approved_plan_are_for_the_agent_which_runs_its_call() -> None:
    play = begun()
    play.configure(mode="plan")
    play.propose(questions("c1"))
    play.propose(plan("c2"))
    play.answer("c1", Answers({"Which colour?": "Red"}))
    play.answer("c2", PlanDecision("feedback", "shorter"))
    assert kinds(play.release("c1")) == [CallStarted]
    assert kinds(play.release("c2")) == [CallEnded]
    assert external_agent_calls.decision_on(play.state, CallId("c1")) == Answers({"Which colour?": "Red"})
    assert external_agent_calls.decision_on(play.state, CallId("c2")) == PlanDecision("feedback", "shorter")


def test_the_agent_runs_several_calls_in_its_own_order_and_the_first_end_counts() -> None:
    play = begun()
    play.propose(allowed("c1"))
    play.propose(runs("c2"))
    play.answer("c2", Allow())
    play.release("c2")
    play.hear(runs("c2"), OK)
    assert kinds(play.hear(allowed("c1"), OK)) == [CallEnded]
    assert play.hear(allowed("c1"), Failed("again")) == []
    assert outcome_of(play, "c1") == OK
    assert next_action(play.state) == RunAgent()


def test_a_call_that_the_agent_did_not_ask_about_is_recorded_whole() -> None:
    play = begun()
    assert kinds(play.hear(runs("c1"), OK)) == [CallProposed, CallStarted, CallEnded]
    known = play.state.calls[CallId("c1")]
    assert (known.judged.verdict, known.judged.reason) == ("allow", "the agent made this call without asking")


def test_d18_an_ask_that_the_agent_gives_up_is_withdrawn() -> None:
    play = begun()
    play.propose(asked("c1"))
    assert kinds(play.hear(asked("c1"), Failed("timed out"))) == [AskAnswered, BatchResumed, CallEnded]
    assert (play.state.open_asks(), play.state.phase) == ([], "running")
    assert outcome_of(play, "c1") == Denied("the agent withdrew the call")


def test_d18_a_turn_that_ends_leaves_neither_calls_nor_asks_open() -> None:
    play = begun()
    play.propose(allowed("c1"))
    play.propose(asked("c2"))
    page = play.message()
    assert kinds(page)[1:] == [AskAnswered, BatchResumed, CallEnded, CallEnded, TurnEnded]
    assert outcome_of(play, "c1") == Unknown()
    assert play.state.turn is None
    assert play.row is not None
    assert (play.row.open_asks, play.row.blocking) == (0, False)


def test_x12_after_a_stop_nothing_is_proposed_and_the_turn_ends() -> None:
    play = begun()
    play.propose(allowed("c1"))
    play.propose(asked("c2"))
    play.answer("c2", DenyAndStop())
    assert next_action(play.state) == EndTurn(stopped=True)
    assert play.propose(allowed("c3")) == []
    assert play.release("c2") == []
    play.claim("B")
    assert (outcome_of(play, "c1"), outcome_of(play, "c2")) == (Unknown(), Stopped(started=False))
    assert play.state.turn is None


def killed_with(*, answer: Allow | Deny) -> Play:
    """The owner dies with one call running and one ask open, which is answered then."""
    play = begun()
    play.propose(allowed("c1"))
    play.propose(runs("c2"))
    play.answer("c2", answer)
    assert needs_owner(play.state)
    assert kinds(play.claim("B"))[1:] == [CallEnded, CallEnded]
    return play


def test_x25_the_next_owner_finds_the_answer_and_the_call_never_ran() -> None:
    play = killed_with(answer=Allow())
    assert outcome_of(play, "c1") == Unknown()
    assert outcome_of(play, "c2") == Failed(external_agent_calls.NOT_REACHED)
    found = external_agent_calls.continuation(play.state)
    assert found is not None
    assert [each.call.id for each in found.answered] == ["c2"]
    assert [each.call.id for each in found.unknown] == ["c1"]
    assert external_agent_calls.continuation(begun().state) is None
    assert (next_action(play.state), play.state.owner) == (RunAgent(), "B")


def test_x25_what_was_allowed_and_never_ran_is_allowed_once_more_without_an_ask() -> None:
    play = killed_with(answer=Allow())
    assert kinds(play.propose(runs("c3", "other"))) == [CallProposed]
    assert kinds(play.propose(runs("c4"))) == [CallProposed, CallStarted]
    assert play.state.calls[CallId("c4")].judged.granted_by == "c2"
    assert kinds(play.propose(runs("c5"))) == [CallProposed]


def test_x25_a_recorded_answer_to_a_question_answers_the_same_question_again() -> None:
    play = begun()
    play.propose(questions("c1"))
    play.answer("c1", Answers({"Which colour?": "Red"}))
    play.claim("B")
    assert kinds(play.propose(questions("c2"))) == [CallProposed, CallStarted]
    assert external_agent_calls.decision_on(play.state, CallId("c2")) == Answers({"Which colour?": "Red"})


@pytest.mark.parametrize("mode", ["default", "plan"])
def test_x25_a_denial_is_no_grant_and_no_grant_loosens_a_denial(mode: str) -> None:
    play = killed_with(answer=Allow() if mode == "plan" else Deny())
    if mode == "plan":
        play.configure(mode="plan")
    page = play.propose(runs("c3"))
    assert kinds(page) == ([CallProposed, CallEnded] if mode == "plan" else [CallProposed])


def test_x25_a_grant_ends_with_its_turn() -> None:
    play = killed_with(answer=Allow())
    play.message()
    play.prompt("again")
    play.claim("B", blocking=True)
    assert kinds(play.propose(runs("c3"))) == [CallProposed]


def test_the_history_has_each_call_with_its_result_and_the_log_is_the_state() -> None:
    play = begun()
    play.message(final=False)
    play.propose(allowed("c1"))
    play.propose(allowed("c2"))
    play.hear(allowed("c2"), OK)
    assert len(snapshot(play.state, (), "")["messages"]) == 2  # cut before the first call that is open
    play.hear(allowed("c1"), OK)
    play.message()
    shapes = [type(each) for each in transcript(play.state)]
    assert shapes == [UserMessage, AssistantMessage, ToolMessage, AssistantMessage, ToolMessage, AssistantMessage]
    assert fold(SESSION, play.log) == play.state


def test_a_need_is_kept_for_people() -> None:
    play = begun()
    play.hear(runs("c1", "make it"), OK)
    need = play.state.calls[CallId("c1")].judged.need
    assert need == Need(tool="bash", kind="command", title="make it", command="make it")
