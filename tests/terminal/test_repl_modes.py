"""X-20: at the terminal, a change of mode counts for the next decision of a turn that runs."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, proposes, says, script, write
from tests.terminal.repl import asks, log_of, repl, settle, status_of, works

CoderOn = Callable[[ModelServerThread], Coder]
HELD = "cat held"  # until somebody writes into it


@pytest.fixture
def held(folder: Path) -> Path:
    os.mkfifo(folder / "held")
    return folder / "held"


def test_x20_c23_a_stricter_mode_counts_at_once(serve: Serve, coder_on: CoderOn, folder: Path, held: Path) -> None:
    coder = coder_on(serve(script(proposes(bash(HELD)), proposes(write("new.txt", "x")), says("done"))))
    with repl(coder, "--mode", "yolo") as terminal:
        terminal.enter("go, no tests")
        works(terminal, HELD)
        terminal.enter("/default")
        terminal.wait_until(lambda seen: "mode: default" in seen.text and "default ❯" in seen.text, "the new mode")
        held.write_text("go on\n")
        asks(terminal, "new.txt")
        terminal.type("n")
        settle(terminal, "done")
    assert not (folder / "new.txt").exists()


def test_x20_c23_a_freer_mode_counts_at_once_and_an_open_ask_stays(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    calls = (proposes(write("one.txt", "1")), proposes(write("two.txt", "2")), says("done"))
    coder = coder_on(serve(script(*calls)))
    with repl(coder) as terminal:
        terminal.enter("go, no tests")
        asks(terminal, "one.txt")
        terminal.press("s-tab")
        seen = terminal.wait_until(lambda seen: "auto-edit ❯" in seen.text, "the next mode")
        assert "waiting for you" in status_of(seen)
        terminal.type("y")
        settle(terminal, "done")
    assert [(folder / name).read_text() for name in ("one.txt", "two.txt")] == ["1", "2"]
    assert [each["kind"] for each in log_of(coder)].count("ask.answered") == 1


def test_x17_the_status_line_says_that_yolo_uses_no_sandbox(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script()))
    with repl(coder) as terminal:
        before = status_of(terminal.seen)
        if "sandbox: none" in before:
            pytest.skip("there is no sandbox on this machine")
        assert "sandbox: off" not in before
        terminal.enter("/yolo")
        terminal.wait_until(lambda seen: "sandbox: off" in status_of(seen), "the sandbox is off")
        terminal.enter("/status")
        terminal.wait_for("off (yolo mode: commands run without a sandbox)")
        terminal.enter("/default")
        terminal.wait_until(lambda seen: status_of(seen) == before, "the sandbox is used again")


def test_x17_the_status_line_shows_a_sandbox_that_yolo_keeps(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script()))
    coder.home.mkdir(exist_ok=True)
    (coder.home / "config.json").write_text('{"sandbox": {"yolo": true}}')
    with repl(coder, "--mode", "yolo") as terminal:
        assert "sandbox: off" not in status_of(terminal.seen)
        terminal.enter("/status")
        seen = terminal.wait_for("run by")
        assert "without a sandbox" not in seen.all_text
