"""Stopping what runs, leaving, and what is left of the terminal afterwards."""

import os
import signal
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, hangs, proposes, says, script
from tests.terminal.pty import Terminal
from tests.terminal.repl import asked, is_idle, log_of, repl, settle, typed_in, works

CoderOn = Callable[[ModelServerThread], Coder]


@pytest.mark.parametrize("key", ["escape", "c-c"])
def test_c20_a_turn_is_interrupted_in_mid_stream(serve: Serve, coder_on: CoderOn, key: str) -> None:
    server = serve(script(hangs(says("one two three"), 3), says("fine")))
    coder = coder_on(server)
    with repl(coder) as terminal:
        terminal.enter("go")
        works(terminal, "one two")
        terminal.press(key)
        seen = settle(terminal, "stopped")
        assert seen.all_text.count("one two") == 1, "what was there stays, once"
        terminal.enter("again")
        settle(terminal, "fine")
    assert [each["ending"] for each in log_of(coder) if each["kind"] == "turn.ended"] == ["stopped", "done"]
    assert asked(server) == ["go", "again"]


def test_leaving_in_mid_turn_says_that_the_turn_is_not_finished(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(hangs(says("one two three"), 3), says("three four"))))
    with repl(coder) as terminal:
        terminal.enter("go")
        works(terminal, "one two")
        terminal.enter("/quit")
        assert terminal.wait() == 0
        assert "(The turn is not finished. Continue it with: coder resume " in terminal.seen.all_text
    with repl(coder, "-c") as terminal:
        settle(terminal, "three four")
        terminal.enter("/quit")
        assert terminal.wait() == 0
        assert "(Resume with: coder resume " in terminal.seen.all_text


def test_c20_a_turn_is_interrupted_in_mid_command_and_the_command_ends(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    command = "trap 'echo left > ended' EXIT; echo $$ > pid; while :; do sleep 0.05; done"
    coder = coder_on(serve(script(proposes(bash(command)), says("fine"))))
    with repl(coder, "--mode", "yolo") as terminal:
        terminal.enter("go")
        terminal.wait_until(lambda _: (folder / "pid").exists(), "the command", poll=True)
        terminal.press("escape")
        terminal.wait_until(is_idle, "the prompt")
        terminal.enter("again")
        settle(terminal, "fine")
    assert [each["ending"] for each in log_of(coder) if each["kind"] == "turn.ended"] == ["stopped", "done"]
    assert [each["outcome"]["type"] for each in log_of(coder) if each["kind"] == "call.ended"] == ["stopped"]


def test_ctrl_c_clears_the_line_first_and_leaves_at_the_second(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script())
    with repl(coder_on(server)) as terminal:
        terminal.type("half a thought")
        terminal.wait_until(lambda seen: typed_in(seen) == "half a thought", "the text")
        terminal.press("c-c")
        terminal.wait_until(lambda seen: typed_in(seen) == "", "an empty line")
        terminal.press("c-c")
        terminal.wait_until(lambda seen: "Ctrl+C" in seen.text, "a hint")
        terminal.press("c-c")
        assert terminal.wait() == 0
    assert server.requests == []


@pytest.mark.parametrize("how", ["c-d", "/exit", "SIGTERM", "SIGKILL"])
def test_the_terminal_is_left_as_it_was_found(serve: Serve, coder_on: CoderOn, how: str) -> None:
    with repl(coder_on(serve(script()))) as terminal:
        assert not _echoes(terminal)
        match how:
            case "c-d":
                terminal.press("c-d")
            case "/exit":
                terminal.enter("/exit")
            case _:
                terminal.process.send_signal(signal.Signals[how])
        code = terminal.wait()
        if how == "SIGKILL":  # nobody can clean up after that
            assert code == -signal.SIGKILL
            return
        assert code in (0, 143)
        assert _echoes(terminal)
        raw = terminal.raw
        assert raw.rfind(b"\x1b[?25h") >= raw.rfind(b"\x1b[?25l"), "the cursor is shown"
        assert raw.rfind(b"\x1b[?2004l") > raw.rfind(b"\x1b[?2004h"), "a paste is plain again"
        assert "❯" not in terminal.seen.cursor_row, "no prompt is left that nobody reads"


def test_a_turn_goes_on_in_the_log_when_the_terminal_is_gone(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    """A hang-up in mid-turn: whoever opens the session next carries on."""
    coder = coder_on(serve(script(hangs(says("one two"), 2), says("carried on"), says("now this"))))
    with repl(coder) as terminal:
        terminal.enter("go")
        works(terminal, "one")
        os.kill(terminal.process.pid, signal.SIGHUP)
        terminal.wait()
    ran = coder.run("-p", "and now?", "--continue")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "now this")
    assert [each["ending"] for each in log_of(coder) if each["kind"] == "turn.ended"] == ["done", "done"]


def _echoes(terminal: Terminal) -> bool:
    return bool(termios.tcgetattr(terminal.side)[3] & termios.ECHO)


def test_what_was_queued_comes_back_when_the_turn_is_stopped(serve: Serve, coder_on: CoderOn) -> None:
    """And Ctrl+C leaves afterwards: nothing runs that could be stopped."""
    server = serve(script(says("one two three", token_delay=60), says("unasked")))
    with repl(coder_on(server)) as terminal:
        terminal.enter("go")
        works(terminal, "go")
        for line in ("first", "second"):
            terminal.enter(line)
            terminal.wait_for(f"queued: {line}")
        terminal.press("escape")
        terminal.wait_until(lambda seen: "stopped" in seen.text and is_idle(seen), "the end of the turn")
        terminal.wait_until(lambda seen: typed_in(seen) == "first\n… second", "what was queued")
        terminal.press("c-c")
        terminal.wait_until(lambda seen: typed_in(seen) == "", "an empty line")
        terminal.press("c-c", "c-c")
        assert terminal.wait() == 0
    assert len(server.requests) == 1


def test_stopping_at_a_question_says_no_more_than_that(serve: Serve, coder_on: CoderOn) -> None:
    with repl(coder_on(serve(script(proposes(bash("make")))))) as terminal:
        terminal.enter("build it")
        terminal.wait_for("Run this command?")
        terminal.press("escape")
        seen = settle(terminal, "■ stopped")
        assert "no longer open" not in seen.all_text


def test_escape_twice_on_an_empty_line_goes_back_to_a_prompt(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("one"), says("two"), says("three")))
    with repl(coder_on(server)) as terminal:
        for prompt, answer in (("first try", "one"), ("and more\\", "two")):
            terminal.enter(prompt)
            if prompt.endswith("\\"):
                terminal.enter("of it")
            settle(terminal, answer)
        terminal.press("escape")
        terminal.wait_for("Press Esc again to go back to an earlier prompt")
        terminal.press("escape")
        terminal.wait_for("Rewind to before this prompt 2/2")
        terminal.press("escape")
        terminal.wait_until(lambda seen: "Rewind to" not in seen.text, "no list")
        terminal.press("escape", "escape")
        terminal.wait_for("Rewind to before this prompt 2/2")
        terminal.press("enter")
        terminal.wait_until(lambda seen: typed_in(seen) == "and more\n… of it", "the prompt")
        terminal.press("enter")
        settle(terminal, "three")
    said = [each["content"] for each in server.requests[-1]["messages"] if each["role"] == "user"]
    assert [each.rpartition("\n\n")[2] for each in said] == ["first try", "and more\nof it"]
