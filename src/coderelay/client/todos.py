"""The todo list in lines, for people."""

from collections.abc import Sequence

from coderelay.protocol.calls import Call
from coderelay.protocol.events import MessageAdded
from coderelay.protocol.ids import CallId
from coderelay.protocol.todos import Item, Status
from coderelay.session.todos import items_of

_MARKS: dict[Status, str] = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


def todo_lines(items: Sequence[Item]) -> list[str]:
    return [f"{_MARKS[each.status]} {' '.join(each.content.split())}" for each in items]


def lists_in(message: MessageAdded) -> dict[CallId, list[str]]:
    """The lists that the calls of a message give, to be shown when these have ended well."""
    return {call.id: _lines(call) for call in message.calls if call.name == "todo"}


def _lines(call: Call) -> list[str]:
    return todo_lines(items_of(call))
