"""The list of what is to be done, as the model left it, and a nudge when it seems forgotten."""

from coderelay.protocol.content import Note
from coderelay.protocol.events import MessageAdded
from coderelay.protocol.todos import Item
from coderelay.session.state import State
from coderelay.session.todos import is_list, items_of, last_list

_STEPS = 10  # of silence before a nudge


def todo_notes(state: State) -> list[Note]:
    """Told again only when the list has been untouched for that many steps more."""
    items, steps = last_todos(state)
    open_items = [each for each in items if each.status != "completed"]
    if not open_items or steps < _STEPS:
        return []
    times = steps // _STEPS
    text = f"{len(open_items)} items of the todo list are open and it has not changed for {times * _STEPS} steps"
    topic = f"todo:{sum(map(is_list, state.calls.values()))}"  # each list is a topic of its own
    return [Note(topic, f"<reminder>{text}. Bring it up to date if the work has moved on.</reminder>")]


def last_todos(state: State) -> tuple[tuple[Item, ...], int]:
    """The list, and how many steps ago it was given, or the history was summed up since."""
    last = last_list(state)
    if last is None:
        return (), 0
    steps = 0
    for entry in reversed(state.history):
        if isinstance(entry, MessageAdded):
            if entry.message_id == last.batch_id:
                break
            steps += 1
    return items_of(last.call), steps
