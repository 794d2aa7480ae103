"""Keeps keys that are pressed early, while the program still loads, for the prompt."""

import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress


@contextmanager
def keep_early_keys() -> Generator[None]:
    """Until the prompt reads them, keys are neither echoed nor translated: otherwise the terminal would turn Enter
    into a line feed, which the prompt would take for Ctrl-J. Ctrl-C still ends the program."""
    if not sys.stdin.isatty():
        yield
        return
    import termios  # not needed for pipes

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    quiet = list(before)
    quiet[0] &= ~termios.ICRNL
    quiet[3] &= ~(termios.ICANON | termios.ECHO)
    termios.tcsetattr(terminal, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(terminal, termios.TCSANOW, before)
