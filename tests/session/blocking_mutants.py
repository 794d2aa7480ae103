"""Rules that are wrong in one point each about turns whose agent blocks."""

from msgspec.structs import replace

from coderelay.protocol.asks import Allow, Deny
from coderelay.protocol.calls import Call, Need, Outcome, Unknown
from coderelay.protocol.events import (
    AnyEvent,
    AskAnswered,
    BatchResumed,
    CallEnded,
    CallProposed,
    CallStarted,
    Judged,
    MessageAdded,
    Recorded,
    SessionClaimed,
    TurnStarted,
)
from coderelay.protocol.ids import AskId, CallId, MessageId
from coderelay.session import turn_event_builder
from coderelay.session.state import CallState, State
from tests.session.mutants import Mutant, started


class HeldAskLosesItsOwner(Mutant):
    breaks = "the row says"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        if isinstance(recorded.event, CallProposed) and recorded.event.judged.ask is not None:
            state.last_owner, state.owner = state.owner, None


class GrownBatchForgetsEarlierAsks(Mutant):
    breaks = "the row says"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        event = recorded.event
        if isinstance(event, CallProposed) and state.batch is not None:
            state.batch.asks = [event.judged.ask.id] if event.judged.ask is not None else []


class CallIsProposedTwice(Mutant):
    breaks = "proposed twice"

    def propose(self, state: State, call: Call, judged: Judged) -> list[AnyEvent]:
        known, turn = state.calls.get(call.id), state.turn
        if known is None or turn is None or turn.stop_requested:
            return super().propose(state, call, judged)
        return [CallProposed(turn_id=turn.started.turn_id, batch_id=known.batch_id, call=call, judged=judged)]


class AllowedCallIsNotStarted(Mutant):
    breaks = "passed over"

    def propose(self, state: State, call: Call, judged: Judged) -> list[AnyEvent]:
        return [each for each in super().propose(state, call, judged) if not isinstance(each, CallStarted)]


class DeniedCallIsMade(Mutant):
    breaks = "nobody allowed"

    def propose(self, state: State, call: Call, judged: Judged) -> list[AnyEvent]:
        events = super().propose(state, call, judged)
        made = [started(CallState(call, each.batch_id, judged)) for each in events if isinstance(each, CallEnded)]
        return [*events[:1], *made] if made else events


class HeldCallIsMadeAtOnce(Mutant):
    breaks = "nobody allowed"

    def propose(self, state: State, call: Call, judged: Judged) -> list[AnyEvent]:
        events = super().propose(state, call, judged)
        held = judged.ask is not None and bool(events)
        return [*events, started(CallState(call, _batch(events), judged))] if held else events


class StopDoesNotReachTheAgent(Mutant):
    breaks = "after the stop"

    def propose(self, state: State, call: Call, judged: Judged) -> list[AnyEvent]:
        assert state.turn is not None
        return super().propose(replace(state, turn=replace(state.turn, stop_requested=False)), call, judged)

    def hear(self, state: State, call: Call, need: Need, outcome: Outcome) -> list[AnyEvent]:
        assert state.turn is not None
        return super().hear(replace(state, turn=replace(state.turn, stop_requested=False)), call, need, outcome)


class AgentIsToldBeforeTheAnswer(Mutant):
    breaks = "says why|outlives its call"

    def is_released(self, state: State, call_id: CallId, *, together: bool) -> bool:
        return True


class DeniedCallIsReleased(Mutant):
    breaks = "nobody allowed"

    def release(self, state: State, call_id: CallId) -> list[AnyEvent]:
        events = super().release(state, call_id)
        return [started(state.calls[call_id])] if any(isinstance(each, CallEnded) for each in events) else events


class EndIsHeardTwice(Mutant):
    breaks = "outside of its batch"

    def hear(self, state: State, call: Call, need: Need, outcome: Outcome) -> list[AnyEvent]:
        events = super().hear(state, call, need, outcome)
        known = state.calls.get(call.id)
        if events or known is None or state.turn is None:
            return events
        return [CallEnded(batch_id=known.batch_id, call_id=call.id, outcome=outcome)]


class UnaskedCallIsLeftRunning(Mutant):
    breaks = "did not ask about has no end"

    def hear(self, state: State, call: Call, need: Need, outcome: Outcome) -> list[AnyEvent]:
        events = super().hear(state, call, need, outcome)
        return events[:-1] if call.id not in state.calls else events


class WithdrawnAskStaysOpen(Mutant):
    breaks = "outlives its call"

    def hear(self, state: State, call: Call, need: Need, outcome: Outcome) -> list[AnyEvent]:
        events = super().hear(state, call, need, outcome)
        return [each for each in events if not isinstance(each, AskAnswered | BatchResumed)]


class WithdrawnAskDoesNotResume(Mutant):
    breaks = "not at all"

    def hear(self, state: State, call: Call, need: Need, outcome: Outcome) -> list[AnyEvent]:
        return [each for each in super().hear(state, call, need, outcome) if not isinstance(each, BatchResumed)]


class AgentEndsItsTurnWithCallsOpen(Mutant):
    breaks = "before every call had its end|not between two steps"

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
        events = super().after_message(state, message, judged, final=final, now=now, plan_ask=plan_ask)
        return [each for each in events if not (state.is_blocking and isinstance(each, CallEnded))]


class ClaimLeavesHeldCallsOpen(Mutant):
    breaks = "left a call open|a lost call was left open"

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        events = super().claim(state, claim)
        stopped = state.turn is not None and state.turn.stop_requested
        ended = not stopped and state.is_blocking
        return [each for each in events if not (ended and isinstance(each, CallEnded))] if ended else events


class ClaimMakesHeldCalls(Mutant):
    breaks = "left a call open"

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        events = super().claim(state, claim)
        calls = [each for each in state.open_calls() if each.started_epoch is None and isinstance(each.answer, Allow)]
        if not state.is_blocking or not calls or (state.turn is not None and state.turn.stop_requested):
            return events
        ids = {each.call.id for each in calls}
        others = [each for each in events if not (isinstance(each, CallEnded) and each.call_id in ids)]
        return [*others, *map(started, calls)] if isinstance(events[0], SessionClaimed) else events


class GrantIsUsedAgain(Mutant):
    breaks = "uses an answer again"

    def with_grant(self, state: State, judged: Judged, call: Call) -> Judged:
        calls = {each: replace(known, judged=replace(known.judged, granted_by=None)) for each, known in _all(state)}
        return super().with_grant(replace(state, calls=calls), judged, call)


class GrantCoversAnyCall(Mutant):
    breaks = "the answer to another call"

    def with_grant(self, state: State, judged: Judged, call: Call) -> Judged:
        calls = {each: replace(known, call=replace(call, id=each)) for each, known in _all(state)}
        return super().with_grant(replace(state, calls=calls), judged, call)


class GrantLoosensADenial(Mutant):
    breaks = "loosens a denial"

    def with_grant(self, state: State, judged: Judged, call: Call) -> Judged:
        granted = super().with_grant(state, replace(judged, verdict="ask"), call)
        return granted if granted.granted_by is not None else judged


class GrantOutlivesItsTurn(Mutant):
    breaks = "another turn or no person gave"

    def with_grant(self, state: State, judged: Judged, call: Call) -> Judged:
        assert state.turn is not None
        return super().with_grant(replace(state, turn=replace(state.turn, calls=[*state.calls])), judged, call)


class DenialIsAGrant(Mutant):
    breaks = "another turn or no person gave"

    def with_grant(self, state: State, judged: Judged, call: Call) -> Judged:
        denied = {
            each: replace(known, answer=Allow(), outcome=Unknown())
            for each, known in _all(state)
            if isinstance(known.answer, Deny) and known.outcome is not None
        }
        return super().with_grant(replace(state, calls=state.calls | denied), judged, call)


class RunCallsCountAsGrants(Mutant):
    breaks = "another turn or no person gave"

    def with_grant(self, state: State, judged: Judged, call: Call) -> Judged:
        calls = {each: replace(known, started_epoch=None) for each, known in _all(state)}
        return super().with_grant(replace(state, calls=calls), judged, call)


class SummaryTurnBlocks(Mutant):
    breaks = "needs nobody who blocks"

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        events = super().claim(state, claim)
        return [replace(each, blocking=claim.blocking) if isinstance(each, TurnStarted) else each for each in events]


BLOCKING_MUTANTS: list[type[Mutant]] = [
    HeldAskLosesItsOwner,
    GrownBatchForgetsEarlierAsks,
    CallIsProposedTwice,
    AllowedCallIsNotStarted,
    DeniedCallIsMade,
    HeldCallIsMadeAtOnce,
    StopDoesNotReachTheAgent,
    AgentIsToldBeforeTheAnswer,
    DeniedCallIsReleased,
    EndIsHeardTwice,
    UnaskedCallIsLeftRunning,
    WithdrawnAskStaysOpen,
    WithdrawnAskDoesNotResume,
    AgentEndsItsTurnWithCallsOpen,
    ClaimLeavesHeldCallsOpen,
    ClaimMakesHeldCalls,
    GrantIsUsedAgain,
    GrantCoversAnyCall,
    GrantLoosensADenial,
    GrantOutlivesItsTurn,
    DenialIsAGrant,
    RunCallsCountAsGrants,
    SummaryTurnBlocks,
]


def _all(state: State) -> list[tuple[CallId, CallState]]:
    return [*state.calls.items()]


def _batch(events: list[AnyEvent]) -> MessageId:
    (proposed,) = [each for each in events if isinstance(each, CallProposed)]
    return proposed.batch_id
