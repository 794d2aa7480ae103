"""Rules that are wrong in one point each about asks, answers, plans and approvals."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from coderelay.policy.judge import Policy, Verdict
from coderelay.protocol.asks import Allow, Answers, Approval, PermissionAsk, PlanDecision, QuestionAsk
from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.commands import AnswerAsk
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import (
    AnyEvent,
    ApprovalRevoked,
    AskAnswered,
    CallAsked,
    CallEnded,
    Judged,
    MessageAdded,
    PromptAdmitted,
    Recorded,
    SessionConfigured,
    TurnEnded,
)
from coderelay.protocol.ids import AskId, CallId
from coderelay.session import turn_event_builder
from coderelay.session.state import State
from tests.session.mutants import Mutant, started
from tests.session.played_session import NOBODY


class AskingAgainGoesOnAtOnce(Mutant):
    breaks = "while its batch waits|nobody's owner"

    def ask_again(self, state: State, call_id: CallId, ask: PermissionAsk) -> list[AnyEvent]:
        events = super().ask_again(state, call_id, ask)
        return [*events, started(state.calls[call_id])] if isinstance(events[0], CallAsked) else events


class AskingAgainIsNotWaitedFor(Mutant):
    """The answer the call had before is taken for the new one."""

    breaks = "the row says|due is Wait"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        if isinstance(recorded.event, CallAsked) and state.batch is not None:
            state.batch.asks.pop()
            state.calls[recorded.event.call_id].answer = Allow()


class AskingAgainNeedsNoAnswer(Mutant):
    breaks = "nobody allowed"

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        events = super().claim(state, claim)
        left = state.open_calls()
        if not left or (state.turn and state.turn.stop_requested) or left[0].started_epoch is not None:
            return events
        asks = [each.ask for each in state.asks.values() if each.ask.call_id == left[0].call.id]
        return [events[0], started(left[0])] if len(asks) > 1 else events


class AskingAgainMeetsAStop(Mutant):
    breaks = "people are asked after the stop"

    def ask_again(self, state: State, call_id: CallId, ask: PermissionAsk) -> list[AnyEvent]:
        return [CallAsked(batch_id=state.calls[call_id].batch_id, call_id=call_id, ask=ask)]


class QuestionsRun(Mutant):
    breaks = "nobody allowed"

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        events = super().claim(state, claim)
        for place, event in enumerate(events):
            if isinstance(event, CallEnded) and isinstance(state.calls[event.call_id].answer, Answers | PlanDecision):
                return events if _is_stopped(state) else [*events[:place], started(state.calls[event.call_id])]
        return events


class AnswersAreLost(Mutant):
    breaks = "says why"

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        return [
            replace(each, outcome=Finished("answered"))
            if isinstance(each, CallEnded) and isinstance(state.calls[each.call_id].answer, Answers)
            else each
            for each in super().claim(state, claim)
        ]


class AnswersNeedNotFit(Mutant):
    breaks = "does not fit"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        try:
            return super().answer(state, command)
        except BadInput:
            return [AskAnswered(ask_id=command.ask, decision=command.decision, by=command.by)]


class SilenceIsConsent(Mutant):
    breaks = "silence is never consent"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        ask = state.asks[command.ask].ask if command.ask in state.asks else None
        if command.by == NOBODY and isinstance(ask, QuestionAsk):
            answers = {each.question: "yes" for each in ask.questions}
            return super().answer(state, replace(command, decision=Answers(answers)))
        return super().answer(state, command)


class PlanApprovalKeepsTheMode(Mutant):
    breaks = "session.configured.* was due"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        return [each for each in super().answer(state, command) if not isinstance(each, SessionConfigured)]


class PlanApprovalLoosensTooMuch(Mutant):
    breaks = "session.configured.* was due"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        events = super().answer(state, command)
        return [replace(each, mode="yolo") if isinstance(each, SessionConfigured) else each for each in events]


class PlanIsNotAskedAbout(Mutant):
    breaks = "nobody was asked about"

    def after_message(
        self,
        state: State,
        message: MessageAdded,
        judged: tuple[Judged, ...],
        *,
        final: bool,
        now: int,
        plan_ask: AskId | None,
    ) -> list[AnyEvent]:
        return super().after_message(state, message, judged, final=final, now=now, plan_ask=None)


class PlanIsAskedAboutTwice(Mutant):
    """At the end of the turn, although the agent had put it before the person."""

    breaks = "nobody owes"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        if state.turn is not None:
            state.turn.planned = False


class PlanTurnNeverEnds(Mutant):
    breaks = "turn.ended.* was due"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        return [each for each in super().answer(state, command) if not isinstance(each, TurnEnded)]


class PlanTurnEndsTwice(Mutant):
    breaks = "outside of a turn|prompt.admitted was due"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        events = super().answer(state, command)
        return [again for each in events for again in ([each, each] if isinstance(each, TurnEnded) else [each])]


class PlanIsApprovedAndLeft(Mutant):
    breaks = "prompt.admitted.* was due"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        return [each for each in super().answer(state, command) if not isinstance(each, PromptAdmitted)]


class ApprovedPlanWaitsForEver(Mutant):
    """Nobody has to answer the questions of the turn that carries a plan out, however long the plan would wait."""

    breaks = "was due behind the answer"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        events = super().answer(state, command)
        return [replace(each, answer_within=None) if isinstance(each, PromptAdmitted) else each for each in events]


class ApprovalsCoverAnyCommand(Mutant):
    breaks = "allow instead of ask"

    def judge(self, needs: Sequence[Need], policy: Policy) -> list[Verdict]:
        commands = {each.command for each in needs}
        widened = [replace(each, command=command) for each in policy.approvals for command in commands]
        return super().judge(needs, replace(policy, approvals=tuple(widened)))


class ApprovalsCoverSomeOfThePaths(Mutant):
    breaks = "allow instead of ask"

    def judge(self, needs: Sequence[Need], policy: Policy) -> list[Verdict]:
        widened = [replace(each, paths=(path,)) for each in policy.approvals for path in each.paths]
        return super().judge(needs, replace(policy, approvals=(*policy.approvals, *widened)))


class ApprovalsCountInEveryFolder(Mutant):
    breaks = "allow instead of ask"

    def in_force(self, approvals: Iterable[Approval], cwd: str) -> tuple[Approval, ...]:
        return tuple(approvals)


class ApprovalsLoosenAMode(Mutant):
    breaks = "allow instead of deny"

    def judge(self, needs: Sequence[Need], policy: Policy) -> list[Verdict]:
        asked = super().judge(needs, replace(policy, mode="default", approvals=policy.approvals))
        judged = super().judge(needs, policy)
        return [one if one.reason == "approved before" else other for one, other in zip(asked, judged, strict=True)]


class RevokedApprovalsCount(Mutant):
    breaks = "allow instead of ask|that nobody gave"

    def apply(self, state: State, recorded: Recorded) -> None:
        if isinstance(recorded.event, ApprovalRevoked):
            state.head = recorded.seq
        else:
            super().apply(state, recorded)


ASKING_MUTANTS: list[type[Mutant]] = [
    AskingAgainGoesOnAtOnce,
    AskingAgainIsNotWaitedFor,
    AskingAgainNeedsNoAnswer,
    AskingAgainMeetsAStop,
    QuestionsRun,
    AnswersAreLost,
    AnswersNeedNotFit,
    SilenceIsConsent,
    PlanApprovalKeepsTheMode,
    PlanApprovalLoosensTooMuch,
    PlanIsNotAskedAbout,
    PlanIsAskedAboutTwice,
    PlanTurnNeverEnds,
    PlanTurnEndsTwice,
    PlanIsApprovedAndLeft,
    ApprovedPlanWaitsForEver,
    ApprovalsCoverAnyCommand,
    ApprovalsCoverSomeOfThePaths,
    ApprovalsCountInEveryFolder,
    ApprovalsLoosenAMode,
    RevokedApprovalsCount,
]


def _is_stopped(state: State) -> bool:
    return state.turn is not None and state.turn.stop_requested
