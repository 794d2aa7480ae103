"""`coder` at a plain terminal: types what a test types, and shows what a person would see."""

import os
import select
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress

from tests.coder_process import Coder
from tests.forked_process import ForkedProcess, fork_server
from tests.patience import PATIENCE


class Terminal:
    def __init__(self, process: subprocess.Popen[bytes] | ForkedProcess, screen: int) -> None:
        self.process = process
        self.text = ""
        self._screen = screen

    def type(self, text: str) -> None:
        """`\\x03` is Ctrl-C, `\\x04` Ctrl-D."""
        os.write(self._screen, text.encode())

    def wait_for(self, text: str, seconds: float = PATIENCE) -> str:
        """Everything shown since the last wait, up to and with `text`."""
        deadline = time.monotonic() + seconds
        while text not in self.text:
            left = deadline - time.monotonic()
            if left <= 0 or not self._read(left):
                raise AssertionError(f"{text!r} did not appear in:\n{self.text}")
        shown, _, self.text = self.text.partition(text)
        return shown + text

    def wait(self, seconds: float = PATIENCE) -> int:
        """Until the program has ended; its exit code."""
        while self._read(seconds):
            pass
        return self.process.wait(seconds)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._screen], [], [], seconds)
        if not ready:
            return False
        with suppress(OSError):  # the other side is gone
            data = os.read(self._screen, 65536)
            self.text += data.decode("utf-8", "replace").replace("\r\n", "\n")
            return bool(data)
        return False


@contextmanager
def terminal(coder: Coder, *arguments: str) -> Generator[Terminal]:
    ours, theirs = os.openpty()
    env = {**coder.env, "TERM": "dumb"}
    process = fork_server().start_at_terminal("coder", arguments, env, coder.cwd, theirs)
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
