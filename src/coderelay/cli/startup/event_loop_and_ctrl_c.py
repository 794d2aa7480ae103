"""Handle Ctrl-C on the command line, without a KeyboardInterrupt where nobody expects it.

Python can raise that exception between any two instructions. While msgspec is being loaded, it is swallowed, and the
interpreter crashes at the first decoder; in a callback of the interpreter it is printed with a traceback. So Ctrl-C
simply ends the program, unless a command has something to clean up: an event loop, or code inside a
`with CtrlCAsException()`. A signal that was ignored when `coder` started (`nohup`, `&` in a script) stays ignored.

`--help` loads this file, so it imports nothing that argparse does not need.
"""

import os
import signal

TYPE_CHECKING = False  # like typing.TYPE_CHECKING; `--help` would wait for typing to load
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine
    from typing import Any, TypeVar

    T = TypeVar("T")

INTERRUPTED = 130


def is_ignored(number: signal.Signals) -> bool:
    return signal.getsignal(number) is signal.SIG_IGN


_IS_CTRL_C_IGNORED = is_ignored(signal.SIGINT)  # as it was when `coder` started


def exit_on_ctrl_c() -> None:
    """From now on Ctrl-C ends the program, whatever it is doing."""
    _on_ctrl_c(_leave)


def _leave(*_: object) -> None:
    os._exit(INTERRUPTED)


class CtrlCAsException:
    """In this context the first Ctrl-C raises KeyboardInterrupt, so that `finally` blocks can clean up. A second one
    does nothing until that is done."""

    def __enter__(self) -> None:
        _on_ctrl_c(_raise_once)

    def __exit__(self, *_: object) -> None:
        exit_on_ctrl_c()


def _raise_once(*_: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def run_loop(work: "Coroutine[Any, Any, T]") -> "T":
    """Run `work` in an event loop of its own. The first Ctrl-C cancels it, a second one ends the program, unless
    `work` handles the signal itself. Raises KeyboardInterrupt when Ctrl-C has cancelled it."""
    import asyncio  # commands that need no loop do not load it

    is_interrupted = False

    async def cancellable() -> "T":
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def interrupt(*_: object) -> None:
            nonlocal is_interrupted
            if is_interrupted:
                os._exit(INTERRUPTED)
            is_interrupted = True
            loop.call_soon_threadsafe(task.cancel)

        _on_ctrl_c(interrupt)
        try:
            return await work
        finally:
            exit_on_ctrl_c()
            try:
                for _ in range(3):  # the loop reads what came before in one turn, and calls its handler in another
                    await asyncio.sleep(0)
            finally:
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
                loop.remove_signal_handler(signal.SIGINT)  # restores Python's own handler, if it removes one
                signal.set_wakeup_fd(-1)  # asyncio closes the socket behind it before it forgets it
                exit_on_ctrl_c()
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    try:
        return asyncio.run(cancellable())
    except asyncio.CancelledError:
        if is_interrupted:
            raise KeyboardInterrupt from None
        raise


def _on_ctrl_c(handler: "Callable[..., object]") -> None:
    if not _IS_CTRL_C_IGNORED:
        signal.signal(signal.SIGINT, handler)


def stop_on_signals() -> "asyncio.Event":
    """The first signal ends the server in order, a second one at once."""
    import asyncio

    from coderelay.surfaces import nonblocking_standard_streams

    stopped = asyncio.Event()

    def stop() -> None:
        nonblocking_standard_streams.stop_waiting_for_readers()
        if stopped.is_set():
            os._exit(INTERRUPTED)
        stopped.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if not is_ignored(number):
            loop.add_signal_handler(number, stop)
    return stopped
