"""Rules that are wrong in one point each about settings that wait, cleared histories and deadlines."""

from msgspec.structs import replace

from coderelay.protocol.asks import Ask, Deny, DenyAndStop
from coderelay.protocol.commands import AnswerAsk, ClearHistory, ConfigureSession
from coderelay.protocol.events import (
    AnyEvent,
    AskAnswered,
    AskParked,
    HistoryCleared,
    Judged,
    MessageAdded,
    Recorded,
    SessionConfigured,
    StopRequested,
    TurnEnded,
    asks_in,
)
from coderelay.protocol.ids import AskId
from coderelay.session.settings_change_timing import Facts
from coderelay.session.state import State
from tests.session.mutants import Mutant
from tests.session.played_session import NOBODY, TOO_LATE


class LooserModeCountsAtOnce(Mutant):
    breaks = "loosened under a turn|folder changed under a turn"

    def configure(self, state: State, command: ConfigureSession, facts: Facts) -> list[AnyEvent]:
        events = super().configure(state, command, facts)
        return [replace(each, next_turn=False) if isinstance(each, SessionConfigured) else each for each in events]


class StricterModeWaits(Mutant):
    breaks = "stricter mode waits"

    def configure(self, state: State, command: ConfigureSession, facts: Facts) -> list[AnyEvent]:
        events = super().configure(state, command, facts)
        later = command.when == "next_turn" and state.turn is not None
        return [replace(each, next_turn=later) if isinstance(each, SessionConfigured) else each for each in events]


class FolderChangesUnderATurn(Mutant):
    breaks = "folder changed under a turn"

    def configure(self, state: State, command: ConfigureSession, facts: Facts) -> list[AnyEvent]:
        if state.turn is None or command.when == "next_turn":
            return super().configure(state, command, facts)
        between_turns = replace(state, turn=None)
        return super().configure(between_turns, command, facts)


class WaitingSettingsAreForgotten(Mutant):
    breaks = "are in force|the row says"

    def apply(self, state: State, recorded: Recorded) -> None:
        if isinstance(recorded.event, TurnEnded):
            state.pending = None
        super().apply(state, recorded)


class WaitingSettingsReplaceALaterChoice(Mutant):
    breaks = "are in force|the row says"

    def apply(self, state: State, recorded: Recorded) -> None:
        pending = state.pending
        super().apply(state, recorded)
        event = recorded.event
        if isinstance(event, SessionConfigured) and not event.next_turn:
            state.pending = pending


class HistoryIsClearedInATurn(Mutant):
    breaks = "cleared while a turn is open"

    def clear(self, state: State, command: ClearHistory) -> list[AnyEvent]:
        return super().clear(replace(state, turn=None), command)


class EmptyHistoryIsCleared(Mutant):
    breaks = "that is empty"

    def clear(self, state: State, command: ClearHistory) -> list[AnyEvent]:
        return super().clear(state, command) or [HistoryCleared(by=command.by)]


class ClearedHistoryIsSentAgain(Mutant):
    breaks = "missing or strange|two of|that is empty"

    def apply(self, state: State, recorded: Recorded) -> None:
        history = [*state.history]
        super().apply(state, recorded)
        if isinstance(recorded.event, HistoryCleared):
            state.history = history


class ModelIsNotToldAgainAfterAClear(Mutant):
    breaks = "thought to know"

    def apply(self, state: State, recorded: Recorded) -> None:
        told = dict(state.told)
        super().apply(state, recorded)
        if isinstance(recorded.event, HistoryCleared):
            state.told = told


class ClearedWindowStaysFull(Mutant):
    breaks = "the row says"

    def apply(self, state: State, recorded: Recorded) -> None:
        tokens = state.context_tokens
        super().apply(state, recorded)
        if isinstance(recorded.event, HistoryCleared):
            state.context_tokens = tokens


class EndedCommandIsToldAgainAfterAClear(Mutant):
    breaks = "in the background instead"

    def apply(self, state: State, recorded: Recorded) -> None:
        old = {number: each.old for number, each in state.background.items()}
        super().apply(state, recorded)
        if isinstance(recorded.event, HistoryCleared):
            for number, each in state.background.items():
                each.old = old[number]


class AskIsParkedTwice(Mutant):
    breaks = "due although|or twice"

    def due_asks(self, state: State, now: int) -> list[Ask]:
        return [each for each in state.open_asks() if each.deadline is not None and each.deadline <= now]


class AskIsParkedAsItIsOpened(Mutant):
    breaks = "still wait for"

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
        asks = [ask for each in events for ask in asks_in(each)]
        return [*events, *(AskParked(ask_id=each.id) for each in asks if each.unanswered == "park")]


class AskThatIsToStopIsParked(Mutant):
    breaks = "still wait for"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        late = command.by == NOBODY and isinstance(command.decision, DenyAndStop)
        events = super().answer(state, command)
        return [AskParked(ask_id=command.ask)] if late and events else events


class ParkedAskIsClosed(Mutant):
    breaks = "the row says"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        if isinstance(recorded.event, AskParked):
            state.asks[recorded.event.ask_id].closed = True


class ParkedAskIsDenied(Mutant):
    breaks = "silence is never consent"

    def park(self, state: State, ask_id: AskId, now: int) -> list[AnyEvent]:
        parked = super().park(state, ask_id, now)
        return [AskAnswered(ask_id=ask_id, decision=TOO_LATE, by=NOBODY)] if parked else []


class DeadlineThatStopsOnlyDenies(Mutant):
    breaks = "silence is never consent"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        late = command.by == NOBODY and isinstance(command.decision, DenyAndStop)
        return super().answer(state, replace(command, decision=Deny("too late")) if late else command)


class DeadlineThatStopsLeavesTheTurn(Mutant):
    breaks = "was due behind the answer"

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        events = super().answer(state, command)
        return [each for each in events if command.by != NOBODY or not isinstance(each, StopRequested)]


SETTINGS_MUTANTS = [
    LooserModeCountsAtOnce,
    StricterModeWaits,
    FolderChangesUnderATurn,
    WaitingSettingsAreForgotten,
    WaitingSettingsReplaceALaterChoice,
    HistoryIsClearedInATurn,
    EmptyHistoryIsCleared,
    ClearedHistoryIsSentAgain,
    ModelIsNotToldAgainAfterAClear,
    ClearedWindowStaysFull,
    EndedCommandIsToldAgainAfterAClear,
    AskIsParkedTwice,
    AskIsParkedAsItIsOpened,
    AskThatIsToStopIsParked,
    ParkedAskIsClosed,
    ParkedAskIsDenied,
    DeadlineThatStopsOnlyDenies,
    DeadlineThatStopsLeavesTheTurn,
]
