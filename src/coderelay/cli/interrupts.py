"""Ctrl-C on the command line, without KeyboardInterrupt where nobody expects it.

That exception arises between any two instructions. While msgspec is loaded, it is swallowed, and the interpreter
crashes with the first decoder; in a callback of the interpreter it is printed with a traceback. So Ctrl-C simply ends
the program, unless a command has something to put in order: an event loop, or what stands in a
`with raised_interrupts()`.
"""

import os
import signal
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

INTERRUPTED = 130


def leave_at_once() -> None:
    """From now on Ctrl-C ends the program, whatever it does."""
    signal.signal(signal.SIGINT, _leave)


def _leave(*_: object) -> NoReturn:
    os._exit(INTERRUPTED)


@contextmanager
def raised_interrupts() -> Generator[None]:
    """The first Ctrl-C raises KeyboardInterrupt here, so that `finally` can put things in order. A second one does
    nothing until that is done."""

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        leave_at_once()


def run_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run it in an event loop of its own. The first Ctrl-C cancels it, a second one ends the program, unless `work`
    handles the signal itself. Raises KeyboardInterrupt when it has been cancelled."""
    import asyncio  # commands that need no loop do not load it

    is_interrupted = False

    async def cancellable() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def interrupt(*_: object) -> None:
            nonlocal is_interrupted
            if is_interrupted:
                os._exit(INTERRUPTED)
            is_interrupted = True
            loop.call_soon_threadsafe(task.cancel)

        signal.signal(signal.SIGINT, interrupt)
        try:
            return await work
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            loop.remove_signal_handler(signal.SIGINT)  # puts Python's own handler in place
            leave_at_once()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    try:
        return asyncio.run(cancellable())
    except asyncio.CancelledError:
        if is_interrupted:
            raise KeyboardInterrupt from None
        raise
