"""Rules that are wrong in one point each about commands that were left running."""

from coderelay.protocol.asks import By
from coderelay.protocol.background_commands import End, Gone
from coderelay.protocol.events import (
    AnyEvent,
    BackgroundEnded,
    BackgroundStopRequested,
    CallEnded,
    HistoryCompacted,
    Recorded,
    StopRequested,
    TurnUndone,
)
from coderelay.protocol.ids import BackgroundId
from coderelay.session import turn_event_builder
from coderelay.session.state import State
from tests.session.mutants import Mutant


class NumbersCountThoseThatRun(Mutant):
    breaks = "is not new"

    def next_background(self, state: State) -> BackgroundId:
        return BackgroundId(str(1 + sum(1 for each in state.background.values() if each.end is None)))


class CommandEndsTwice(Mutant):
    breaks = "does not run"

    def end_background(self, state: State, number: BackgroundId, end: End) -> list[AnyEvent]:
        return [BackgroundEnded(background_id=number, end=end)]


class CommandIsAskedToStopTwice(Mutant):
    breaks = "asked to stop twice"

    def stop_background(self, state: State, number: BackgroundId, by: By) -> list[AnyEvent]:
        events = super().stop_background(state, number, by)
        runs = state.background[number].end is None
        return events or ([BackgroundStopRequested(background_id=number, by=by)] if runs else [])


class ClaimForgetsWhatIsGone(Mutant):
    breaks = "is gone, untold"

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        return [each for each in super().claim(state, claim) if not isinstance(each, BackgroundEnded)]


class ClaimTakesAllForGone(Mutant):
    """As if nobody but the owner of a session could have a command of it."""

    breaks = "lives"

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        events = super().claim(state, claim)
        told = {each.background_id for each in events if isinstance(each, BackgroundEnded)}
        others = [number for number, each in state.background.items() if each.end is None and number not in told]
        return [*events, *(BackgroundEnded(background_id=number, end=Gone()) for number in others)]


class StoppedTurnEndsItsCommands(Mutant):
    breaks = "are in the background instead|the row says"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        if isinstance(recorded.event, StopRequested):
            for each in state.background.values():
                each.end = each.end or Gone()


class UndoneTurnTakesItsCommandsAlong(Mutant):
    breaks = "are in the background instead|the row says"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        if isinstance(recorded.event, TurnUndone):
            state.background.clear()


class SummaryForgetsCommands(Mutant):
    breaks = "are in the background instead|the row says"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        if isinstance(recorded.event, HistoryCompacted):
            state.background.clear()


class SummaryLeavesEveryEndKnown(Mutant):
    """Told or not."""

    breaks = "are in the background instead"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        if isinstance(recorded.event, HistoryCompacted):
            for each in state.background.values():
                each.old = each.end is not None


class WhatWasLeftRunningIsToldAgain(Mutant):
    breaks = "is thought to know"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        if isinstance(recorded.event, CallEnded):
            state.told = {topic: text for topic, text in state.told.items() if not topic.startswith("background:")}


BACKGROUND_MUTANTS: list[type[Mutant]] = [
    NumbersCountThoseThatRun,
    CommandEndsTwice,
    CommandIsAskedToStopTwice,
    ClaimForgetsWhatIsGone,
    ClaimTakesAllForGone,
    StoppedTurnEndsItsCommands,
    UndoneTurnTakesItsCommandsAlong,
    SummaryForgetsCommands,
    SummaryLeavesEveryEndKnown,
    WhatWasLeftRunningIsToldAgain,
]
