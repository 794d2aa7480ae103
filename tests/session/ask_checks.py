"""Checks of asks and answers in a log, written a second time with none of the code under test."""

from collections.abc import Iterable

from msgspec.structs import replace

from coderelay.protocol.asks import (
    Allow,
    Answers,
    Approval,
    Ask,
    BudgetAsk,
    Decision,
    Deny,
    DenyAndStop,
    OfferAsk,
    PermissionAsk,
    PlanAsk,
    PlanDecision,
    QuestionAsk,
)
from coderelay.protocol.calls import Denied, Failed, Finished, Need, Outcome
from coderelay.protocol.events import (
    AnyEvent,
    AskAnswered,
    Judged,
    PromptAdmitted,
    SessionConfigured,
    StopRequested,
    TurnEnded,
    TurnStarted,
)
from coderelay.protocol.ids import PromptId
from coderelay.protocol.session_setting_values import Mode

CARRY_OUT = "The plan is approved. Carry it out now."
NOT_ALLOWED = "the user denied it"
APPROVING: dict[str, Mode] = {"smart": "auto-edit", "default": "default"}


class BrokenPromise(AssertionError):
    pass


def promise(kept: bool, otherwise: str) -> None:
    if not kept:
        raise BrokenPromise(otherwise)


def verdict_on(need: Need, mode: Mode, allowed_tools: tuple[str, ...], approved: Iterable[Approval]) -> str:
    """`approved` is everything that was approved and counts in this folder."""
    if need.problem is not None:
        return "deny"
    if need.kind == "ask":
        return "deny" if need.plan is not None and mode != "plan" else "ask"
    if allowed_tools and need.tool not in allowed_tools:
        return "deny"
    if need.kind == "read" or mode == "yolo" or (mode == "auto-edit" and need.kind == "edit"):
        return "allow"
    if mode == "plan":
        return "deny"
    wanted = (need.tool, need.command, need.paths)
    return "allow" if any((each.tool, each.command, each.paths) == wanted for each in approved) else "ask"


def is_asked_rightly(judged: Judged) -> bool:
    """Whoever must be asked is asked about this call, in the words of its need; nobody else is."""
    need, ask = judged.need, judged.ask
    match ask:
        case None:
            return judged.verdict != "ask"
        case PermissionAsk():
            kept = ask.need == need and bool(ask.reason) and need.kind != "ask"
        case QuestionAsk():
            kept = ask.questions == need.questions != ()
        case PlanAsk():
            kept = ask.plan == need.plan
        case _:
            return False  # no other kind is about a call
    return judged.verdict == "ask" and ask.call_id == judged.call_id and kept


def fits(ask: Ask, decision: Decision) -> bool:
    """Whether this is an answer to what was asked (X-37)."""
    match ask, decision:
        case _, Deny() | DenyAndStop():
            return True
        case _, Allow():
            return ask.answered_by is Allow
        case QuestionAsk(), Answers(answers):
            complete = all(answers.get(each.question, "").strip() for each in ask.questions)
            return complete and len(answers) == len(ask.questions)
        case PlanAsk(), PlanDecision(option="feedback", feedback=feedback):
            return bool(feedback.strip())
        case PlanAsk(), PlanDecision():
            return True
        case _:
            return False


def follows_from(ask: Ask, event: AskAnswered, turn: TurnStarted, then: TurnEnded | None) -> list[AnyEvent]:
    """What must be in the same append behind an answer. `then` is there if nothing else of the turn was left."""
    by = event.by
    match event.decision:
        case DenyAndStop():
            return [StopRequested(by=by)]
        case Deny() if isinstance(ask, BudgetAsk):
            return [StopRequested(by=by)]
        case Allow() if isinstance(ask, OfferAsk) and ask.what == "folder":
            return [SessionConfigured(by=by, folders=(ask.name,))]
        case PlanDecision(option="feedback", feedback=feedback):
            changed, said = [], feedback
        case PlanDecision(option=option) if option in APPROVING:
            changed, said = [SessionConfigured(by=by, mode=APPROVING[option])], CARRY_OUT
        case _:
            changed, said = [], None
    if then is None:
        return [*changed]
    if said is None:
        return [*changed, then]
    within, unanswered = turn.answer_within, turn.unanswered
    prompt = PromptAdmitted(prompt_id=PromptId(""), text=said, by=by, answer_within=within, unanswered=unanswered)
    return [*changed, then, prompt]


def is_expected(expected: AnyEvent, event: AnyEvent) -> bool:
    if isinstance(expected, PromptAdmitted) and isinstance(event, PromptAdmitted):
        return replace(expected, prompt_id=event.prompt_id) == event
    return expected == event


def only_reads(need: Need) -> bool:
    """Whether others may run at the same time. Of a command nobody knows."""
    return need.kind == "read" and need.command is None


def may_run(judged: Judged, decision: Decision | None) -> bool:
    need = judged.need
    if need.problem is not None or need.questions or need.plan is not None:
        return False
    return judged.verdict == "allow" or isinstance(decision, Allow)


def ends_as_decided(judged: Judged, decision: Decision | None, outcome: Outcome) -> bool:
    """Whether a call that did not run ends the way it was decided."""
    if judged.need.problem is not None:
        return outcome == Failed(judged.need.problem, said=judged.need.said)
    if judged.verdict == "deny":
        return outcome == Denied(judged.reason, said=judged.said)
    match decision:
        case Deny(message):
            return outcome == Denied(message or NOT_ALLOWED)
        case Answers(answers):
            told = outcome.output if isinstance(outcome, Finished) else ""
            return all(question in told and answer in told for question, answer in answers.items())
        case PlanDecision(option=option) if option in APPROVING:
            return isinstance(outcome, Finished) and f"the mode is {APPROVING[option]} now" in outcome.output
        case PlanDecision(feedback=feedback):
            return isinstance(outcome, Denied) and feedback in outcome.message
        case _:
            return False
