"""Left at any moment, `coder` exits as it was asked to: never by another signal, and without a traceback."""

import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, by_history, hangs, proposes, says, script
from tests.terminal.pty import at_terminal
from tests.terminal.repl import BUSY

CoderOn = Callable[[ModelServerThread], Coder]

ROUNDS = 12
PARKED, INTERRUPTED = 5, 130


def test_ctrl_c_shortly_after_parking_leaves_cleanly(serve: Serve, coder_on: CoderOn) -> None:
    """Symptom: exit by SIGSEGV (8 of 200), or a `closed database` traceback."""
    coder = coder_on(serve(by_history(lambda _: proposes(bash("touch never")))))
    for number in range(1, ROUNDS + 1):
        started = coder.fork("coder", "-p", "go", "--unattended", "park")
        _wait_for_batches(coder.home / "sessions.db", number)
        time.sleep(random.uniform(0, 0.025))  # the moment differs, and any of them must do
        started.send(signal.SIGINT)
        ran = started.wait()
        assert ran.code in (PARKED, INTERRUPTED)
        assert "Traceback" not in ran.err
        assert "closed" not in ran.err


def test_a_repl_left_in_mid_turn_leaves_cleanly(serve: Serve, coder_on: CoderOn) -> None:
    """Symptom: exit by SIGSEGV (3 of 100)."""
    coder = coder_on(serve(by_history(lambda _: hangs(says("one two three four"), after_pieces=3))))
    for _ in range(ROUNDS // 2):
        with at_terminal(coder) as terminal:
            terminal.enter("go")
            terminal.wait_until(lambda seen: BUSY in seen.text, "the turn")
            terminal.press("c-d", "escape", "c-d")
            assert terminal.wait() == 0
            assert "Traceback" not in terminal.seen.all_text


@pytest.mark.parametrize("arguments", [("asks",), ("model",), ("-p", "go")], ids=" ".join)
def test_ctrl_c_while_loading_crashed_the_interpreter(
    serve: Serve, coder_on: CoderOn, arguments: tuple[str, ...]
) -> None:
    """Symptom: exit by SIGSEGV (18 of 400), because msgspec had swallowed KeyboardInterrupt while it loaded."""
    coder = coder_on(serve(by_history(lambda _: says("never"))))
    program = (str(Path(__file__).with_name("ctrl_c_while_loading.py")),)
    assert coder.start(*arguments, program=program).wait() == Ran(INTERRUPTED, "", "")


_ENDS_AT_THE_SIGNAL = """
import asyncio, os, signal, sys
from coderelay.cli.startup.event_loop_and_ctrl_c import run_loop
number = int(sys.argv[1])
async def work():
    asyncio.get_running_loop().add_signal_handler(number, print, "heard")
    await asyncio.sleep(0)
    os.kill(os.getpid(), number)
run_loop(work())
"""


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM], ids=lambda each: each.name)
def test_a_signal_in_the_last_step_of_a_command_was_lost(number: signal.Signals) -> None:
    """Symptom: `coder -p` waited for ever for a reader that did not read, although Ctrl-C had been pressed."""
    program = [sys.executable, "-c", _ENDS_AT_THE_SIGNAL, str(int(number))]
    assert subprocess.run(program, capture_output=True, text=True, check=False).stdout == "heard\n"


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM], ids=lambda each: each.name)
def test_nohup_did_not_keep_a_turn_running(serve: Serve, coder_on: CoderOn, number: signal.Signals) -> None:
    """Symptom: `nohup coder -p …` ended with the terminal, and `coder -p … &` in a script with its Ctrl-C."""
    gate = "touch begun; while [ ! -e go ]; do sleep 0.02; done"
    coder = coder_on(serve(script(proposes(bash(gate)), says("done"))))
    ignoring = f"import signal; signal.signal({int(number)}, signal.SIG_IGN); import coderelay.cli as c; c.run()"
    started = coder.start("-p", "go", "--mode", "yolo", program=("-c", ignoring))
    deadline = time.monotonic() + 60
    while not (coder.cwd / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    started.send(number)
    (coder.cwd / "go").touch()
    assert started.wait() == Ran(0, "done\n", "")


def _wait_for_batches(path: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if path.exists():
            connection = sqlite3.connect(path)
            try:
                found = connection.execute("SELECT count(*) FROM event WHERE kind = 'batch.opened'").fetchone()
            except sqlite3.OperationalError:
                found = (0,)  # its tables are being made
            finally:
                connection.close()
            if found == (count,):
                return
        time.sleep(0.002)
    raise AssertionError("it did not park")
