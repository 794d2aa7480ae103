"""Pipes, `TERM=dumb` and no terminal at all: plain lines, no escapes, nothing that waits for nobody."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coder_process import PROGRAM, Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, hangs, proposes, says, script
from tests.terminal.pty import at_terminal
from tests.terminal.repl import answers_in, asked, log_of, open_asks, repl, sessions_of, settle

CoderOn = Callable[[ModelServerThread], Coder]
TERMINAL = {"TERM": "xterm-256color", "LANG": "C.UTF-8", "CODER_LANG": "en"}


def test_x16_lines_from_a_pipe_are_prompts_and_what_is_asked_is_denied(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    server = serve(script(proposes(bash("touch x")), says("**no**"), says("bye")))
    ran = coder_on(server).run(text="go\ny\n", env=TERMINAL)
    assert (ran.code, ran.err) == (0, "")
    assert "\x1b" not in ran.out
    assert "**no**" in ran.out, "text as it is"
    assert not (folder / "x").exists()
    assert asked(server)[-1] == "y"


@pytest.mark.parametrize(
    "settings",
    [{"approval": {"unattended": "allow"}}, {"approval": {"interactive": False}}, {"auto_approve_ask": True}],
)
def test_c35_x04_a_pipe_heeds_what_was_allowed_beforehand(
    serve: Serve, coder_on: CoderOn, folder: Path, settings: dict[str, object]
) -> None:
    coder = coder_on(serve(script(proposes(bash("touch x")), says("done"))))
    _configure(coder, settings)
    assert coder.run(text="go\n", env=TERMINAL).code == 0
    assert (folder / "x").exists()
    (answer,) = [each for each in log_of(coder) if each["kind"] == "ask.answered"]
    assert answer["by"]["via"] == "terminal:unattended"


def test_x04_an_option_counts_more_than_the_configuration_in_a_pipe(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    coder = coder_on(serve(script(proposes(bash("touch x")), says("done"))))
    _configure(coder, {"approval": {"unattended": "allow"}})
    assert coder.run("--unattended", "deny", text="go\n", env=TERMINAL).code == 0
    assert not (folder / "x").exists()


def test_x04_a_parked_ask_ends_the_pipe_and_stays_open(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(proposes(bash("touch x"))))
    coder = coder_on(server)
    ran = coder.run("--unattended", "park", text="go\nmore\n/yolo\n", env=TERMINAL)
    (session,) = sessions_of(coder)
    assert ran.code == 5
    assert ran.err == (
        f"coder: paused: a question or permission request is open; the lines after it were not "
        f"sent\nsession {session}\n"
    )
    assert "allow?" not in ran.out
    assert (len(open_asks(coder)), asked(server)) == (1, ["go"])


def test_x04_a_pipe_does_not_decide_what_was_asked_before_it_came(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(proposes(bash("touch x"))))
    coder = coder_on(server)
    assert coder.run("-p", "go", "--unattended", "park").code == 5
    ran = coder.run("resume", sessions_of(coder)[0], text="more\n", env=TERMINAL)
    assert (ran.code, answers_in(coder), asked(server)) == (5, [], ["go"])


def test_c35_a_pipe_does_not_print_questions_that_nobody_is_asked(serve: Serve, coder_on: CoderOn) -> None:
    calls = proposes(bash("touch a"), bash("touch b"), bash("touch c"))
    ran = coder_on(serve(script(calls, says("done")))).run(text="go\n", env=TERMINAL)
    assert "allow?" not in ran.out
    assert ran.out.count("nobody was there to answer") == 3


def test_x16_a_piped_command_does_not_overtake_the_prompts_before_it(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    calls = proposes(bash("touch x"))
    coder = coder_on(serve(script(calls, says("a plan"), calls, says("done"))))
    ran = coder.run(text="/plan\nthree\n/yolo\n/status\nfour\n", env=TERMINAL)
    assert ran.code == 0
    shown = [line for line in ran.out.splitlines() if line.startswith((">", "mode: ", "a plan", "done"))]
    assert shown == ["mode: plan", "> three", "a plan", "mode: yolo", "> four", "done"]
    assert [each["outcome"]["type"] for each in log_of(coder) if each["kind"] == "call.ended"] == [
        "denied",
        "finished",
    ]


def test_ctrl_c_ends_a_pipe_and_the_lines_behind_are_not_taken(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(hangs(says("one two three"), 2)))
    coder = coder_on(server)
    lines = coder.cwd / "lines"
    lines.write_text("go\nmore\n")
    command = [sys.executable, *PROGRAM]
    with lines.open() as piped:
        process = subprocess.Popen(command, cwd=coder.cwd, env=coder.env, stdin=piped, stdout=subprocess.PIPE)
    assert process.stdout is not None
    shown = b""
    while b"one" not in shown:
        assert process.poll() is None
        shown += os.read(process.stdout.fileno(), 4096)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert (process.returncode, asked(server)) == (130, ["go"])


def test_x16_a_shell_line_from_a_pipe_is_text(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(says("I cannot do that")))
    ran = coder_on(server).run(text="!touch x\n", env=TERMINAL)
    assert ran.code == 0
    assert not (folder / "x").exists()
    assert asked(server) == ["!touch x"]


def test_x04_nothing_to_read_and_nobody_there_ends(serve: Serve, coder_on: CoderOn) -> None:
    ran = coder_on(serve(script())).run(env=TERMINAL)
    assert ran.code == 0
    assert "\x1b" not in ran.out + ran.err


def test_a_dumb_terminal_gets_lines(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(bash("touch x")), says("done"))))
    with at_terminal(coder, env={"TERM": "dumb"}) as terminal:
        terminal.wait_until(lambda seen: seen.cursor_row == ">", "the prompt")
        terminal.enter("go")
        terminal.wait_until(lambda seen: "s(top) >" in seen.cursor_row, "the question")
        terminal.enter("y")
        terminal.wait_for("done")
        terminal.wait_until(lambda seen: seen.cursor_row == ">", "the prompt")
        terminal.press("c-d")
        assert terminal.wait() == 0
    assert b"\x1b" not in terminal.raw
    assert (folder / "x").exists()


def test_output_into_a_pipe_has_no_escapes_even_with_a_keyboard(serve: Serve, coder_on: CoderOn) -> None:
    """`coder | tee log`: the keyboard is there, the screen is not."""
    coder = coder_on(serve(script(says("**hello**"))))
    command = [sys.executable, *PROGRAM]
    program = f"import subprocess; subprocess.run({command!r}, stdout=open('log', 'wb'), check=True)"
    with at_terminal(coder, program=("-c", program)) as terminal:
        log = coder.cwd / "log"
        terminal.enter("hi")
        terminal.wait_until(lambda _: log.exists() and b"**hello**" in log.read_bytes(), "the answer", poll=True)
        terminal.press("c-d")
        assert terminal.wait() == 0
    assert b"\x1b" not in log.read_bytes()


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("-p", "hi")])
def test_what_needs_no_terminal_does_not_load_one(
    serve: Serve, coder_on: CoderOn, arguments: tuple[str, ...]
) -> None:
    coder = coder_on(serve(script(says("hello"))))
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *PROGRAM, *arguments],
        cwd=coder.cwd,
        env=coder.env,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "coderelay.cli" in loaded
    unwanted = re.compile(r"(prompt_toolkit|rich|pygments|coderelay\.surfaces\.terminal)\b.*")
    assert sorted(filter(unwanted.fullmatch, loaded)) == []


def test_no_colour_when_it_is_not_wanted(serve: Serve, coder_on: CoderOn) -> None:
    with repl(coder_on(serve(script(says("# Title\n\n**bold** `code`")))), env={"NO_COLOR": "1"}) as terminal:
        terminal.enter("go")
        settle(terminal, "code")
    colours = re.findall(rb"\x1b\[[0-9;]*m", terminal.raw)
    assert [each for each in colours if re.search(rb"[;\[](3[0-8]|9[0-7])[;m]", each)] == []


def _configure(coder: Coder, settings: dict[str, object]) -> None:
    coder.home.mkdir()
    (coder.home / "config.json").write_text(json.dumps(settings))
