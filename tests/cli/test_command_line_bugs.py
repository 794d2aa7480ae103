"""Small things that people stumbled over at the command line."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.children.test_surfaces import ASKING, AUTO
from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, by_history, proposes, read, says, script

CoderOn = Callable[[ModelServerThread], Coder]


def rows(coder: Coder, *arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in coder.run(*arguments, "--json").out.splitlines()]


def test_answer_showed_bullets_without_a_name(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    (folder / "a").write_text("x")
    coder = coder_on(serve(script(proposes(bash("touch ran"), read("a")), says("done"))))
    coder.run("-p", "go", "--unattended", "park")
    ran = coder.run("answer", rows(coder, "asks")[0]["ask"]["id"], "allow", with_progress=True)
    shown = [line for line in ran.err.splitlines() if line.startswith("•")]
    assert (ran.code, shown) == (0, ["• bash touch ran", "• read a"])


def test_an_answer_that_stops_without_waiting_left_the_session_running(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(proposes(bash("touch ran")))))
    coder.run("-p", "go", "--unattended", "park")
    ran = coder.run("answer", "--no-wait", rows(coder, "asks")[0]["ask"]["id"], "stop")
    assert ran.code == 0
    assert rows(coder, "sessions")[0]["phase"] == "stopped"


def test_lists_that_are_empty_say_so(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script()))
    assert coder.run("permissions") == Ran(0, "", "no approvals yet; answering `always` adds one\n")
    assert coder.run("asks") == Ran(0, "", "nothing is waiting for your answer\n")
    assert coder.run("sessions") == Ran(0, "", "no sessions found\n")
    assert coder.run("sessions", "--json") == coder.run("asks", "--json") == Ran(0, "", "")


def test_an_unknown_session_is_told_in_the_same_words_everywhere(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script()))
    told = "coder: no session 'nope'\n`coder sessions` lists all sessions.\n"
    for line in (
        "resume nope",
        "-r nope",
        "-p hi --resume nope",
        "sessions show nope",
        "sessions delete nope",
        "sessions export nope",
        "permissions --session nope",
    ):
        assert coder.run(*line.split()) == Ran(1, "", told), line


def test_the_id_of_a_task_may_be_shortened_too(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    (folder / "build.sh").write_text("#!/bin/sh\n")
    coder = coder_on(serve(by_history(ASKING)))
    coder.run("-p", "go", *AUTO)
    parent, child = rows(coder, "sessions")
    assert child["parent"] == parent["id"]
    assert coder.run("sessions", "show", child["id"][:8]).out.startswith("build\n")
    assert coder.run("permissions", "--session", child["id"][:8]).code == 0


def test_without_the_driver_of_postgresql_it_says_how_to_install_it(
    serve: Serve, coder_on: CoderOn, tmp_path: Path
) -> None:
    (tmp_path / "psycopg.py").write_text("raise ImportError('it is not installed')")
    env = {"CODER_DATABASE_URL": "postgresql://nowhere/x", "PYTHONPATH": str(tmp_path)}
    ran = coder_on(serve(script())).run("sessions", env=env)
    command = f"{sys.executable} -m pip install 'psycopg[binary]'"
    assert ran == Ran(1, "", f"coder: PostgreSQL needs psycopg\nInstall it: {command}\n")
