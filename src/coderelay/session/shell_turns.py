"""Shell turns (`!`): one command of the person's own, as a call that nobody judges and no model proposed."""

import msgspec

from coderelay.protocol.calls import Call, Need
from coderelay.protocol.events import AnyEvent, BatchOpened, CallStarted, Judged, MessageAdded, TurnStarted
from coderelay.protocol.ids import CallId, MessageId, derived_id
from coderelay.session.state import State

SHELL = "shell"
"""The agent name recorded for shell turns, whichever agent the session has."""

_BASH = "bash"


def is_next(state: State) -> bool:
    """Whether the open turn, or else the next one, is a shell turn."""
    if state.turn is not None:
        return state.turn.started.task == "shell"
    return bool(state.queue) and state.queue[0].task == "shell"


def first_events(started: TurnStarted) -> list[AnyEvent]:
    """The events that begin a shell turn. They go into one append, so that either the command still waits, or it has
    started and is never started again."""
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
