"""The list of what is to be done, as it is stored and shown."""

from typing import Literal

from msgspec import Struct

Status = Literal["pending", "in_progress", "completed"]
Priority = Literal["high", "medium", "low"]


class Item(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    content: str
    status: Status
    priority: Priority = "medium"


class TodoArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Always the whole list."""

    items: tuple[Item, ...]
