"""Commands of the person's own: a turn of one call, which nobody judges and no model proposed."""

import msgspec

from coderelay.protocol.calls import Call, Need
from coderelay.protocol.events import AnyEvent, BatchOpened, CallStarted, Judged, MessageAdded, TurnStarted
from coderelay.protocol.ids import CallId, MessageId, derived_id
from coderelay.session.state import State

SHELL = "shell"
"""The name of the agent that runs them, whichever one the session has."""

_BASH = "bash"


def is_next(state: State) -> bool:
    """Whether what runs, or would run next, is such a command."""
    if state.turn is not None:
        return state.turn.started.task == "shell"
    return bool(state.queue) and state.queue[0].task == "shell"


def first_events(started: TurnStarted) -> list[AnyEvent]:
    """In one append: either the command waits, or it has started and is never started again."""
    turn_id, command = started.turn_id, started.text
    message_id, call_id = MessageId(derived_id(turn_id, SHELL)), CallId(f"call_{derived_id(turn_id, _BASH)}")
    call = Call(call_id, _BASH, msgspec.json.encode({"command": command}).decode())
    need = Need(tool=_BASH, kind="command", title=command, command=command, sandbox="none")
    return [
        started,
        MessageAdded(message_id=message_id, turn_id=turn_id, model="person", calls=(call,), author="person"),
        BatchOpened(batch_id=message_id, turn_id=turn_id, judged=(Judged(call_id, "allow", need),)),
        CallStarted(batch_id=message_id, call_id=call_id),
    ]
