"""Child sessions as the log knows them: which calls opened one, and when a child rests or must be stopped."""

from coderelay.protocol.asks import By
from coderelay.protocol.events import AnyEvent, StopRequested
from coderelay.protocol.ids import OwnerId, PromptId, SessionId, child_id, derived_id
from coderelay.session.next_action import Rest, next_action
from coderelay.session.state import CallState, State

TASK = "task"
AGENT = By(who="the agent", via="task")


def tasks(state: State) -> list[CallState]:
    """Every call that may have opened a child session."""
    return [each for each in state.calls.values() if _is_task(each) and each.started_epoch is not None]


def open_tasks(state: State) -> list[CallState]:
    return [each for each in state.open_calls() if _is_task(each) and each.started_epoch is not None]


def running_calls(state: State) -> list[CallState]:
    """The calls that have begun and not ended, besides those that wait for a child session."""
    return [each for each in state.open_calls() if not _is_task(each) and each.started_epoch is not None]


def children(state: State) -> list[SessionId]:
    return [child_id(state.session, each.call.id) for each in tasks(state)]


def task_prompt(child: SessionId) -> PromptId:
    """The id of the first prompt of a child, which is its task."""
    return PromptId(derived_id(child, "prompt"))


def stop_orphan(state: State, owner: OwnerId | None) -> list[AnyEvent]:
    """Stop a child whose owner died in the middle of its task. It is not carried on, because its parent's call ends
    as unknown and the task may have been given again."""
    turn, settings = state.turn, state.settings
    if turn is None or turn.stop_requested or owner is None or state.owner != owner:
        return []
    is_task = settings is not None and settings.parent is not None
    return [StopRequested(by=AGENT)] if is_task and turn.started.prompt_id == task_prompt(state.session) else []


def is_at_rest(state: State) -> bool:
    """Whether the session has nothing left to do of what was asked of it."""
    return isinstance(next_action(state), Rest)


def _is_task(call: CallState) -> bool:
    return call.judged.need.tool == TASK
