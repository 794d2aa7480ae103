"""Rules that are wrong in one point each about turns that are undone."""

from coderelay.protocol.events import AnyEvent, Recorded, TreeTaken, TurnEnded, TurnStarted, TurnUndone
from coderelay.session.state import PastTurn, State
from tests.session.mutants import Mutant


class UndoDoesNotLookAgain(Mutant):
    breaks = "while one is open|than the last"

    def undone(self, state: State, event: TurnUndone) -> list[AnyEvent]:
        return [event] if state.settings is not None else []


class UndoBeginsWithTheFirst(Mutant):
    breaks = "than the last"

    def undoable(self, state: State) -> PastTurn:
        super().undoable(state)
        return state.past[0]

    def undone(self, state: State, event: TurnUndone) -> list[AnyEvent]:
        return [event] if state.turn is None and state.settings is not None else []


class UndoLeavesTheConversation(Mutant):
    breaks = "missing or strange|is thought to know"

    def apply(self, state: State, recorded: Recorded) -> None:
        history = list(state.history)
        super().apply(state, recorded)
        if isinstance(recorded.event, TurnUndone):
            state.history = history


class UndoLeavesWhatFollowsASummary(Mutant):
    """Only a turn that begins in the history goes from it."""

    breaks = "missing or strange|is thought to know"

    def apply(self, state: State, recorded: Recorded) -> None:
        history, told, seen = list(state.history), dict(state.told), dict(state.seen)
        super().apply(state, recorded)
        event = recorded.event
        if isinstance(event, TurnUndone) and not any(_begins(each, event) for each in history):
            state.history, state.told, state.seen = history, told, seen


class UndoLeavesTheModelKnowing(Mutant):
    breaks = "is thought to know"

    def apply(self, state: State, recorded: Recorded) -> None:
        told, seen = dict(state.told), dict(state.seen)
        super().apply(state, recorded)
        if isinstance(recorded.event, TurnUndone):
            state.told, state.seen = told, seen


class UndoneTurnCanBeUndoneAgain(Mutant):
    breaks = "can be undone instead of"

    def apply(self, state: State, recorded: Recorded) -> None:
        past = list(state.past)
        super().apply(state, recorded)
        if isinstance(recorded.event, TurnUndone):
            state.past = past


class OnlyTheFirstTreeCounts(Mutant):
    """What was covered later would be forgotten."""

    breaks = "can be undone instead of"

    def apply(self, state: State, recorded: Recorded) -> None:
        known = state.turn.tree if state.turn is not None else None
        super().apply(state, recorded)
        if isinstance(recorded.event, TreeTaken) and state.turn is not None and known is not None:
            state.turn.tree = known


class SummaryCanBeUndone(Mutant):
    breaks = "can be undone instead of"

    def apply(self, state: State, recorded: Recorded) -> None:
        task = state.turn.started.task if state.turn is not None else ""
        super().apply(state, recorded)
        if isinstance(recorded.event, TurnEnded) and task == "compact":
            state.past.append(PastTurn(recorded.event.turn_id, ""))


UNDO_MUTANTS: list[type[Mutant]] = [
    UndoDoesNotLookAgain,
    UndoBeginsWithTheFirst,
    UndoLeavesTheConversation,
    UndoLeavesWhatFollowsASummary,
    UndoLeavesTheModelKnowing,
    UndoneTurnCanBeUndoneAgain,
    OnlyTheFirstTreeCounts,
    SummaryCanBeUndone,
]


def _begins(entry: object, undone: TurnUndone) -> bool:
    return isinstance(entry, TurnStarted) and entry.turn_id == undone.turn_id
