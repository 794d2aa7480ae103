"""Rules that are wrong in one point each, to see that the machine and its checker notice."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec.structs import replace

from coderelay.protocol.commands import AnswerAsk, SendPrompt
from coderelay.protocol.events import (
    AnyEvent,
    AskAnswered,
    BatchOpened,
    BatchResumed,
    CallEnded,
    CallStarted,
    Ending,
    Judged,
    MessageAdded,
    SessionClaimed,
    StopRequested,
)
from coderelay.protocol.ids import AskId
from coderelay.session import turn_event_builder
from coderelay.session.next_action import Action, AskModel, StartTurn, Wait, next_action
from coderelay.session.state import CallState, State
from tests.session.replaceable_rules import Rules


class Mutant(Rules):
    breaks: ClassVar[str]  # what the checker must say of it


class ClaimRestartsCalls(Mutant):
    breaks = "a call started twice"

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        lost = [each for each in state.open_calls() if each.started_epoch is not None]
        if not lost or (state.turn is not None and state.turn.stop_requested):
            return super().claim(state, claim)
        return [SessionClaimed(owner=claim.owner, epoch=state.epoch + 1), started(lost[0])]


class ClaimRunsWhatWasDenied(Mutant):
    breaks = "nobody allowed"

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        events = super().claim(state, claim)
        ended = [state.calls[each.call_id] for each in events if isinstance(each, CallEnded)]
        if not ended or ended[0].started_epoch is not None or (state.turn and state.turn.stop_requested):
            return events
        return [events[0], started(ended[0])]


class ClaimTakesTheLastPromptFirst(Mutant):
    breaks = "out of order"

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        return super().claim(replace(state, queue=state.queue[::-1]), claim)


class AnswerCountsTwice(Mutant):
    breaks = "answered twice|not open|outside of a turn|counted after the stop"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        return super().answer(state, command) or [
            AskAnswered(ask_id=command.ask, decision=command.decision, by=command.by)
        ]


class AnswerResumesTwice(Mutant):
    breaks = "resumed twice"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        events = super().answer(state, command)
        return [*events, *(each for each in events if isinstance(each, BatchResumed))]


class AnswerResumesAtTheFirst(Mutant):
    breaks = "resumed too early|resumed twice"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        events = super().answer(state, command)
        if state.batch is None or any(isinstance(each, StopRequested | BatchResumed) for each in events):
            return events
        return [*events, BatchResumed(batch_id=state.batch.id)] if events else []


class AnswerNeverResumes(Mutant):
    breaks = "not at all"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        return [each for each in super().answer(state, command) if not isinstance(each, BatchResumed)]


class StopLeavesCallsOpen(Mutant):
    breaks = "before every call had its end"

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        events = super().claim(state, claim)
        return _without_ends(events) if state.turn is not None and state.turn.stop_requested else events

    def close_turn(self, state: State, ending: Ending, *, now: int, error: str | None) -> list[AnyEvent]:
        events = super().close_turn(state, ending, now=now, error=error)
        return _without_ends(events) if ending == "stopped" else events


class StopIsForgottenByTheQueue(Mutant):
    breaks = "due is Rest"

    def next_action(self, state: State) -> Action:
        action = super().next_action(state)
        return StartTurn() if state.turn is None and state.queue else action


class StopDoesNotReachTheMessage(Mutant):
    breaks = "after the stop|if and only if somebody stopped it"

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
        assert state.turn is not None
        running = replace(state, turn=replace(state.turn, stop_requested=False))
        return super().after_message(running, message, judged, final=final, now=now, plan_ask=plan_ask)


class MessageStartsCallsWhilePeopleAreAsked(Mutant):
    breaks = "while its batch waits|nobody's owner"

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
        opened = [each for each in events if isinstance(each, BatchOpened)]
        asked = any(each.ask is not None for batch in opened for each in batch.judged)
        waits = asked and judged[0].verdict == "allow"
        first = CallState(message.calls[0], message.message_id, judged[0]) if message.calls else None
        return [*events, started(first)] if waits and first is not None else events


class CallEndSkipsOne(Mutant):
    breaks = "calls out of order"

    def after_calls(self, state: State, ends: Sequence[turn_event_builder.End], *, go_on: bool) -> list[AnyEvent]:
        events = super().after_calls(state, ends, go_on=go_on)
        left = [each for each in state.open_calls() if each.started_epoch is None]
        return [events[0], started(left[-1])] if isinstance(events[-1], CallStarted) else events


class ModelIsAskedWhilePeopleAre(Mutant):
    breaks = "due is Wait"

    def next_action(self, state: State) -> Action:
        action = next_action(state)
        return AskModel() if isinstance(action, Wait) else action


class PromptCountsTwice(Mutant):
    breaks = "admitted twice"

    def send_prompt(self, state: State, command: SendPrompt) -> list[AnyEvent]:
        return super().send_prompt(replace(state, prompt_ids=set()), command)


MUTANTS: list[type[Mutant]] = [
    ClaimRestartsCalls,
    ClaimRunsWhatWasDenied,
    ClaimTakesTheLastPromptFirst,
    AnswerCountsTwice,
    AnswerResumesTwice,
    AnswerResumesAtTheFirst,
    AnswerNeverResumes,
    StopLeavesCallsOpen,
    StopIsForgottenByTheQueue,
    StopDoesNotReachTheMessage,
    MessageStartsCallsWhilePeopleAreAsked,
    CallEndSkipsOne,
    ModelIsAskedWhilePeopleAre,
    PromptCountsTwice,
]


def started(call: CallState) -> CallStarted:
    return CallStarted(batch_id=call.batch_id, call_id=call.call.id)


def _without_ends(events: list[AnyEvent]) -> list[AnyEvent]:
    return [each for each in events if not isinstance(each, CallEnded)]
