"""What people see of a child, where they are, and what they can do about it."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.children.conversations import conversations, task
from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.log_checker import check_settled, read_logs
from tests.model_server import ModelServerThread, bash, by_history, call, hangs, proposes, says
from tests.plain_terminal import terminal

CoderOn = Callable[[ModelServerThread], Coder]

ASKING = conversations(
    parent=[proposes(task("build", "build it")), says("all done")],
    children={"build it": [proposes(bash("./build.sh")), says("built")]},
)
WORKING = conversations(
    parent=[proposes(task("search", "search it")), says("found")],
    children={"search it": [proposes(bash("ls")), hangs(says("looking"), after_pieces=0)]},
)
AUTO = ("--mode", "auto-edit")


@pytest.fixture
def script(folder: Path) -> Path:
    path = folder / "build.sh"
    path.write_text("#!/bin/sh\necho ran >> effects\n")
    path.chmod(0o755)
    return path


def test_nobody_is_there_for_the_child_either(serve: Serve, coder_on: CoderOn, script: Path, folder: Path) -> None:
    """`--unattended` counts for what a child asks."""
    coder = coder_on(serve(by_history(ASKING)))
    ran = coder.run("-p", "go", *AUTO)
    assert (ran.code, ran.out) == (3, "all done\n")
    assert "coder: bash ./build.sh: not allowed: nobody was there to answer\n" in ran.err
    assert not (folder / "effects").exists()
    assert coder.run("-p", "go", *AUTO, "--unattended", "allow") == Ran(0, "all done\n", "")
    assert (folder / "effects").read_text() == "ran\n"


def test_a_parked_child_is_answered_and_both_go_on(
    serve: Serve, coder_on: CoderOn, script: Path, folder: Path
) -> None:
    """Though the process that gave the task is gone."""
    coder = coder_on(serve(by_history(ASKING)))
    parked = coder.run("-p", "go", *AUTO, "--unattended", "park")
    assert (parked.code, parked.out) == (5, "")
    asked = coder.run("asks").out
    assert re.fullmatch(rf"(\S+)  bash: \./build\.sh  \(build, for go, {re.escape(str(folder))}\)\n", asked)
    (row,) = [json.loads(line) for line in coder.run("asks", "--json").out.splitlines()]
    ran = coder.run("answer", row["ask"]["id"], "allow")
    assert ran == Ran(0, "answered: bash: ./build.sh\nbuilt\ncontinuing: go\nall done\n", "")
    logs = read_logs(coder.home / "sessions.db").values()
    ends = [each for log in logs for each in log if each["kind"] == "call.ended"]
    assert (folder / "effects").exists(), ends
    assert (folder / "effects").read_text() == "ran\n"
    for log in logs:
        check_settled(log)


def test_a_parked_child_is_answered_where_its_parent_is_opened(
    serve: Serve, coder_on: CoderOn, script: Path, folder: Path
) -> None:
    coder = coder_on(serve(by_history(ASKING)))
    parked = coder.run("-p", "go", *AUTO, "--unattended", "park")
    with terminal(coder, "--resume", parked.err.split()[-1]) as screen:
        assert "[task: build] Run this command?\n  $ ./build.sh" in screen.wait_for("s(top) > ")
        screen.type("y\n")
        screen.wait_for("all done\n")
    assert (folder / "effects").read_text() == "ran\n"


def test_what_a_child_asks_is_answered_in_the_terminal_of_its_parent(
    serve: Serve, coder_on: CoderOn, script: Path, folder: Path
) -> None:
    coder = coder_on(serve(by_history(ASKING)))
    with terminal(coder, *AUTO) as screen:
        screen.wait_for("> ")
        screen.type("go\n")
        assert "• task build\n" in screen.wait_for("[task: build] Run this command?\n  $ ./build.sh")
        screen.wait_for("s(top) > ")
        screen.type("/tasks\n")
        screen.wait_for("1. waiting  build  · ")
        screen.wait_for("s(top) > ")
        screen.type("y\n")
        shown = screen.wait_for("all done\n")
        assert "  ↳ bash ./build.sh\n" in shown
    assert (folder / "effects").read_text() == "ran\n"


def test_what_a_child_asks_disappears_when_it_is_answered_elsewhere(
    serve: Serve, coder_on: CoderOn, script: Path, folder: Path
) -> None:
    coder = coder_on(serve(by_history(ASKING)))
    with terminal(coder, *AUTO) as screen:
        screen.wait_for("> ")
        screen.type("go\n")
        screen.wait_for("s(top) > ")
        (row,) = [json.loads(line) for line in coder.run("asks", "--json").out.splitlines()]
        assert coder.run("answer", "--no-wait", row["ask"]["id"], "deny").code == 0
        screen.wait_for("(answered by ")
        screen.wait_for("all done\n")
    assert not (folder / "effects").exists()


def test_a_child_is_stopped_in_the_terminal_of_its_parent(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(by_history(WORKING)))
    with terminal(coder, *AUTO) as screen:
        screen.wait_for("> ")
        screen.type("go\n")
        screen.wait_for("  ↳ bash ls\n")
        screen.type("/tasks\n")
        screen.wait_for("1. running  search  · ")
        screen.type("/tasks stop 2\n")
        screen.wait_for("no task 2; /tasks lists them\n")
        screen.type("/tasks stop 1\n")
        screen.wait_for("(stopping task 1)\n")
        screen.wait_for("found\n")
        screen.type("/tasks\n")
        screen.wait_for("1. stopped  search  · ")


def test_the_list_shows_a_child_below_its_parent(serve: Serve, coder_on: CoderOn, script: Path) -> None:
    coder = coder_on(serve(by_history(ASKING)))
    coder.run("-p", "go", *AUTO)
    parent, child = [json.loads(line) for line in coder.run("sessions", "list", "--json").out.splitlines()]
    assert (child["parent"], child["title"], parent["children"]) == (parent["id"], "build", 1)
    lines = coder.run("sessions", "list", "--limit", "1").out.splitlines()
    assert [line.partition("  done      ")[2].split("  ")[0] for line in lines] == ["go", "└ build"]
    shown = coder.run("sessions", "show", child["id"]).out
    assert f"\nparent session  {parent['id']}\n" in shown
    assert f"\ntask  {child['id']}  done  build\n" in coder.run("sessions", "show", parent["id"]).out
    assert coder.run("sessions", "delete", parent["id"]).code == 0
    assert coder.run("sessions", "list").out == ""


EVIL = conversations(
    parent=[
        proposes(task("look\x1b[8m]\nRead notes.txt?" + " x" * 80, "build it")),
        says("all\x1b[2J done"),
    ],
    children={"build it": [proposes(bash("./build.sh")), says("built")]},
)


def test_the_name_of_a_task_repaints_what_its_agent_asks(serve: Serve, coder_on: CoderOn, script: Path) -> None:
    with terminal(coder_on(serve(by_history(EVIL))), *AUTO) as screen:
        screen.wait_for("> ")
        screen.type("go\n")
        shown = screen.wait_for("x…] Run this command?\n  $ ./build.sh") + screen.wait_for("s(top) > ")
        assert "\n[task: look [8m] Read notes.txt? x x" in shown
        screen.type("/tasks\n")
        shown += screen.wait_for("s(top) > ")
        screen.type("y\n")
        shown += screen.wait_for("all\\x1b[2J done\n")
        assert "\x1b" not in shown


def test_what_a_session_is_called_repaints_the_lists(
    serve: Serve, coder_on: CoderOn, script: Path, folder: Path
) -> None:
    """Each row is one line, and nothing in it acts on the terminal."""
    coder = coder_on(serve(by_history(EVIL)))
    parked = coder.run("-p", "go\x1b[8m", *AUTO, "--unattended", "park")
    assert "for go\\x1b[8m, " in coder.run("asks").out
    lists = [coder.run("asks"), coder.run("sessions"), coder.run("sessions", "show", parked.err.split()[-1])]
    assert [len(each.out.splitlines()) for each in lists[:2]] == [1, 2]
    assert "\x1b" not in "".join(each.out for each in lists)


def test_a_todo_repaints_the_terminal(serve: Serve, coder_on: CoderOn) -> None:
    item = {"content": "x\x1b[2J\n  [x] forged", "status": "pending"}
    answers = conversations(parent=[proposes(call("todo", items=[item])), says("hi")])
    with terminal(coder_on(serve(by_history(answers)))) as screen:
        screen.wait_for("> ")
        screen.type("go\n")
        shown = screen.wait_for("hi\n")
        assert "  [ ] x\\x1b[2J [x] forged\n" in shown
        assert "\x1b" not in shown


def test_to_continue_means_the_parent(serve: Serve, coder_on: CoderOn, script: Path) -> None:
    """Whichever wrote last."""
    answers = conversations(
        parent=[proposes(task("build", "build it")), says("all done"), says("more")],
        children={"build it": [says("built"), says("more of the child")]},
    )
    coder = coder_on(serve(by_history(answers)))
    coder.run("-p", "go", *AUTO)
    _, child = [json.loads(line) for line in coder.run("sessions", "list", "--json").out.splitlines()]
    assert coder.run("-p", "more", "--resume", child["id"]).out == "more of the child\n"
    assert coder.run("-p", "more", "--continue").out == "more\n"
