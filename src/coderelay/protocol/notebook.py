"""The contract of a notebook: small durable entries that a surface keeps for itself.

They are in the same database as the sessions and in no session's log. Whatever several processes may decide at once
is one `write`, which takes effect as a whole if no entry that it names has changed, and otherwise not at all.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class Entry(Struct, frozen=True):
    """`version` is 1 for a new entry and rises with every write. `at` is when it was written, in milliseconds."""

    key: str
    value: bytes
    version: int
    at: int


class Change(Struct, frozen=True):
    """Put `value` at `key`, or erase the entry if `value` is None. `at` is the version that the entry must have now,
    0 if there must be none; None overwrites whatever there is."""

    key: str
    value: bytes | None
    at: int | None = None


class Notebook(Protocol):
    async def read(self, key: str) -> Entry | None: ...

    async def list(self, beginning: str, *, after: str = "", limit: int = 1000) -> Sequence[Entry]:
        """The entries whose keys begin with `beginning` and come after `after`, ordered by key."""
        ...

    async def write(self, *changes: Change) -> bool:
        """Carry out all changes or none: returns whether the versions were as expected. On disk when it returns
        True."""
        ...

    async def erase(self, beginning: str, *, before: int) -> int:
        """Erase the entries whose keys begin with `beginning` and that were written last before this time; returns
        how many."""
        ...
