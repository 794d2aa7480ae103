"""A terminal for one process: it reads everything at once, and answers where its cursor is. It draws nothing, so that
what is measured is the program."""

import fcntl
import os
import re
import struct
import termios
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress

COLUMNS, ROWS = 100, 40
_ASKED = b"\x1b[6n"
_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[^\[\]])|[\x00-\x1f]")
MOST_SECONDS = 60.0


class Terminal:
    def __init__(self, ours: int, name: str) -> None:
        self.name = name
        self._ours = ours
        self._text = b""
        self._arrived = threading.Condition()
        self._reader = threading.Thread(target=self._read, name="terminal", daemon=True)
        self._reader.start()

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def wait_for(self, text: str, times: int = 1) -> float:
        """When it was there so many times since it was last asked for, without colours and moves."""
        with self._arrived:
            deadline = time.monotonic() + MOST_SECONDS
            while self._text.count(text.encode()) < times:
                if not self._arrived.wait(deadline - time.monotonic()):
                    raise RuntimeError(f"{text!r} did not come: {self._text[-2000:].decode(errors='replace')}")
            self._text = b""
            return time.perf_counter()

    def close(self) -> None:
        """When nobody has the other side any more."""
        self._reader.join(5)  # an error on the way may leave the program running
        os.close(self._ours)

    def _read(self) -> None:
        with suppress(OSError):  # nobody has the other side any more
            while True:
                data = os.read(self._ours, 1 << 20)
                if _ASKED in data:
                    os.write(self._ours, b"\x1b[1;1R")
                with self._arrived:
                    self._text += _SEQUENCE.sub(b"", data)
                    self._arrived.notify_all()


@contextmanager
def terminal() -> Generator[Terminal]:
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    opened = Terminal(ours, os.ttyname(theirs))
    try:
        yield opened
    finally:
        os.close(theirs)
        opened.close()
