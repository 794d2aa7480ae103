"""Calls that have a session of their own at work: which they are, and what those sessions may do."""

from coderelay.protocol.asks import By
from coderelay.protocol.events import AnyEvent, StopRequested
from coderelay.protocol.ids import OwnerId, PromptId, SessionId, child_id, derived_id
from coderelay.session.next_action import Rest, next_action
from coderelay.session.state import CallState, State

TASK = "task"
AGENT = By(who="the agent", via="task")


def tasks(state: State) -> list[CallState]:
    """Every call that may have opened a child."""
    return [each for each in state.calls.values() if _is_task(each) and each.started_epoch is not None]


def open_tasks(state: State) -> list[CallState]:
    return [each for each in state.open_calls() if _is_task(each) and each.started_epoch is not None]


def children(state: State) -> list[SessionId]:
    return [child_id(state.session, each.call.id) for each in tasks(state)]


def task_prompt(child: SessionId) -> PromptId:
    """The first prompt of a child: its task."""
    return PromptId(derived_id(child, "prompt"))


def cut_off(state: State, owner: OwnerId | None) -> list[AnyEvent]:
    """A task in mid-turn whose owner is gone is not carried on: its parent's call ends as unknown, and may have been
    given again."""
    turn, settings = state.turn, state.settings
    if turn is None or turn.stop_requested or owner is None or state.owner != owner:
        return []
    is_task = settings is not None and settings.parent is not None
    return [StopRequested(by=AGENT)] if is_task and turn.started.prompt_id == task_prompt(state.session) else []


def rests(state: State) -> bool:
    """Nothing that was asked of it is left to do."""
    return isinstance(next_action(state), Rest)


def _is_task(call: CallState) -> bool:
    return call.judged.need.tool == TASK
