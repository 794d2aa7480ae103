"""Tells which processes are alive, by file locks: a live process holds the lock of its file, and death releases it.

The file also holds a heartbeat counter that the process increments about once a second, so that others can tell a
live process that works from one that hangs.
"""

from typing import Protocol

from msgspec import Struct

from coderelay.protocol.ids import OwnerId


class Dead(Struct, frozen=True):
    pass


class Alive(Struct, frozen=True):
    """The process is alive. `counter` is its heartbeat counter, which stops if the process hangs."""

    counter: int


class Owners(Protocol):
    """The registry of owners as one process sees it: its own entry, and the heartbeats of the others."""

    async def me(self) -> OwnerId: ...

    async def send_heartbeat(self) -> None:
        """Send a heartbeat: show that this process works."""
        ...

    async def liveness(self, owner: OwnerId) -> Alive | Dead: ...

    async def close(self) -> None: ...
