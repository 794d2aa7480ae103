"""Rules that are wrong in one point each about calls that run at the same time."""

from collections.abc import Sequence

from coderelay.protocol.calls import Unknown
from coderelay.protocol.events import AnyEvent, CallEnded, CallStarted, Judged, MessageAdded, SessionClaimed
from coderelay.protocol.ids import AskId
from coderelay.session import turn_event_builder
from coderelay.session.state import CallState, State
from coderelay.session.turn_event_builder import End, outcome_without_running
from tests.session.mutants import Mutant, started


class OthersStart(Mutant):
    """Whatever the append: it starts other calls than those that are due."""

    def choose(self, due: list[CallState], rest: list[CallState]) -> list[CallState]:
        """Each mutant chooses its own way; this one as the rules do. `rest` are the calls behind those due."""
        return due

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        return self._choose(super().claim(state, claim), state.open_calls())

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
        pairs = zip(message.calls, judged, strict=True)
        return self._choose(events, [CallState(call, message.message_id, verdict) for call, verdict in pairs])

    def after_calls(self, state: State, ends: Sequence[End], *, go_on: bool) -> list[AnyEvent]:
        return self._choose(super().after_calls(state, ends, go_on=go_on), state.open_calls())

    def _choose(self, events: list[AnyEvent], calls: list[CallState]) -> list[AnyEvent]:
        before = [each for each in events if not isinstance(each, CallStarted)]
        due = len(events) - len(before)
        ended = {each.call_id for each in events if isinstance(each, CallEnded)}
        left = [each for each in calls if each.call.id not in ended]
        return [*before, *map(started, self.choose(left[:due], left[due:]))] if due else events


class ChangesJoinReads(OthersStart):
    breaks = "changes something started beside"

    def choose(self, due: list[CallState], rest: list[CallState]) -> list[CallState]:
        joins = _reads(due[0]) and rest and outcome_without_running(rest[0]) is None
        return [*due, rest[0]] if joins else due


class ReadsJoinChanges(OthersStart):
    breaks = "changes something started beside"

    def choose(self, due: list[CallState], rest: list[CallState]) -> list[CallState]:
        joins = not _reads(due[0]) and rest and _reads(rest[0]) and outcome_without_running(rest[0]) is None
        return [*due, rest[0]] if joins else due


class CommandsThatReadJoinReads(OthersStart):
    breaks = "changes something started beside"

    def choose(self, due: list[CallState], rest: list[CallState]) -> list[CallState]:
        joins = (
            _reads(due[0])
            and rest
            and rest[0].judged.need.kind == "read"
            and outcome_without_running(rest[0]) is None
        )
        return [*due, rest[0]] if joins else due


class RefusedReadsJoinReads(OthersStart):
    breaks = "nobody allowed"

    def choose(self, due: list[CallState], rest: list[CallState]) -> list[CallState]:
        joins = _reads(due[0]) and rest and _reads(rest[0])
        return [*due, rest[0]] if joins else due


class ReadsPassByWhatWasRefused(OthersStart):
    breaks = "calls out of order"

    def choose(self, due: list[CallState], rest: list[CallState]) -> list[CallState]:
        left = [each for each in rest if outcome_without_running(each) is None]
        joins = _reads(due[0]) and left and _reads(left[0])
        return [*due, left[0]] if joins else due


class ReadsStartOneByOne(OthersStart):
    breaks = "kept apart"

    def choose(self, due: list[CallState], rest: list[CallState]) -> list[CallState]:
        return due[:1]


class ReadsStartBackwards(OthersStart):
    breaks = "calls out of order"

    def choose(self, due: list[CallState], rest: list[CallState]) -> list[CallState]:
        return due[::-1]


class ReadsEndBackwards(Mutant):
    breaks = "calls out of order"

    def after_calls(self, state: State, ends: Sequence[End], *, go_on: bool) -> list[AnyEvent]:
        return super().after_calls(state, ends[::-1], go_on=go_on)


class FirstEndEndsAll(Mutant):
    """As if the others had ended like it."""

    breaks = "calls out of order|outside of its batch"

    def after_calls(self, state: State, ends: Sequence[End], *, go_on: bool) -> list[AnyEvent]:
        over = {each.call_id for each in ends}
        left = [each.call.id for each in turn_event_builder.calls_to_run(state) if each.call.id not in over]
        also = [End(each, ends[0].outcome, ends[0].ms) for each in left]
        return super().after_calls(state, [*ends, *also], go_on=go_on)


class FirstEndStartsTheNext(Mutant):
    breaks = "while another still ran"

    def after_calls(self, state: State, ends: Sequence[End], *, go_on: bool) -> list[AnyEvent]:
        events = super().after_calls(state, ends, go_on=go_on)
        waiting = [each for each in state.open_calls() if each.started_epoch is None]
        starts = (
            go_on
            and waiting
            and outcome_without_running(waiting[0]) is None
            and not isinstance(events[-1], CallStarted)
        )
        stopped = state.turn is not None and state.turn.stop_requested
        return [*events, started(waiting[0])] if starts and not stopped else events


class ClaimRepeatsTheReads(Mutant):
    """Only the first of those that ran is taken for lost."""

    breaks = "a call started twice"

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        events, lost = super().claim(state, claim), _lost(state)
        if len(lost) < 2 or (state.turn is not None and state.turn.stop_requested):
            return events
        return [*events[:2], *map(started, lost[1:])]


class ClaimForgetsTheOthers(Mutant):
    breaks = "a lost call was left open"

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        lost = _lost(state)
        if len(lost) < 2 or (state.turn is not None and state.turn.stop_requested):
            return super().claim(state, claim)
        first = CallEnded(batch_id=lost[0].batch_id, call_id=lost[0].call.id, outcome=Unknown())
        return [SessionClaimed(owner=claim.owner, epoch=state.epoch + 1), first]


class OwnerRunsOneOfThem(Mutant):
    breaks = "would run now"

    def together(self, state: State) -> list[CallState]:
        return super().together(state)[:1]


class OwnerRunsAllThatIsLeft(Mutant):
    breaks = "would run now"

    def together(self, state: State) -> list[CallState]:
        return state.open_calls()


READING_MUTANTS: list[type[Mutant]] = [
    ChangesJoinReads,
    ReadsJoinChanges,
    CommandsThatReadJoinReads,
    RefusedReadsJoinReads,
    ReadsPassByWhatWasRefused,
    ReadsStartOneByOne,
    ReadsStartBackwards,
    ReadsEndBackwards,
    FirstEndEndsAll,
    FirstEndStartsTheNext,
    ClaimRepeatsTheReads,
    ClaimForgetsTheOthers,
    OwnerRunsOneOfThem,
    OwnerRunsAllThatIsLeft,
]


def _reads(call: CallState) -> bool:
    return call.judged.need.kind == "read" and call.judged.need.command is None


def _lost(state: State) -> list[CallState]:
    return [each for each in state.open_calls() if each.started_epoch is not None]
