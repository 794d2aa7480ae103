"""The time of day, in milliseconds since 1970."""

import time


def now() -> int:
    """The wall clock in milliseconds, the unit of the log and of its deadlines."""
    return time.time_ns() // 1_000_000
