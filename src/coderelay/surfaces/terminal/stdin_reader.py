"""The lines of a person or of a pipe, read by a thread of their own."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator

_MOST_BYTES = 1 << 16


class Line(str):
    pass


class End:
    """No more lines will come."""


def begin_reading(take: Callable[[Line | End], None], *, at_terminal: bool) -> None:
    loop = asyncio.get_running_loop()

    def read() -> None:
        for line in _typed() if at_terminal else sys.stdin:
            loop.call_soon_threadsafe(take, Line(line.rstrip("\n")))
        loop.call_soon_threadsafe(take, End())

    # A daemon, because a thread that waits for a line cannot be ended.
    threading.Thread(target=read, daemon=True).start()


def _typed() -> Iterator[str]:
    """A terminal gives a line at a time, and with Ctrl+D what stands in it so far: nothing, if nothing does."""
    while line := os.read(sys.stdin.fileno(), _MOST_BYTES):
        yield line.decode("utf-8", "replace")
