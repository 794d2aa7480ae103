"""The list of what is to be done, as the model left it, and a nudge when it seems forgotten."""

import msgspec

from coderelay.protocol.calls import Call, Finished
from coderelay.protocol.content import Note
from coderelay.protocol.events import MessageAdded
from coderelay.session.state import State
from coderelay.tools.todo import Item, TodoArguments

_STEPS = 10  # of silence before a nudge


def todo_notes(state: State) -> list[Note]:
    """Told again only when the list has been untouched for that many steps more."""
    items, steps = last_todos(state)
    open_items = [each for each in items if each.status != "completed"]
    if not open_items or steps < _STEPS:
        return []
    times = steps // _STEPS
    text = f"{len(open_items)} items of the todo list are open and it has not changed for {times * _STEPS} steps"
    return [Note("todo", f"<reminder>{text}. Bring it up to date if the work has moved on.</reminder>")]


def last_todos(state: State) -> tuple[tuple[Item, ...], int]:
    """The list, and how many steps ago it was given."""
    steps = 0
    for entry in reversed(state.history):
        if not isinstance(entry, MessageAdded):
            continue
        for call in reversed(entry.calls):
            if call.name == "todo" and isinstance(state.calls[call.id].outcome, Finished):
                return _items(call), steps
        steps += 1
    return (), 0


def _items(call: Call) -> tuple[Item, ...]:
    try:
        return msgspec.json.decode(call.arguments, type=TodoArguments).items
    except msgspec.DecodeError:
        return ()
