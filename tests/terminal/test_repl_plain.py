"""Pipes, `TERM=dumb` and no terminal at all: plain lines, no escapes, nothing that waits for nobody."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from coderelay.testing.command import PROGRAM, Coder
from coderelay.testing.model_server import ModelServerThread, bash, proposes, says, script
from tests.conftest import Serve
from tests.terminal.pty import at_terminal
from tests.terminal.repl import asked, repl, settle

CoderOn = Callable[[ModelServerThread], Coder]
pytestmark = pytest.mark.quick
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
