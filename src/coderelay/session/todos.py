"""The todo list of a session: the last one that was given and kept."""

import msgspec

from coderelay.protocol.calls import Call, Finished
from coderelay.protocol.todos import Item, TodoArguments
from coderelay.session.state import CallState, State


def todos(state: State) -> tuple[Item, ...]:
    last = last_list(state)
    return () if last is None else items_of(last.call)


def last_list(state: State) -> CallState | None:
    """Known even after the history was summed up: the calls of a session are never forgotten."""
    return next((each for each in reversed(state.calls.values()) if is_list(each)), None)


def is_list(call: CallState) -> bool:
    return call.call.name == "todo" and isinstance(call.outcome, Finished) and not call.undone


def items_of(call: Call) -> tuple[Item, ...]:
    try:
        return msgspec.json.decode(call.arguments, type=TodoArguments).items
    except msgspec.DecodeError:
        return ()


def has_open(items: tuple[Item, ...]) -> bool:
    return any(each.status != "completed" for each in items)
