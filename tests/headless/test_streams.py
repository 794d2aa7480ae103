"""Standard output and standard error that are closed, full, stalled, gone, or a terminal."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coderelay.surfaces.nonblocking_standard_streams import MOST_WAITING
from tests.coder_process import PROGRAM, Coder, Ran, Started
from tests.conftest import Serve
from tests.model_server import (
    Answer,
    History,
    ModelServerThread,
    bash,
    by_history,
    hangs,
    http_error,
    proposes,
    says,
    script,
)
from tests.patience import PATIENCE
from tests.plain_terminal import terminal

CoderOn = Callable[[ModelServerThread], Coder]
PIPE = 1 << 16
LONG = "words " * 20_000
"""Several of these are more than a pipe and our own memory take."""

HOSTILE = "a\x1b]0;title\x07b\x1b]52;c;aGk=\x07c\x1b[?1049hd\x1b[8me\u202ef\u200bg\x9b2Jh"


def redirected(coder: Coder, redirection: str, *arguments: str) -> Ran:
    """As a shell does it: `>&-`, `2>/dev/full`, `| true`."""
    done = subprocess.run(
        ["bash", "-c", f'"$0" "$@" {redirection}; exit "${{PIPESTATUS[0]}}"', sys.executable, *PROGRAM, *arguments],
        cwd=coder.cwd,
        env=coder.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def wait_for(holds: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.02)


def phase(coder: Coder) -> str | None:
    """Of the only session, once there is one."""
    listed = coder.run("sessions", "--json").out
    return json.loads(listed).get("phase") if listed else None


def fill(started: Started) -> None:
    """Until nothing more goes into the pipe that we do not read."""
    seen = [0]

    def is_full() -> bool:
        assert started.process.stdout is not None
        waiting = fcntl.ioctl(started.process.stdout.fileno(), termios.FIONREAD, b"\0" * 4)
        seen.append(int.from_bytes(waiting, sys.byteorder))
        return seen[-1] > PIPE // 4 and len(set(seen[-50:])) == 1

    wait_for(is_full, "a full pipe")


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
def test_a_turn_whose_output_cannot_be_written_runs_to_its_end_and_exits_1(
    serve: Serve, coder_on: CoderOn, folder: Path, redirection: str
) -> None:
    coder = coder_on(serve(script(proposes(bash("touch ran")), says("done"))))
    ran = redirected(coder, redirection, "-p", "go", "--mode", "yolo")
    assert ran.code == 1
    assert "coder: cannot write to standard output: " in ran.err
    assert "Traceback" not in ran.err
    assert (folder / "ran").exists()
    assert phase(coder) == "done"


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_with_stderr_closed_or_full_the_command_never_ran(
    serve: Serve, coder_on: CoderOn, folder: Path, redirection: str
) -> None:
    coder = coder_on(serve(script(proposes(bash("touch ran")), says("done"))))
    assert redirected(coder, redirection, "-p", "go", "--mode", "yolo") == Ran(0, "done\n", "")
    assert (folder / "ran").exists()


def test_a_traceback_lost_its_last_lines(serve: Serve, coder_on: CoderOn) -> None:
    """Symptom: of an unexpected error in the terminal, everything was shown but the error."""
    failing = """
import coderelay.cli as cli
from coderelay.surfaces import nonblocking_standard_streams
def fail():
    nonblocking_standard_streams.write_behind()
    raise ValueError("what went wrong")
cli.main = fail
cli.run()
"""
    ran = coder_on(serve(script())).start(program=("-c", failing)).wait()
    assert ran.code == 1
    assert ran.err.endswith("ValueError: what went wrong\n")


def test_nothing_is_written_into_the_log_in_place_of_a_closed_stream(serve: Serve, coder_on: CoderOn) -> None:
    """A file that is opened gets the lowest free number, and that may be a standard stream's."""
    coder = coder_on(serve(script(says("into the log"), says("again"))))
    assert redirected(coder, "<&- >&- 2>&-", "-p", "go").code == 1
    assert coder.run("-p", "go", "--continue") == Ran(0, "again\n", "")
    assert "log" in coder.run("doctor").out
    assert coder.run("sessions", "show", json.loads(coder.run("sessions", "--json").out)["id"]).code == 0


@pytest.mark.parametrize("redirection", [">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "| true"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["--nonsense"],
        ["sessions"],
        ["sessions", "show", "nothing"],
        ["asks"],
        ["answer", "nothing", "allow"],
        ["resume"],
        ["permissions", "list"],
        ["mcp", "list"],
        ["model", "list"],
        ["doctor"],
        ["completions", "bash"],
    ],
    ids=" ".join,
)
def test_no_command_shows_a_traceback_when_its_streams_are_broken(
    tmp_path: Path, folder: Path, redirection: str, arguments: list[str]
) -> None:
    ran = redirected(Coder(tmp_path / "home", folder, None), redirection, *arguments)
    assert "Traceback" not in ran.err
    assert "Exception" not in ran.err
    assert ran.code in (0, 1, 2, 141)
    if arguments == ["--help"] and "2>" not in redirection and ">" in redirection:
        assert ran.code == 1


@pytest.mark.parametrize("arguments", [[], ["-p", "hi"], ["resume"], ["permissions", "check", "ls"], ["mcp"]])
def test_the_current_folder_was_removed(tmp_path: Path, arguments: list[str]) -> None:
    here = tmp_path / "here"
    here.mkdir()
    coder = Coder(tmp_path / "home", here, None)
    line = 'rmdir "$PWD"; "$0" "$@"'
    done = subprocess.run(
        ["bash", "-c", line, str(Path(sys.executable).parent / "coder"), *arguments],
        cwd=here,
        env=coder.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "the current folder no longer exists" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode in (1, 2)


def test_a_reader_that_does_not_read_stopped_the_session(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    """`coder -p … | less`: the turn ends, what was written meanwhile can be read later, and none of it is missing."""
    steps = [proposes(bash(f"echo {step}"), text=f"{step} {LONG}") for step in range(3)]
    coder = coder_on(serve(script(*steps, proposes(bash("touch ran")), says("done"))))
    started = coder.start("-p", "go", "--mode", "yolo", "--output", "stream-json")
    try:
        wait_for((folder / "ran").exists, "the command behind the long text")
        wait_for(lambda: phase(coder) == "done", "the end of the turn")
        assert started.process.poll() is None
        ran = started.wait(PATIENCE)
    finally:
        started.process.kill()
    assert (ran.code, ran.err) == (0, "")
    messages: list[dict[str, Any]] = [json.loads(line) for line in ran.out.splitlines()]
    whole = [each for each in messages if each["type"] != "stream_event"]
    assert [each["type"] for each in whole] == ["system", *["assistant", "user"] * 4, "assistant", "result"]
    texts = [each["message"]["content"][0].get("text") for each in whole if each["type"] == "assistant"]
    assert texts == [*(f"{step} {LONG}" for step in range(3)), None, "done"]
    assert len(ran.out) < 2 * 3 * len(LONG), "pieces of unfinished messages were left out"
    assert messages[-1]["result"] == "done"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_did_nothing_while_the_reader_did_not_read(
    serve: Serve, coder_on: CoderOn, number: signal.Signals
) -> None:
    coder = coder_on(serve(script(hangs(says(LONG), 20_000))))
    started = coder.start("-p", "go", "--mode", "yolo", "--output", "stream-json")
    try:
        fill(started)
        started.send(number)
        assert started.process.wait(PATIENCE) == 130
    finally:
        started.process.kill()
        started.process.communicate()


def test_ctrl_c_did_nothing_once_events_were_held_back_for_the_reader(serve: Serve, coder_on: CoderOn) -> None:
    """Symptom: the turn was stopped, but its last events waited until the reader had taken the others."""
    asked = threading.Event()

    def answer(history: History) -> Answer:
        if sum(each.role == "assistant" for each in history) < 2:
            return proposes(bash("true"), text="x" * (MOST_WAITING + PIPE))
        asked.set()
        return hangs(says("never"), after_pieces=0)

    coder = coder_on(serve(by_history(answer)))
    started = coder.start("-p", "go", "--mode", "yolo", "--output", "stream-json")
    try:
        wait_for(asked.is_set, "the last request")
        started.send(signal.SIGINT)
        assert started.process.wait(PATIENCE) == 130
        assert phase(coder) == "stopped"
    finally:
        started.process.kill()
        started.process.communicate()


def test_ctrl_c_ends_the_wait_for_a_reader_after_the_turn(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says(LONG))))
    started = coder.start("-p", "go", "--output", "stream-json")
    try:
        wait_for(lambda: phase(coder) == "done", "the end of the turn")
        assert started.process.poll() is None
        started.send(signal.SIGINT)
        assert started.process.wait(PATIENCE) == 130
    finally:
        started.process.kill()
        started.process.communicate()


def test_lines_from_a_pipe_go_on_while_nobody_reads(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(bash("touch ran"), text=LONG), says("done"))))
    process = subprocess.Popen(
        [sys.executable, *PROGRAM, "--mode", "yolo"],
        cwd=coder.cwd,
        env=coder.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.close()
        process.stdin = None
        wait_for((folder / "ran").exists, "the command behind the long text")
        out, _ = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert out.endswith("done\n")


def test_x04_a_model_steered_the_terminal_by_its_answer(serve: Serve, coder_on: CoderOn) -> None:
    with terminal(coder_on(serve(script(says(HOSTILE)))), "-p", "go") as screen:
        assert screen.wait() == 0
        shown = screen.text
    assert r"a\x1b]0;title\x07b\x1b]52;c;aGk=\x07c\x1b[?1049hd\x1b[8me\u202ef\u200bg\x9b2Jh" in shown
    assert not set("\x1b\x07\x9b\u202e\u200b") & set(shown)


@pytest.mark.parametrize("form", ["json", "stream-json"])
def test_json_output_let_escape_sequences_through_to_the_terminal(serve: Serve, coder_on: CoderOn, form: str) -> None:
    with terminal(coder_on(serve(script(says(HOSTILE)))), "-p", "go", "--output", form) as screen:
        assert screen.wait() == 0
        assert not set("\x1b\x07\x9b\u202e\u200b") & set(screen.text)


def test_an_error_of_a_server_steered_the_terminal(serve: Serve, coder_on: CoderOn) -> None:
    with terminal(coder_on(serve(script(http_error(400, f"no {HOSTILE}")))), "-p", "go") as screen:
        assert screen.wait() == 1
        assert "no a" in screen.text
        assert not set("\x1b\x07\x9b\u202e\u200b") & set(screen.text)


def test_what_a_program_reads_stays_as_the_model_wrote_it(serve: Serve, coder_on: CoderOn) -> None:
    assert coder_on(serve(script(says(HOSTILE)))).run("-p", "go") == Ran(0, f"{HOSTILE}\n", "")


def test_stdout_and_stderr_are_judged_each_for_itself(serve: Serve, coder_on: CoderOn, tmp_path: Path) -> None:
    """A file beside a terminal gets every byte."""
    coder = coder_on(serve(script(says(HOSTILE))))
    ours, theirs = os.openpty()
    out = tmp_path / "out"
    try:
        with out.open("wb") as file:
            done = subprocess.run(
                [sys.executable, *PROGRAM, "-p", "go"],
                cwd=coder.cwd,
                env=coder.env,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=theirs,
                timeout=PATIENCE,
                check=False,
            )
    finally:
        os.close(theirs)
        os.close(ours)
    assert (done.returncode, out.read_bytes().decode()) == (0, f"{HOSTILE}\n")


_WRITES_BEHIND = """
import sys, threading
from coderelay.surfaces import nonblocking_standard_streams
nonblocking_standard_streams.install()
nonblocking_standard_streams.write_behind()
for number in range(int(sys.argv[1])):
    sys.stdout.write("x" * 99 + "\\n")
    sys.stdout.flush()
sys.stderr.write(f"{threading.active_count()} {nonblocking_standard_streams.waiting()}\\n")
nonblocking_standard_streams.finish(0)
"""


def _write_behind(lines: int, out: Any) -> "subprocess.Popen[str]":
    argv = [sys.executable, "-c", _WRITES_BEHIND, str(lines)]
    return subprocess.Popen(argv, stdout=out, stderr=subprocess.PIPE, text=True)


def test_no_thread_writes_what_a_file_or_a_pipe_has_room_for(tmp_path: Path) -> None:
    """Symptom: every line of progress woke a thread, which took the interpreter away from the session."""
    path = tmp_path / "out"
    with path.open("w") as file, _write_behind(50, file) as written:
        assert written.communicate(timeout=PATIENCE)[1] == "1 0\n"
    assert len(path.read_text()) == 50 * 100
    with _write_behind(50, subprocess.PIPE) as piped:
        assert piped.communicate(timeout=PATIENCE) == (("x" * 99 + "\n") * 50, "1 0\n")


def test_a_thread_writes_what_a_full_pipe_has_no_room_for() -> None:
    lines = 2 * PIPE // 100
    with _write_behind(lines, subprocess.PIPE) as piped:
        assert piped.stdout is not None
        assert piped.stderr is not None
        threads, waiting = map(int, piped.stderr.readline().split())  # before anybody reads the output
        assert threads == 2
        assert waiting > PIPE // 2
        assert piped.stdout.read() == ("x" * 99 + "\n") * lines
