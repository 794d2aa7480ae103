"""Rules that are wrong in one point each about messages that an agent hands in as they are."""

from collections.abc import Sequence

from msgspec.structs import replace

from coderelay.protocol.events import (
    AnyEvent,
    CallEnded,
    CallProposed,
    MessageAdded,
    MessageKept,
    Recorded,
    SessionClaimed,
    TurnEnded,
    TurnStarted,
)
from coderelay.session.state import KeptMessages, State
from tests.session.mutants import Mutant


class RepeatedMessageIsKeptAgain(Mutant):
    breaks = "kept twice"

    def keep(self, state: State, messages: Sequence[MessageKept]) -> list[AnyEvent]:
        return [*messages]


class MessageAndItsEventAreBothShown(Mutant):
    breaks = "shown again"

    def mark(self, state: State, events: list[AnyEvent]) -> list[AnyEvent]:
        return events


class ProposedCallCountsAsItsResult(Mutant):
    breaks = "is not shown"

    def mark(self, state: State, events: list[AnyEvent]) -> list[AnyEvent]:
        kept = state.turn.kept if state.turn is not None else None
        return [
            replace(each, verbatim=True)
            if isinstance(each, CallEnded) and kept is not None and each.call_id in kept.calls
            else each
            for each in super().mark(state, events)
        ]


class EveryEventOfTheTurnStandsInItsMessages(Mutant):
    breaks = "is not shown"

    def mark(self, state: State, events: list[AnyEvent]) -> list[AnyEvent]:
        if state.turn is None or state.turn.kept is None:
            return events
        marked = (MessageAdded, CallProposed, CallEnded, TurnEnded)
        return [replace(each, verbatim=True) if isinstance(each, marked) else each for each in events]


class NextOwnerForgetsTheMessages(Mutant):
    breaks = "shown again|kept twice"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        if isinstance(recorded.event, SessionClaimed) and state.turn is not None:
            state.turn.kept = None


class ResultCountsForTheNextTurn(Mutant):
    breaks = "is not shown"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        before = state.last_ending
        if isinstance(recorded.event, TurnStarted) and state.turn is not None and before is not None:
            state.turn.kept = KeptMessages(has_last=True) if before.verbatim else None


VERBATIM_MUTANTS = [
    RepeatedMessageIsKeptAgain,
    MessageAndItsEventAreBothShown,
    ProposedCallCountsAsItsResult,
    EveryEventOfTheTurnStandsInItsMessages,
    NextOwnerForgetsTheMessages,
    ResultCountsForTheNextTurn,
]
