"""The home of coder deleted while it runs: said in words, and nothing is taken for written that is not."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, by_history, hangs, proposes, says, script
from tests.terminal.repl import repl, settle

CoderOn = Callable[[ModelServerThread], Coder]


def remove_whole(folder: Path) -> None:
    """As `rm -rf` does: again, while the process that is tested makes files in it."""
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


def test_a_turn_whose_log_is_deleted_fails_in_words(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    """Symptom: a traceback."""
    wait = "touch began; until [ -e go ]; do sleep 0.01; done"
    coder = coder_on(serve(by_history(lambda _: proposes(bash(wait)))))
    started = coder.start("-p", "go", "--mode", "yolo")
    while not (folder / "began").exists():
        assert started.process.poll() is None
    remove_whole(coder.home)
    (folder / "go").touch()
    ran = started.wait()
    assert ran.code == 1
    assert "sessions.db was moved or deleted while in use" in ran.err
    assert "Traceback" not in ran.err


def no_folder(owners: Path) -> None:
    remove_whole(owners)
    owners.touch()


def a_link_to_itself(owners: Path) -> None:
    remove_whole(owners)
    owners.symlink_to(owners.name)


@pytest.mark.parametrize("become", [no_folder, a_link_to_itself, shutil.rmtree])
def test_a_turn_that_was_done_ended_in_a_traceback_because_its_lock_was_gone(
    serve: Serve, coder_on: CoderOn, folder: Path, become: Callable[[Path], object]
) -> None:
    wait = "touch began; until [ -e go ]; do sleep 0.01; done"
    coder = coder_on(serve(script(proposes(bash(wait)), says("done"))))
    started = coder.start("-p", "go", "--mode", "yolo")
    while not (folder / "began").exists():
        assert started.process.poll() is None
    become(coder.home / "owners")
    (folder / "go").touch()
    assert started.wait() == Ran(0, "done\n", "")


def test_a_terminal_whose_log_is_deleted_stays_and_says_so(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(by_history(lambda _: says("done"))))
    with repl(coder) as terminal:
        terminal.enter("first")
        settle(terminal, "done")
        remove_whole(coder.home)
        terminal.enter("second")
        terminal.wait_for("not sent")
        assert "moved or deleted while in use" in " ".join(terminal.everything.split())
        terminal.press("c-c", "c-d")
        assert terminal.wait() == 0
        assert "Traceback" not in terminal.everything


def test_an_idle_turn_whose_log_is_deleted_can_be_left(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(by_history(lambda _: hangs(says("one two three four"), after_pieces=3))))
    with repl(coder) as terminal:
        terminal.enter("first")
        terminal.wait_for("one two")
        remove_whole(coder.home)
        terminal.press("escape")
        # The path before these words is as long as the name of this test's folder, so the line may break within them.
        terminal.wait_until(lambda seen: "moved or deleted" in " ".join(seen.all_text.split()), "moved or deleted")
        terminal.press("c-d", "c-d")
        assert terminal.wait() == 0
        assert "Traceback" not in terminal.everything
