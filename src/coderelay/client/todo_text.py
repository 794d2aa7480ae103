"""Todo lists and background commands as lines of text, for every surface."""

from collections.abc import Sequence

from coderelay.client.i18n import t
from coderelay.protocol.calls import Call
from coderelay.protocol.events import MessageAdded
from coderelay.protocol.ids import CallId
from coderelay.protocol.query_results import TODO, Item, Status
from coderelay.session.state import items_of

_MARKS: dict[Status, str] = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


def todo_lines(items: Sequence[Item]) -> list[str]:
    return [f"{_MARKS[each.status]} {' '.join(each.content.split())}" for each in items]


def lists_in(message: MessageAdded) -> dict[CallId, list[str]]:
    """The todo lists that the calls of a message set, by call; each is to be shown when its call has succeeded."""
    return {call.id: _lines(call) for call in message.calls if call.name == TODO}


def items_set_by(call: Call) -> Sequence[Item] | None:
    """The todo list that a call sets, empty if its arguments are wrong; None for a call of another tool."""
    return items_of(call) if call.name == TODO else None


def _lines(call: Call) -> list[str]:
    return todo_lines(items_of(call))


def begun_list_text(count: int) -> str:
    """The line for the list that coder began itself."""
    if count == 1:
        return t("todo list with 1 item; /todos shows it")
    return t("todo list with {count} items; /todos shows it", count=count)
