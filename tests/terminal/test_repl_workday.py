"""A day's work at a terminal: commands of one's own, undo, verification, a summary."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, call, proposes, says, script, write
from tests.terminal.repl import check_looks, is_idle, make_repository, repl, settle, works
from tests.workflow.project import ALLOWED, PYTHON, RIGHT, WRONG

CoderOn = Callable[[ModelServerThread], Coder]


def test_c15_c16_c17_a_shell_command_of_ones_own(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(says("I see")))
    coder = coder_on(server)
    with repl(coder) as terminal:
        terminal.enter("!echo to you; echo aside >&2; rm -rf nothing; touch made; exit 3")
        check_looks("shell", terminal, coder)
        assert server.requests == [], "no model was asked"
        terminal.enter("what was that?")
        settle(terminal, "I see")
    assert (folder / "made").exists(), "nobody asked"
    told = "\n".join(str(each["content"]) for each in server.requests[0]["messages"] if each["role"] == "user")
    for each in ("echo to you", "3", "to you", "aside"):
        assert each in told


def test_c15_a_long_command_is_seen_while_it_runs_and_can_be_stopped(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    with repl(coder_on(serve(script()))) as terminal:
        terminal.enter("!echo early; while :; do sleep 0.05; done")
        works(terminal, "early")
        terminal.press("escape")
        terminal.wait_until(is_idle, "the prompt")


@pytest.mark.quick
def test_c30_undo_takes_back_a_whole_turn(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    make_repository(folder, {"kept": "as it was\n"})
    calls = proposes(bash("echo changed > kept"), write("new/file", "x\n"), bash("echo more > other"))
    coder = coder_on(serve(script(calls, says("all done"))))
    with repl(coder, "--mode", "yolo") as terminal:
        terminal.enter("change it")
        settle(terminal, "all done")
        assert (folder / "other").exists()
        terminal.enter("/diff")
        settle(terminal, "new/file")
        terminal.enter("/undo")
        seen = settle(terminal, "the last turn was undone")
        for each in ("restored  kept", "removed   new/file", "removed   other"):
            assert each in seen.all_text
    assert sorted(path.name for path in folder.glob("[!.]*")) == ["kept"]
    assert (folder / "kept").read_text() == "as it was\n"


def test_c30_undo_covers_a_shell_command_of_ones_own(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    make_repository(folder, {"kept": "as it was\n"})
    with repl(coder_on(serve(script()))) as terminal:
        terminal.enter("!echo changed > kept")
        terminal.wait_until(lambda seen: is_idle(seen) and (folder / "kept").read_text() == "changed\n", "the change")
        terminal.enter("/undo")
        settle(terminal, "restored  kept")
    assert (folder / "kept").read_text() == "as it was\n"


def test_c37_c42_what_fails_is_repaired_and_checked_again_before_ones_eyes(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    make_repository(folder, PYTHON)
    answers = script(proposes(write("a.py", WRONG)), says("done 1"), proposes(write("a.py", RIGHT)), says("done 2"))
    coder = coder_on(serve(answers))
    coder.env["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), coder.env["PATH"]])
    coder.home.mkdir()
    (coder.home / "config.json").write_text(json.dumps(ALLOWED))
    with repl(coder, "--mode", "auto-edit") as terminal:
        terminal.enter("make it")
        seen = settle(terminal, "`pytest -q` passed")
    order = [
        "done 1",
        "assert 2 == 1",
        "`pytest -q` failed. Please fix this and run it again.",
        "done 2",
        "`pytest -q` passed",
    ]
    places = [seen.all_text.find(each) for each in order]
    assert places == sorted(places), seen.all_text
    assert -1 not in places, seen.all_text
    assert (folder / "a.py").read_text() == RIGHT


def test_c28_compact_shows_the_summary(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("one"), says("Goal: to count."), says("two")))
    with repl(coder_on(server)) as terminal:
        terminal.enter("count")
        settle(terminal, "one")
        terminal.enter("/compact")
        seen = settle(terminal, "Goal: to count.")
        assert seen.all_text.count("Goal: to count.") == 1
        terminal.enter("go on")
        settle(terminal, "two")
    assert "<summary>" in server.requests[-1]["messages"][1]["content"]


def test_c36_each_tool_says_what_it_did_and_shows_it(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    make_repository(folder, {"a.py": "def one():\n    return 2\n", "notes.md": "# Notes\n"})
    calls = proposes(
        call("read", path="a.py"),
        call("grep", pattern="return"),
        call("edit", path="a.py", old="return 2", new="return 1"),
        write("new.txt", "hello\nthere\n"),
        bash("echo out; echo err >&2; exit 4"),
        call("read", path="missing.py"),
    )
    coder = coder_on(serve(script(calls, says("done"))))
    with repl(coder, "--mode", "yolo", rows=60) as terminal:
        terminal.enter("go, without tests")
        seen = settle(terminal, "done")
        check_looks("tools", terminal, coder)
    for each in ("a.py", "return 2", "return 1", "hello", "out", "err", "4", "missing.py"):
        assert each in seen.all_text
