"""The list of what is to be done, as the model left it, and a nudge when it seems forgotten."""

import msgspec

from coderelay.protocol.calls import Call, Finished
from coderelay.protocol.content import Note
from coderelay.protocol.events import MessageAdded
from coderelay.session.state import CallState, State
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
    topic = f"todo:{sum(map(_is_list, state.calls.values()))}"  # each list is a topic of its own
    return [Note(topic, f"<reminder>{text}. Bring it up to date if the work has moved on.</reminder>")]


def last_todos(state: State) -> tuple[tuple[Item, ...], int]:
    """The list, and how many steps ago it was given, or the history was summed up since. Known even then: the calls
    of a session are never forgotten."""
    last = next((each for each in reversed(state.calls.values()) if _is_list(each)), None)
    if last is None:
        return (), 0
    steps = 0
    for entry in reversed(state.history):
        if isinstance(entry, MessageAdded):
            if entry.message_id == last.batch_id:
                break
            steps += 1
    return _items(last.call), steps


def _is_list(call: CallState) -> bool:
    return call.call.name == "todo" and isinstance(call.outcome, Finished)


def _items(call: Call) -> tuple[Item, ...]:
    try:
        return msgspec.json.decode(call.arguments, type=TodoArguments).items
    except msgspec.DecodeError:
        return ()
