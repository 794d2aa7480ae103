"""How fast the platform may be called: for each chat, each message, each card, and each kind of call."""

import time
from collections.abc import Callable

from msgspec import Struct

_MOST_KEPT = 5000


class RateLimit(Struct, frozen=True):
    """`interval` seconds between calls with this name on average; `burst` of them may come at once."""

    name: str
    interval: float
    burst: int = 1


def chat_limit(chat_id: str) -> RateLimit:
    """The platform allows 5 messages per second in one chat, those of all bots together."""
    return RateLimit(f"chat {chat_id}", 0.3)


def message_limit(message_id: str) -> RateLimit:
    """It allows 5 changes per second of one message."""
    return RateLimit(f"message {message_id}", 0.3)


def card_limit(card_id: str) -> RateLimit:
    """It allows 10 changes per second of one card of CardKit."""
    return RateLimit(f"card {card_id}", 0.2)


def call_limits(kind: str) -> tuple[RateLimit, RateLimit]:
    """It allows 50 calls of a kind per second, and 1000 per minute."""
    return RateLimit(f"second {kind}", 1 / 40, 8), RateLimit(f"minute {kind}", 1 / 12, 250)


class RateLimits:
    """Remembers the calls of this process. `scale` makes all intervals longer or shorter."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, scale: float = 1.0) -> None:
        self._clock = clock
        self._scale = scale
        self._free_at: dict[str, float] = {}

    def reserve(self, *limits: RateLimit) -> float:
        """Reserve the next call that all these limits allow, and return how many seconds to wait for it."""
        now = self._clock()
        at = now
        for each in limits:
            slack = (each.burst - 1) * each.interval * self._scale
            at = max(at, self._free_at.get(each.name, now) - slack)
        for each in limits:
            self._free_at[each.name] = max(self._free_at.get(each.name, now), at) + each.interval * self._scale
        if len(self._free_at) > _MOST_KEPT:
            self._free_at = {name: free for name, free in self._free_at.items() if free > now}
        return at - now
