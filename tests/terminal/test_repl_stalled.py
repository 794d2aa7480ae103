"""A terminal that takes nothing any more: an emulator that hangs, a connection that stalls."""

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

from tests.coder_process import PROGRAM, Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, proposes, says, script
from tests.patience import PATIENCE

LONG = "".join(f"line {number} of what is said at length\n\n" for number in range(6000))


def test_a_terminal_that_takes_nothing_stopped_the_session(
    serve: Serve, coder_on: Callable[[ModelServerThread], Coder], folder: Path
) -> None:
    coder = coder_on(serve(script(proposes(bash("touch ran"), text=LONG), says("done"))))
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = subprocess.Popen(
        [sys.executable, *PROGRAM, "--mode", "yolo"],
        cwd=coder.cwd,
        env={**coder.env, "TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    deadline = time.monotonic() + PATIENCE
    try:
        _read_until(ours, "sandbox", deadline)
        os.write(ours, b"go\r")
        while not (folder / "ran").exists():  # and nothing is read meanwhile
            assert time.monotonic() < deadline, "the session stands still"
            time.sleep(0.02)
        _read_until(ours, "done", deadline)
        process.send_signal(signal.SIGTERM)
        _read_until(ours, "", deadline)
        assert process.wait(PATIENCE) == 143
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _read_until(terminal: int, text: str, deadline: float) -> None:
    """Until it was shown; without a text, until the program has closed the terminal."""
    seen = ""
    while not text or text not in seen:
        ready, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"{text!r} was not shown in {seen[-2000:]!r}"
        try:
            seen += os.read(terminal, 65536).decode("utf-8", "replace")
        except OSError:
            assert not text
            return
