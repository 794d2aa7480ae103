"""Rules that are wrong in one point each about owners that leave a blocking turn."""

from coderelay.protocol.events import AnyEvent, Recorded, TurnParked
from coderelay.session.state import State
from tests.session.mutants import Mutant


class ParkedTurnKeepsItsOwner(Mutant):
    breaks = "the row says"

    def apply(self, state: State, recorded: Recorded) -> None:
        owner = state.owner
        super().apply(state, recorded)
        if isinstance(recorded.event, TurnParked):
            state.owner = owner


class AnsweredTurnIsParked(Mutant):
    breaks = "waits for nobody"

    def park_turn(self, state: State) -> list[AnyEvent]:
        return [] if state.turn is None else [TurnParked(turn_id=state.turn.started.turn_id)]


class TurnIsParkedWhileACallRuns(Mutant):
    breaks = "while a call ran"

    def may_be_left(self, state: State, *, together: bool) -> bool:
        asks = state.open_asks()
        return bool(asks) and all(state.asks[each.id].parked for each in asks)


class TurnIsParkedWhilePeopleThink(Mutant):
    breaks = "expected to answer"

    def may_be_left(self, state: State, *, together: bool) -> bool:
        running = [each for each in state.open_calls() if each.started_epoch is not None]
        return bool(state.open_asks()) and not running


PARKING_MUTANTS: list[type[Mutant]] = [
    ParkedTurnKeepsItsOwner,
    AnsweredTurnIsParked,
    TurnIsParkedWhileACallRuns,
    TurnIsParkedWhilePeopleThink,
]
