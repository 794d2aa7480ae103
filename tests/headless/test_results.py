"""Every ending of `coder -p`, as a program made for Claude Code reads it, and as stderr tells it to a person."""

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.headless.claude_reader import read_messages, the_result
from tests.headless.test_streams import wait_for
from tests.model_server import ModelServerThread, bash, http_error, proposes, read, says, script, write
from tests.workflow.project import PYTHON, RIGHT, STILL_WRONG, WRONG, Project

CoderOn = Callable[[ModelServerThread], Coder]
FORMS = pytest.mark.parametrize("form", ["json", "stream-json"])


@FORMS
def test_b55_a_turn_that_is_done(serve: Serve, coder_on: CoderOn, form: str) -> None:
    coder = coder_on(serve(script(proposes(read("a"), text="look"), says("done", thinking="hm"))))
    ran = coder.run("-p", "go", "--output", form)
    result = the_result(ran.out)
    assert (ran.code, result.subtype, result.is_error, result.result) == (0, "success", False, "done")
    assert (result.num_turns, result.permission_denials, result.errors) == (2, [], None)
    assert 0 < result.duration_api_ms <= result.duration_ms


def test_b55_the_init_message_names_the_key_and_the_mcp_servers(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says("done"))))
    coder.home.mkdir()
    (coder.home / "config.json").write_text('{"mcp_servers": {"docs": {"command": "true"}}}')
    ran = coder.run("-p", "go", "--output", "stream-json")
    read_messages(ran.out)
    init = json.loads(ran.out.splitlines()[0])
    assert (init["apiKeySource"], init["slash_commands"]) == ("OPENAI_API_KEY", [])
    assert init["mcp_servers"] == [{"name": "docs", "status": "pending"}]


@FORMS
def test_x04_what_was_denied_is_named_and_is_no_success(serve: Serve, coder_on: CoderOn, form: str) -> None:
    coder = coder_on(serve(script(proposes(write("a.txt", "x"), bash("touch c")), says("sorry"))))
    ran = coder.run("-p", "go", "--output", form)
    result = the_result(ran.out)
    assert (ran.code, result.subtype, result.is_error, result.result) == (3, "error_permission_denied", True, "sorry")
    assert [(each["tool_name"], each["tool_input"]) for each in result.permission_denials or []] == [
        ("Write", {"file_path": "a.txt", "content": "x"}),
        ("Bash", {"command": "touch c"}),
    ]
    nobody = "not allowed: nobody was there to answer"
    assert ran.err.startswith(f"coder: write a.txt: {nobody}\ncoder: bash touch c: {nobody}\n")
    assert ran.err.endswith("or answer later with --unattended park.\n")


def test_what_a_mode_denies_is_named_and_the_turn_is_done(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(proposes(write("a.txt", "x")), says("a plan"))))
    ran = coder.run("-p", "go", "--mode", "plan", "--output", "json")
    result = the_result(ran.out)
    assert (ran.code, result.subtype, len(result.permission_denials or [])) == (0, "success", 1)
    assert ran.err == "coder: write a.txt: not allowed: write changes files (plan mode)\n"


@FORMS
def test_x04_parked_names_the_session_and_the_asks(serve: Serve, coder_on: CoderOn, form: str) -> None:
    coder = coder_on(serve(script(proposes(write("a.txt", "x"), bash("touch c")), says("done"))))
    ran = coder.run("-p", "go", "--unattended", "park", "--output", form)
    result = the_result(ran.out)
    assert (ran.code, result.subtype, result.is_error, result.stop_reason) == (
        5,
        "error_parked",
        True,
        "tool_deferred",
    )
    assert result.deferred_tool_use is not None
    assert (result.deferred_tool_use.name, result.deferred_tool_use.input["file_path"]) == ("Write", "a.txt")
    raw = json.loads(ran.out.splitlines()[-1])
    asks = open_asks(coder)
    assert raw["asks"] == [
        {
            "id": each["ask"]["id"],
            "session_id": raw["session_id"],
            "tool_use_id": each["ask"]["call_id"],
            "kind": "permission",
            "title": title,
        }
        for each, title in zip(asks, ("write: a.txt", "bash: touch c"), strict=True)
    ]
    first, second = (each["ask"]["id"] for each in asks)
    assert ran.err == (
        "coder: paused: a question or permission request is open\n"
        f"  {first}  write: a.txt\n  {second}  bash: touch c\n"
        f"Answer with: coder answer {first} allow|deny|stop|TEXT\nsession {raw['session_id']}\n"
    )
    again = coder.run("-p", "more", "--continue", "--output", form)
    assert (again.code, the_result(again.out).subtype) == (5, "error_parked")
    assert [each["id"] for each in json.loads(again.out.splitlines()[-1])["asks"]] == [first, second]


@FORMS
def test_ctrl_c_names_the_session(serve: Serve, coder_on: CoderOn, folder: Path, form: str) -> None:
    coder = coder_on(serve(script(proposes(bash("touch began; sleep 600")))))
    started = coder.start("-p", "go", "--mode", "yolo", "--output", form)
    wait_for((folder / "began").exists, "the command")
    started.send(signal.SIGINT)
    ran = started.wait()
    result = the_result(ran.out)
    assert (ran.code, result.subtype, result.stop_reason) == (130, "error_during_execution", "cancelled")
    assert ran.err == f"coder: interrupted. Resume with: coder resume {result.session_id}\n"


def test_sigterm_leaves_a_result_too(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(bash("touch began; sleep 600")))))
    started = coder.start("-p", "go", "--mode", "yolo", "--output", "json")
    wait_for((folder / "began").exists, "the command")
    started.send(signal.SIGTERM)
    ran = started.wait()
    result = the_result(ran.out)
    assert (ran.code, result.subtype, result.num_turns) == (130, "error_during_execution", 1)
    assert result.session_id in ran.err


@FORMS
def test_c46_a_turn_that_failed(serve: Serve, coder_on: CoderOn, form: str) -> None:
    ran = coder_on(serve(script(http_error(400, "no such model")))).run("-p", "go", "--output", form)
    result = the_result(ran.out)
    assert (ran.code, result.subtype, result.is_error) == (1, "error_during_execution", True)
    assert "400: no such model" in (result.errors or [""])[0]


def test_c46_x12_the_step_limit(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(*[proposes(read(f"no{n}")) for n in range(2)])))
    ran = coder.run("-p", "loop", "--max-steps", "2", "--output", "stream-json")
    result = the_result(ran.out)
    assert (ran.code, result.subtype, result.num_turns) == (4, "error_max_turns", 2)


def test_a_budget_that_is_used_up(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(proposes(read("a")), says("never"))))
    card: dict[str, Any] = {"context": 100_000, "price": {"input": 1e9, "output": 1e9}}
    coder.home.mkdir()
    config = {"budget": {"session": 1}, "providers": {"openai": {"models": {"scripted": card}}}}
    (coder.home / "config.json").write_text(json.dumps(config))
    ran = coder.run("-p", "go", "--output", "stream-json")
    result = the_result(ran.out)
    assert (ran.code, result.subtype, result.is_error) == (3, "error_max_budget_usd", True)
    assert (result.total_cost_usd or 0) > 1


@pytest.mark.parametrize(("contents", "status"), [((WRONG, STILL_WRONG, WRONG), "failed"), ((RIGHT,), "passed")])
def test_c42_json_says_how_the_verification_ended(
    serve: Serve, tmp_path: Path, contents: tuple[str, ...], status: str
) -> None:
    answers = [answer for content in contents for answer in (proposes(write("a.py", content)), says("done"))]
    project = Project(tmp_path, serve(script(*answers)), PYTHON)
    ran = project.ask("make it", "--output", "json")
    result = the_result(ran.out)
    verification = json.loads(ran.out)["verification"]
    assert (ran.code, result.subtype, verification["status"]) == (0, "success", status)
    assert "`pytest -q`" in verification["message"]
    assert (f"coder: {verification['message']}\n" in ran.err) == (status == "failed")


def test_progress_goes_to_stderr_also_if_that_is_a_pipe(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(proposes(bash("echo hi")), says("done"), proposes(bash("echo hi")), says("done"))))
    ran = coder.run("-p", "go", "--mode", "yolo", with_progress=True)
    assert (ran.code, ran.out) == (0, "done\n")
    assert re.fullmatch(r"• bash echo hi\n  exit code 0, [\d.]+ m?s\n", ran.err)
    quiet = coder.run("-p", "go", "--mode", "yolo", "--output", "json", with_progress=True)
    assert quiet.err == ""


def open_asks(coder: Coder) -> list[dict[str, Any]]:
    return [json.loads(line) for line in coder.run("asks", "--json").out.splitlines()]
