"""Tries again while another process has the database locked."""

import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def patiently(action: Callable[[], T], lock_seconds: float) -> T:
    """Retry while the database is busy. Short random pauses give each of several writing processes its turn within a
    few milliseconds."""
    deadline = time.monotonic() + lock_seconds
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
        pause()


def is_busy(error: sqlite3.Error) -> bool:
    return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def pause(*, long: bool = False) -> None:
    from random import uniform  # loaded for the first pause

    time.sleep(uniform(0.01, 0.03) if long else uniform(0.0005, 0.003))
