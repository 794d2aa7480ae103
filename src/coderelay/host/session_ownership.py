"""Ownership of sessions: one process at a time owns a session, and a living owner keeps it."""

import time
from collections.abc import Callable

from msgspec import Struct

from coderelay.protocol.ids import OwnerId
from coderelay.store.owner_liveness_interface import Dead, Owners

STILL_SECONDS = 15.0
_MOST_BETWEEN_LOOKS = 1.0
_UNWATCHED_SECONDS = 60.0


class _WatchedOwner(Struct):
    """An owner's last heartbeat counter, and for how many seconds it was seen to stand still."""

    counter: int
    looked_at: float
    still: float = 0.0


class SessionOwnership:
    """Decides whether this process may take over a session that another process owns. The session of a dead owner may
    be taken at once; that of a living one only if its heartbeat counter has stood still for long enough, counting
    only time in which this process itself was awake to watch. So neither a suspended machine nor a stepped clock
    takes a session from anyone."""

    def __init__(
        self,
        owners: Owners,
        *,
        still_seconds: float = STILL_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._owners = owners
        self._still_seconds = still_seconds
        self._clock = clock
        self._watched: dict[OwnerId, _WatchedOwner] = {}

    @property
    def watched_count(self) -> int:
        """How many other living owners this process watches."""
        return len(self._watched)

    async def me(self) -> OwnerId:
        return await self._owners.me()

    async def send_heartbeat(self) -> None:
        await self._owners.send_heartbeat()

    async def may_take_over(self, owner: OwnerId | None) -> bool:
        """Whether the session of `owner` may be taken over. A stalled but living owner is only noticed if this is
        called about once a second."""
        if owner is None or owner == await self._owners.me():
            return True
        seen = await self._owners.liveness(owner)
        if isinstance(seen, Dead):
            self._watched.pop(owner, None)
            return True
        return self._has_hung_long_enough(owner, seen.counter)

    async def is_owned_elsewhere(self, owner: OwnerId) -> bool:
        """Whether the owner is another process, and alive."""
        return owner != await self._owners.me() and not isinstance(await self._owners.liveness(owner), Dead)

    async def close(self) -> None:
        await self._owners.close()

    def _has_hung_long_enough(self, owner: OwnerId, counter: int) -> bool:
        now = self._clock()
        watched = self._watched.get(owner)
        if watched is None:
            self._forget_unwatched(now)
        if watched is None or watched.counter != counter:
            self._watched[owner] = _WatchedOwner(counter, now)
            return False
        # A long gap between two looks means that this process slept too, so it proves nothing.
        watched.still += min(now - watched.looked_at, _MOST_BETWEEN_LOOKS)
        watched.looked_at = now
        return watched.still >= self._still_seconds

    def _forget_unwatched(self, now: float) -> None:
        """Forget the owners that have no session any more in which this process takes an interest: nobody has looked
        at them for long. One that is looked at again is watched from the beginning."""
        self._watched = {
            owner: each for owner, each in self._watched.items() if now - each.looked_at < _UNWATCHED_SECONDS
        }
