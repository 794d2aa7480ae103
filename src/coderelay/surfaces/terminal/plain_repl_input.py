"""Reads the lines of standard input for the plain REPL."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator

_MOST_BYTES = 1 << 16


class InputEnd:
    """The end of the input: no more lines follow."""


class InputLine(str):
    pass


def begin_reading(take: Callable[[InputLine | InputEnd], None], *, at_terminal: bool) -> None:
    """Read standard input in a thread, and pass each line, and then its end, to `take` in the event loop."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        for line in _typed() if at_terminal else sys.stdin:
            loop.call_soon_threadsafe(take, InputLine(line.rstrip("\n")))
        loop.call_soon_threadsafe(take, InputEnd())

    # A daemon thread, because a thread that blocks in a read cannot be cancelled.
    threading.Thread(target=read, daemon=True).start()


def _typed() -> Iterator[str]:
    """Lines from a terminal. A read returns one line, or with Ctrl+D what is typed so far; on an empty line that is
    nothing, which ends the input."""
    while line := os.read(sys.stdin.fileno(), _MOST_BYTES):
        yield line.decode("utf-8", "replace")
