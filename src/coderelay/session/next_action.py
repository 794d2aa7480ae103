"""Decides what a session needs next, from its state alone, so that any process can go on with it."""

from msgspec import Struct

from coderelay.protocol.ids import CallId
from coderelay.protocol.prompt_events import Task
from coderelay.session.state import State


class Rest(Struct, frozen=True):
    """Nothing to do."""


class Wait(Struct, frozen=True):
    """People must answer first."""


class StartTurn(Struct, frozen=True):
    """A prompt is waiting in the queue."""


class EndTurn(Struct, frozen=True):
    """A stop was requested, or the steps are used up."""

    stopped: bool


class RunCall(Struct, frozen=True):
    call_id: CallId


class AskModel(Struct, frozen=True):
    """Everything so far is settled: the agent asks the model for the next step."""


class RunAgent(Struct, frozen=True):
    """The agent of a blocking turn goes on by itself: it asks its own model and runs its own calls."""


class CheckWork(Struct, frozen=True):
    """The model proposes nothing more: the agent checks the work before the turn ends."""


class Compact(Struct, frozen=True):
    """The turn exists to summarise the history before it."""


class Finish(Struct, frozen=True):
    """The turn has done all that it was started for."""


Action = Rest | Wait | StartTurn | EndTurn | RunCall | AskModel | RunAgent | CheckWork | Compact | Finish


def next_action(state: State) -> Action:
    turn = state.turn
    if turn is None:
        return StartTurn() if state.queue and not state.held else Rest()
    if turn.stop_requested:
        return EndTurn(stopped=True)
    if state.open_asks():
        return Wait()
    open_calls = state.open_calls()
    if open_calls:
        return RunAgent() if turn.started.blocking else RunCall(open_calls[0].call.id)
    if turn.to_check:
        return CheckWork()
    if turn.steps >= turn.started.max_steps:
        return EndTurn(stopped=False)
    if turn.started.blocking:
        return RunAgent()
    return _WORK[turn.started.task]


_WORK: dict[Task, Action] = {"prompt": AskModel(), "compact": Compact(), "shell": Finish()}
"""What to do when no call is open, by the kind of turn. The call of a shell turn is there from its start, so without
an open call it is done."""


def needs_owner(state: State) -> bool:
    return not isinstance(next_action(state), Rest | Wait)
