"""A disk without room: what is there can be read, nobody's terminal ends, and with room everything goes on."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, by_history, proposes, says
from tests.terminal.repl import repl, settle, typed_in

CoderOn = Callable[[ModelServerThread], Coder]


def _fill(disk: Path) -> Path:
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):  # no space left
        while True:
            file.write(bytes(4096))
    return ballast


@pytest.mark.parametrize("left_by", ["exit", "kill"])
def test_sessions_and_asks_can_be_listed_on_a_full_disk(
    left_by: str, serve: Serve, folder: Path, small_disk: Path
) -> None:
    """Symptom: `coder sessions` failed with `disk I/O error`."""
    server = serve(by_history(lambda _: proposes(bash("touch a"))))
    coder = Coder(small_disk / "home", folder, server.base_url)
    if left_by == "exit":
        assert coder.run("-p", "go", "--unattended", "park").code == 5
    else:
        with repl(coder) as terminal:
            terminal.enter("go")
            terminal.wait_for("touch a")
            terminal.kill()
        (small_disk / "home" / "sessions.db-shm").unlink()  # as after a restart of the machine
    ballast = _fill(small_disk)
    listed, asked = coder.run("sessions"), coder.run("asks")
    assert (listed.code, listed.err) == (0, "")
    assert "waiting" in listed.out
    assert (asked.code, asked.err) == (0, "")
    assert "touch a" in asked.out
    answered = coder.run("answer", "--no-wait", asked.out.split()[0], "allow")
    assert answered.code == 1
    assert "no space left" in answered.err
    ballast.unlink()
    assert coder.run("answer", "--no-wait", asked.out.split()[0], "deny").code == 0


def test_a_terminal_stays_when_the_disk_is_full_and_the_line_is_not_lost(
    serve: Serve, folder: Path, small_disk: Path
) -> None:
    """Symptom: the REPL ended, and with it what was typed."""
    server = serve(by_history(lambda _: says("done")))
    coder = Coder(small_disk / "home", folder, server.base_url)
    with repl(coder) as terminal:
        terminal.enter("first")
        settle(terminal, "done")
        ballast = _fill(small_disk)
        line = "second " * 1000  # more than what is left in the last page
        terminal.paste(line)
        terminal.press("enter")
        seen = terminal.wait_for("not sent")
        assert "no space left" in " ".join(seen.all_text.split())
        assert terminal.process.poll() is None
        ballast.unlink()
        terminal.wait_until(typed_in, "the line in the input again")
        terminal.press("enter")
        terminal.wait_until(lambda seen: seen.all_text.count("done") >= 2, "the second turn")


def test_a_turn_that_a_full_disk_cut_off_goes_on_in_the_same_terminal(
    serve: Serve, folder: Path, small_disk: Path
) -> None:
    ballast = small_disk / "ballast"
    fill = f"head -c 8000000 /dev/zero > {ballast}; head -c 300000 /dev/zero | tr '\\0' x"
    steps = [proposes(bash(fill)), says("carried on")]
    server = serve(by_history(lambda history: steps[min(1, sum(each.role == "assistant" for each in history))]))
    coder = Coder(small_disk / "home", folder, server.base_url)
    with repl(coder, "--mode", "yolo") as terminal:
        terminal.enter("go")
        seen = terminal.wait_for("no space left")
        assert terminal.process.poll() is None
        ballast.unlink()
        seen = settle(terminal, "carried on")
        assert "may have run" in " ".join(seen.all_text.split())
