"""A process stopped in the middle of a write keeps everyone waiting, but nobody fails because of it."""

import signal
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.model_server import ModelServerThread, by_history, says
from tests.store.sqlite_process import hold, start
from tests.terminal.repl import repl, settle

CoderOn = Callable[[ModelServerThread], Coder]

INTERRUPTED = 130
LONG_SECONDS = 11.0  # others gave up after ten


@contextmanager
def stopped_writer(coder: Coder) -> Generator[subprocess.Popen[str]]:
    """Has begun to write, and was stopped."""
    process = start(hold, coder.home / "sessions.db", "IMMEDIATE")
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    process.send_signal(signal.SIGSTOP)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.communicate()


def test_others_wait_for_a_stopped_writer_say_who_it_is_and_go_on(serve: Serve, coder_on: CoderOn) -> None:
    """Symptom: `coder -p` failed after ten seconds, and a REPL ended."""
    coder = coder_on(serve(by_history(lambda _: says("done"))))
    assert coder.run("-p", "hi").code == 0
    with repl(coder) as terminal:
        with stopped_writer(coder) as holder:
            began = time.monotonic()
            headless = coder.start("-p", "go")
            terminal.enter("from the terminal")
            terminal.wait_for("waiting for it")
            assert f"locked by process {holder.pid}" in " ".join(terminal.everything.split())
            terminal.type("typed meanwhile")
            terminal.wait_for("typed meanwhile")
            time.sleep(max(0.0, LONG_SECONDS - (time.monotonic() - began)))  # the symptom is a time limit
            assert headless.process.poll() is None
        ran = headless.wait()
        settle(terminal, "done")
        assert "from the terminal" in terminal.everything
    assert (ran.code, ran.out) == (0, "done\n")
    assert f"locked by process {holder.pid}" in ran.err
    assert "which is stopped; waiting for it\n" in ran.err
    assert "is free again\n" in ran.err


def test_ctrl_c_leaves_while_the_log_is_locked(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(by_history(lambda _: says("done"))))
    assert coder.run("-p", "hi").code == 0
    with stopped_writer(coder):
        started = coder.start("-p", "go")
        assert started.process.stderr is not None
        assert "waiting for it" in started.process.stderr.readline()
        started.send(signal.SIGINT)
        assert started.wait() == Ran(130, "", "")
        assert coder.run("sessions").code == 0  # reading waits for nobody


def test_a_terminal_could_not_be_left_while_the_log_was_locked(serve: Serve, coder_on: CoderOn) -> None:
    """Symptom: neither Ctrl-D twice nor SIGTERM ended it."""
    coder = coder_on(serve(by_history(lambda _: says("done"))))
    with repl(coder) as terminal:
        terminal.enter("first")
        settle(terminal, "done")
        with stopped_writer(coder):
            terminal.enter("second")
            terminal.wait_for("stopped;")
            terminal.press("c-d", "c-d")
            assert terminal.wait() == 0


def test_a_prompt_could_not_be_interrupted_while_the_log_was_locked(serve: Serve, coder_on: CoderOn) -> None:
    """Symptom: no number of Ctrl-C ended `coder -p --continue`, and SIGTERM did not either."""
    coder = coder_on(serve(by_history(lambda _: says("done"))))
    assert coder.run("-p", "first").code == 0
    with stopped_writer(coder):
        started = coder.start("-p", "second", "--continue")
        assert started.process.stderr is not None
        assert "waiting for it" in started.process.stderr.readline()
        started.send(signal.SIGTERM)
        assert started.wait().code == INTERRUPTED
