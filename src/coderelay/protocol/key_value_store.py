"""The contract of a key-value store: small durable entries that a surface keeps for itself.

They are in the same database as the sessions and in no session's log. Whatever several processes may decide at once
is one `write`, which takes effect as a whole if no entry that it names has changed, and otherwise not at all.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class Entry(Struct, frozen=True):
    """`version` changes with every write; only equality of versions has a meaning. `at` is when the entry was
    written, in milliseconds."""

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


class KeyValueStore(Protocol):
    async def read(self, key: str) -> Entry | None: ...

    async def list(self, beginning: str, *, after: str = "", limit: int = 1000) -> Sequence[Entry]:
        """The entries whose keys begin with `beginning` and come after the key `after`, ordered by key."""
        ...

    async def write(self, *changes: Change) -> int:
        """Carry out all changes or none. Returns the new version of all written entries, or 0 if nothing was written
        because an entry did not have the expected version. It is on disk when this returns. Raises BadInput for a key
        that is not valid Unicode or has a NUL character."""
        ...

    async def erase(self, beginning: str, *, before: int) -> int:
        """Erase the entries whose keys begin with `beginning` and that were written last before this time. Returns
        how many."""
        ...
