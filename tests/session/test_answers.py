"""What counts as an answer to which ask, and what follows from it."""

from typing import get_args

import pytest
from msgspec.structs import replace

from coderelay.protocol.asks import (
    Allow,
    Answers,
    Approval,
    Ask,
    Decision,
    Deny,
    DenyAndStop,
    PermissionAsk,
    PlanAsk,
    PlanDecision,
    PlanOption,
    QuestionAsk,
    Scope,
)
from coderelay.protocol.calls import Denied, Finished, Outcome
from coderelay.protocol.commands import CreateSession, DeleteSession, RevokeApproval
from coderelay.protocol.errors import BadInput, UnknownApproval
from coderelay.protocol.events import (
    ApprovalGranted,
    ApprovalRevoked,
    AskAnswered,
    BatchResumed,
    PromptAdmitted,
    Recorded,
    SessionConfigured,
    StopRequested,
    TurnEnded,
)
from coderelay.protocol.ids import APPROVALS, AskId, CallId, MessageId, PromptId
from coderelay.protocol.session_setting_values import Mode
from coderelay.session import decide
from coderelay.session.fold import fold
from coderelay.session.next_action import EndTurn, RunCall, Wait, next_action
from coderelay.session.state import CallState, State
from coderelay.session.turn_event_builder import outcome_without_running
from tests.outcomes import in_english
from tests.session.generated_values import fitting, unfitting
from tests.session.played_session import ANNE, BEN, NOBODY, SESSION, TOO_LATE, Play
from tests.session.proposed_calls import (
    COLOUR,
    MAKE,
    NAME,
    PLAN,
    Proposed,
    allowed,
    ask_of,
    asked,
    plan,
    questions,
    reads,
)

pytestmark = pytest.mark.quick

PERMISSION = PermissionAsk(AskId("a"), CallId("c"), MAKE, "runs a command")
QUESTIONS = QuestionAsk(AskId("a"), CallId("c"), (NAME, COLOUR))
ANSWERS = Answers({"Which name?": "relay", "Which colour?": "Blue"})
A_PLAN = PlanAsk(AskId("a"), PLAN, CallId("c"))
ASKS: dict[str, Ask] = {"permission": PERMISSION, "questions": QUESTIONS, "plan": A_PLAN}

FITS = [(ask, decision) for ask in ASKS.values() for decision in fitting(ask)] + [
    *((PERMISSION, Allow(scope)) for scope in get_args(Scope)),
    (QUESTIONS, ANSWERS),
    (QUESTIONS, Answers({"Which name?": "relay", "Which colour?": "none of these"})),
    (A_PLAN, PlanDecision("keep", "a word that goes with it")),
]
MISFITS = [(ask, decision) for ask in ASKS.values() for decision in unfitting(ask)]


@pytest.mark.parametrize(("ask", "decision"), FITS)
def test_x22_x37_what_is_an_answer(ask: Ask, decision: Decision) -> None:
    decide.check_fit(ask, decision)


@pytest.mark.parametrize(("ask", "decision"), MISFITS)
def test_x22_x37_what_is_no_answer(ask: Ask, decision: Decision) -> None:
    with pytest.raises(BadInput):
        decide.check_fit(ask, decision)


@pytest.mark.parametrize(
    ("decision", "told"),
    [
        (Allow(), "this is a question: answer it or deny it"),
        (Answers({"Which name?": "relay"}), "the question 'Which colour?' has no answer"),
        (Answers({**ANSWERS.answers, "Which colour?": "\t"}), "the question 'Which colour?' has no answer"),
        (
            Answers({**ANSWERS.answers, "When?": "now"}),
            "there is no question 'When?'; the questions are 'Which name?', 'Which colour?'",
        ),
    ],
)
def test_x37_a_refused_answer_says_what_is_wrong(decision: Decision, told: str) -> None:
    with pytest.raises(BadInput) as refused:
        decide.check_fit(QUESTIONS, decision)
    assert refused.value.message == told


def waiting(*proposed: Proposed, mode: Mode = "default") -> Play:
    play = Play(mode=mode)
    play.prompt("go", "p")
    play.claim()
    play.message(*proposed)
    return play


def written(page: list[Recorded]) -> list[object]:
    return [each.event for each in page]


@pytest.mark.parametrize(
    ("proposed", "mode"), [(asked("c"), "default"), (questions("c"), "yolo"), (plan("c"), "plan")]
)
def test_x37_what_does_not_fit_changes_nothing_and_the_ask_stays_open(proposed: Proposed, mode: Mode) -> None:
    play = waiting(proposed, mode=mode)
    (ask,) = play.state.open_asks()
    for decision in unfitting(ask):
        with pytest.raises(BadInput):
            play.answer("c", decision)
    assert play.state.open_asks() == [ask]
    assert fold(SESSION, play.log) == play.state
    assert next_action(play.state) == Wait()
    play.answer("c", fitting(ask)[0])
    assert play.state.open_asks() == []


def test_a_late_answer_is_told_the_outcome_even_if_it_does_not_fit() -> None:
    play = waiting(questions("c"))
    play.answer("c", Answers({"Which colour?": "Red"}), BEN)
    assert play.answer("c", Allow()) == []


def test_b60_x37_the_answers_to_a_question_are_the_result_of_its_call() -> None:
    play = waiting(questions("c1", NAME, COLOUR), reads("c2"))
    page = play.answer("c1", ANSWERS, BEN)
    assert written(page) == [
        AskAnswered(ask_id=ask_of("c1"), decision=ANSWERS, by=BEN),
        BatchResumed(batch_id=MessageId("m2")),
    ]
    assert play.state.open_asks() == []  # D-18
    play.claim("B")
    told = "Which name?\n→ relay\nWhich colour?\n→ Blue"
    assert play.state.calls[CallId("c1")].outcome == Finished(told, summary="relay, Blue")
    assert play.state.calls[CallId("c1")].started_epoch is None
    assert next_action(play.state) == RunCall(CallId("c2"))


APPROVED: list[tuple[PlanOption, Mode]] = [("smart", "auto-edit"), ("default", "default")]


@pytest.mark.parametrize(("option", "mode"), APPROVED)
def test_a62_x22_an_approved_plan_changes_the_mode_and_its_turn_goes_on(option: PlanOption, mode: Mode) -> None:
    play = waiting(plan("c1"), reads("c2"), mode="plan")
    assert written(play.answer("c1", PlanDecision(option))) == [
        AskAnswered(ask_id=ask_of("c1"), decision=PlanDecision(option), by=ANNE),
        SessionConfigured(by=ANNE, mode=mode),
        BatchResumed(batch_id=MessageId("m2")),
    ]
    assert play.state.settings is not None
    assert play.row is not None
    assert (play.state.settings.mode, play.row.mode) == (mode, mode)
    play.claim()
    assert isinstance(play.state.calls[CallId("c1")].outcome, Finished)
    assert next_action(play.state) == RunCall(CallId("c2"))


@pytest.mark.parametrize("decision", [PlanDecision("keep"), PlanDecision("feedback", "use tabs"), Deny("no")])
def test_a62_x22_a_plan_that_is_not_approved_leaves_the_mode(decision: Decision) -> None:
    play = waiting(plan("c1"), mode="plan")
    assert written(play.answer("c1", decision)) == [
        AskAnswered(ask_id=ask_of("c1"), decision=decision, by=ANNE),
        BatchResumed(batch_id=MessageId("m2")),
    ]
    play.claim()
    assert play.state.settings is not None
    assert play.state.settings.mode == "plan"
    assert isinstance(play.state.calls[CallId("c1")].outcome, Denied)


def test_d21_x24_a_batch_with_every_kind_of_ask_waits_for_all_and_goes_on_in_order() -> None:
    play = waiting(asked("c1"), questions("c2"), plan("c3"), allowed("c4"), mode="plan")
    assert [type(ask) for ask in play.state.open_asks()] == [PermissionAsk, QuestionAsk, PlanAsk]
    assert len(play.answer("c3", PlanDecision("default"))) == 2
    assert len(play.answer("c2", Answers({"Which colour?": "Red"}))) == 1
    assert play.state.phase == "waiting"
    assert isinstance(play.answer("c1", Allow())[-1].event, BatchResumed)
    play.claim()
    assert next_action(play.state) == RunCall(CallId("c1"))
    play.end_call("c1", Finished("ok"))
    assert next_action(play.state) == RunCall(CallId("c4"))
    outcomes = [type(play.state.calls[CallId(call)].outcome) for call in ("c1", "c2", "c3")]
    assert outcomes == [Finished, Finished, Finished]


@pytest.mark.parametrize("call", ["c1", "c2", "c3"])
def test_x03_deny_and_stop_is_an_answer_to_every_kind_of_ask(call: str) -> None:
    play = waiting(asked("c1"), questions("c2"), plan("c3"), mode="plan")
    assert written(play.answer(call, DenyAndStop())) == [
        AskAnswered(ask_id=ask_of(call), decision=DenyAndStop(), by=ANNE),
        StopRequested(by=ANNE),
    ]
    assert next_action(play.state) == EndTurn(stopped=True)


def test_x05_what_nobody_answers_in_time_is_denied_by_nobody() -> None:
    play = Play()
    play.prompt("go", answer_within=60)
    play.claim()
    play.message(questions("c1"), asked("c2"), questions("c3"))
    deadlines = [ask.deadline for ask in play.state.open_asks()]
    assert deadlines == [play.now - 5 + 60_000, None, play.now - 5 + 60_000]
    late = [page[0].event for page in play.expire()]
    assert late == [AskAnswered(ask_id=ask_of(call), decision=TOO_LATE, by=NOBODY) for call in ("c1", "c3")]
    assert [ask.id for ask in play.state.open_asks()] == [ask_of("c2")]  # a permission has no deadline
    play.answer("c2", Allow())
    play.claim()
    assert play.state.calls[CallId("c1")].outcome == Denied("nobody answered in time")


def test_x05_an_ask_is_parked_after_its_deadline_once_and_never_when_it_is_decided() -> None:
    play = Play()
    play.prompt("go", answer_within=60)
    play.claim()
    play.message(questions("c1"), questions("c2"))
    ask, other = (each.id for each in play.state.open_asks())
    over = play.now + 60_000
    assert decide.park(play.state, ask, play.now) == []
    play.write(decide.park(play.state, ask, over))
    assert [each.id for each in play.state.open_asks()] == [ask, other]
    assert [each.id for each in play.state.due_asks(over)] == [other]
    assert decide.park(play.state, ask, over) == []
    play.answer("c2", Deny())
    assert decide.park(play.state, other, over) == []
    play.answer("c1", Answers({"Which colour?": "Red"}))  # later than its deadline
    assert play.state.open_asks() == []


def test_x05_how_long_to_wait_travels_from_the_prompt_to_its_turn() -> None:
    """Symptom: a question in a chat that allows 300 seconds waited for ever."""
    play = Play()
    (admitted,) = [each.event for each in play.prompt("go", "p", answer_within=300)]
    assert admitted == PromptAdmitted(prompt_id=PromptId("p"), text="go", by=ANNE, answer_within=300)
    play.claim()
    assert play.state.turn is not None
    assert play.state.turn.started.answer_within == 300


@pytest.mark.parametrize("seconds", [0, -1])
def test_x05_nobody_can_answer_in_no_time(seconds: int) -> None:
    play = Play()
    with pytest.raises(BadInput):
        play.prompt("go", answer_within=seconds)


ENDS: list[tuple[Proposed, Decision | None, Outcome | None]] = [
    (questions("c"), Answers({"Which colour?": "Red"}), Finished("Which colour?\n→ Red", summary="Red")),
    (questions("c"), Deny(), Denied("the user denied it")),
    (questions("c"), TOO_LATE, Denied("nobody answered in time")),
    (questions("c"), None, Denied("the user denied it")),
    (
        plan("c"),
        PlanDecision("smart"),
        Finished("The plan is approved and the mode is auto-edit now. Carry it out.", summary="approved"),
    ),
    (
        plan("c"),
        PlanDecision("default"),
        Finished("The plan is approved and the mode is default now. Carry it out.", summary="approved"),
    ),
    (plan("c"), PlanDecision("keep"), Denied("the plan is not approved yet; stay in plan mode and go on planning")),
    (
        plan("c"),
        PlanDecision("feedback", "use tabs"),
        Denied("the plan is not approved yet; the person says: use tabs"),
    ),
    (plan("c"), DenyAndStop(), Denied("the user denied it")),
    (plan("c"), None, Denied("the user denied it")),
    (asked("c"), Allow("session"), None),
    (asked("c"), Allow("person"), None),
]


@pytest.mark.parametrize(("proposed", "answer", "outcome"), ENDS)
def test_d22_x22_x37_how_a_call_ends_without_running(
    proposed: Proposed, answer: Decision | None, outcome: Outcome | None
) -> None:
    judged = replace(proposed, verdict="ask").judged()
    settles = outcome_without_running(CallState(proposed.call(), MessageId("m"), judged, answer))
    assert (settles and in_english(settles)) == outcome


def test_d20_an_approval_is_kept_until_it_is_revoked_once() -> None:
    play = waiting(asked("c1"))
    play.answer("c1", Allow("session"))
    (granted,) = [each.event for each in play.remember(ask_of("c1"))]
    kept = Approval(ask_of("c1"), "session", "bash", "make", command="make")
    assert granted == ApprovalGranted(approval=kept, by=ANNE)
    assert play.state.approvals == {ask_of("c1"): kept}
    assert written(play.revoke(ask_of("c1"))) == [ApprovalRevoked(approval_id=ask_of("c1"), by=BEN)]
    assert play.state.approvals == {}
    with pytest.raises(UnknownApproval):
        play.revoke(ask_of("c1"))


@pytest.mark.parametrize("state", [State(SESSION), State(APPROVALS), Play().state], ids=["never was", "log", "new"])
def test_an_approval_that_is_not_there_cannot_be_revoked(state: State) -> None:
    with pytest.raises(UnknownApproval):
        decide.revoke(state, RevokeApproval(session=state.session, approval=AskId("a"), by=ANNE))


def approvals() -> State:
    approval = Approval(AskId("a"), "person", "bash", "make", command="make")
    return fold(APPROVALS, [Recorded(APPROVALS, 1, 0, 7, ApprovalGranted(approval=approval, by=ANNE))])


def test_the_log_of_approvals_cannot_be_deleted() -> None:
    """Symptom: after `coder sessions delete approvals`, nothing could be approved for good any more."""
    assert decide.delete(approvals(), DeleteSession(session=APPROVALS, by=ANNE)) == []


@pytest.mark.parametrize("state", [State(APPROVALS), approvals()], ids=["empty", "used"])
def test_no_session_can_have_the_name_of_the_log_of_approvals(state: State) -> None:
    with pytest.raises(BadInput):
        decide.create(state, CreateSession(session=APPROVALS, cwd="/w", model="m", by=ANNE))


def test_an_approval_in_the_log_of_approvals_is_revoked_there() -> None:
    state = approvals()
    revoked = decide.revoke(state, RevokeApproval(session=APPROVALS, approval=AskId("a"), by=BEN))
    assert revoked == [ApprovalRevoked(approval_id=AskId("a"), by=BEN)]


def test_d12_an_answer_to_a_plan_counts_once() -> None:
    play = waiting(mode="plan")
    play.answer_turn(PlanDecision("keep"), BEN)
    late = [play.decide_on(ask_of("m2"), decision) for decision in fitting(PlanAsk(AskId("x"), PLAN))]
    assert late == [[] for _ in late]
    assert len([event for event in play.events() if isinstance(event, TurnEnded)]) == 1
