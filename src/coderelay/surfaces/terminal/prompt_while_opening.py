"""A screen with a prompt while the session is being opened. Lines sent meanwhile are queued for the session."""

import asyncio
import signal
from collections.abc import Awaitable, Callable
from typing import Protocol

from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from coderelay.surfaces.terminal.drawing.width_and_truncation import short_path
from coderelay.surfaces.terminal.screen import Screen

_DIM, _BOLD, _PLAIN = "\x1b[2m", "\x1b[1m", "\x1b[0m"
_INTERRUPTED, _TERMINATED = 130, 143


class OpenedRepl(Protocol):
    """The REPL that takes over the screen and the queued lines once the session is open."""

    async def run(self, sent: list[str]) -> int: ...
    def interrupt(self) -> bool: ...
    def end(self, code: int = 0) -> None: ...


class PromptWhileOpening:
    """The start-up view of the screen. It looks like an empty session and queues what is sent."""

    is_animated = False

    def __init__(self, folder: str, first_prompt: str) -> None:
        self._folder = folder
        self._sent: list[str] = [first_prompt] if first_prompt else []
        self._code = 0
        self._successor: OpenedRepl | None = None
        self._working: asyncio.Task[int] | None = None
        self.screen = Screen(self, self._bindings())

    def tail(self, width: int, rows: int) -> str:
        return ""

    def panel(self, width: int, rows: int) -> str:
        return "\n".join(f"{_DIM}⧖ {_plain(each)}{_PLAIN}" for each in self._sent)

    def status(self, width: int) -> str:
        return f"{_DIM}…{_PLAIN}"

    def prompt(self, width: int) -> str:
        return f"{_BOLD}{_plain(short_path(self._folder, width))}{_PLAIN} ❯ "

    async def run(self, work: Callable[["PromptWhileOpening"], Awaitable[int]]) -> int:
        """Returns the exit code of `work`, which opens the session and then calls `hand_over`. The terminal is
        restored in every case."""
        self._catch_signals()
        shown = asyncio.create_task(self.screen.run())
        self._working = asyncio.ensure_future(work(self))
        try:
            await asyncio.wait({shown, self._working}, return_when=asyncio.FIRST_COMPLETED)
            if shown.done():
                self.leave(_TERMINATED)  # the terminal is gone
            await asyncio.wait({self._working})
        finally:
            self.screen.leave()
            await asyncio.wait({shown})
        shown.result()  # raises the screen's error, if it failed
        return self._code if self._working.cancelled() else self._working.result()

    async def hand_over(self, successor: OpenedRepl) -> int:
        self._successor = successor
        return await successor.run(self._sent)

    def leave(self, code: int = 0) -> None:
        if self._successor is not None:
            self._successor.end(code)
        elif self._working is not None:
            self._code = code
            self._working.cancel()

    def _catch_signals(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self.leave, _TERMINATED)

    def _interrupt(self) -> None:
        """Handles the signal SIGINT, not the key Ctrl+C: it comes from another process, or is meant for a program
        that has the terminal at the moment."""
        if self._successor is None:
            self.leave(_INTERRUPTED)
        elif not self.screen.is_lent:
            self._successor.interrupt()

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()

        @bindings.add("enter")
        def _(event: KeyPressEvent) -> None:
            if event.current_buffer.text.strip():
                self._sent.append(event.current_buffer.text)
                event.current_buffer.reset()

        @bindings.add("c-c")
        @bindings.add("c-d")
        def _(event: KeyPressEvent) -> None:
            if event.current_buffer.text:
                event.current_buffer.reset()
            else:
                self.leave()

        return bindings


def _plain(text: str) -> str:
    """A simple sanitizer for the start-up; the module with the full one is not loaded yet."""
    return "".join(each if each.isprintable() else "·" for each in text)
