"""When to ask a model again after it failed, and when to give up."""

from random import uniform

from coderelay.protocol.errors import ModelFailed

FIRST_SECONDS = 0.5
_TRIES = 8
_LONGEST = 30.0
_LONGEST_TOLD = 120.0  # a server that wants more is not waited for


def pause_before_retry(failed: ModelFailed, tries: int, first: float) -> float | None:
    """Seconds to wait after so many tries, or None if trying again is of no use. A server that says how long knows
    best; else each pause is about twice the one before. A `first` of 0 means never to try again."""
    if not failed.retryable or tries >= _TRIES or first <= 0:
        return None
    if failed.retry_after is not None:
        return failed.retry_after if failed.retry_after <= _LONGEST_TOLD else None
    return min(first * 2 ** (tries - 1), _LONGEST) * uniform(0.8, 1.2)
