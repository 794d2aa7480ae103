"""Outcomes of calls that did not run to their end: refused, not wanted any more, or cut short with their turn."""

from collections.abc import Callable

from coderelay.protocol.asks import Allow, Answers, Deny, PermissionAsk, PlanDecision
from coderelay.protocol.calls import Denied, Failed, Finished, Outcome, Stopped, Unknown
from coderelay.protocol.events import Ending
from coderelay.protocol.translatable import say
from coderelay.session.state import CallState, State

Rejudge = Callable[[State, CallState], Denied | PermissionAsk | None]
"""The objection of today's policy to a call that was judged earlier and is to start now, or None."""


def outcome_without_running(call: CallState) -> Outcome | None:
    """How this call ends without running, or None if it may run. Silence is never consent."""
    judged = call.judged
    if judged.need.problem is not None:
        return Failed(judged.need.problem, said=judged.need.said)
    if judged.verdict == "allow":
        return None
    if judged.verdict == "deny":
        return Denied(judged.reason, said=judged.said)
    match call.answer:
        case Allow():
            return None
        case Answers(answers):
            told = "\n".join(f"{question}\n→ {answer}" for question, answer in answers.items())
            return Finished(told, summary=", ".join(answers.values()))
        case PlanDecision():
            return _plan_outcome(call.answer)
        case Deny(message):
            return Denied(message or "the user denied it")
        case _:
            return Denied("the user denied it")


def _plan_outcome(decision: PlanDecision) -> Outcome:
    if decision.mode is not None:
        told = f"The plan is approved and the mode is {decision.mode} now. Carry it out."
        return Finished(told, summary="approved")
    if decision.option == "feedback":
        return Denied(say("the plan is not approved yet; the person says: {text}", text=decision.feedback))
    return Denied("the plan is not approved yet; stay in plan mode and go on planning")


def cut_short(call: CallState, ending: Ending, *, mine: bool = False, never_run: bool = False) -> Outcome:
    """How a call ends with its turn. `mine`: this owner stopped the agent that ran the call. `never_run`: the log has
    the start of the call, but no tool was called."""
    if call.started_epoch is not None and not never_run:
        return Stopped(started=True) if mine and ending == "stopped" else Unknown()
    return Stopped(started=False) if ending == "stopped" else Failed("not run, because the turn failed first")
