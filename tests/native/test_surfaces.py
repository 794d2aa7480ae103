"""Surfaces follow the native agent: nobody waits for what cannot come, and attempts that broke off stay apart."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.crash.journey import wait_until
from tests.log_checker import read_logs
from tests.model_server import (
    ModelServerThread,
    bash,
    call,
    cut_off,
    http_error,
    proposes,
    says,
    script,
)
from tests.plain_terminal import terminal

CoderOn = Callable[[ModelServerThread], Coder]

HELD = "touch began; until [ -e go ]; do sleep 0.01; done"
BROKEN = cut_off(says("one two three"), 3)
AGAIN = "the model server closed the connection in the middle of its answer"


def wait_for(path: Path) -> None:
    assert wait_until(path.exists, else_return=lambda: [f"no {path.name}"]) == []


def row(coder: Coder) -> dict[str, Any]:
    return json.loads(coder.run("sessions", "list", "--json").out.splitlines()[0])


def retrying(coder: Coder) -> Coder:
    coder.env["CODER_RETRY_SECONDS"] = "0.01"
    return coder


def test_a_steering_without_words_left_the_loop_waiting_for_ever(serve: Serve, coder_on: CoderOn) -> None:
    ran = coder_on(serve(script())).run(text="/steer\n")
    assert ran.code == 0
    assert "/steer TEXT: send a message to the running turn" in ran.out


def test_a_prompt_that_somebody_else_takes_back_was_waited_for_for_ever(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    coder = coder_on(serve(script(proposes(bash(HELD)), says("mine"))))
    first = coder.start("-p", "first", "--mode", "yolo")
    wait_for(folder / "began")
    second = coder.start("-p", "second", "--continue")
    assert wait_until(lambda: row(coder).get("queued") == 1, else_return=lambda: ["not queued"]) == []
    with terminal(coder, "--continue") as screen:
        screen.wait_for("continuing the interrupted")
        screen.type("/queue drop 1\n")
        screen.wait_for("(removed from the queue)\n")
        assert second.wait().code == 130
    (folder / "go").touch()
    assert first.wait() == Ran(0, "mine\n", "")


def test_a_prompt_behind_a_turn_that_is_stopped_was_waited_for_for_ever(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    """After a stop nothing starts until another prompt is sent; nobody is there to send one."""
    coder = coder_on(serve(script(proposes(bash(HELD)))))
    first = coder.start("-p", "first", "--mode", "yolo")
    wait_for(folder / "began")
    second = coder.start("-p", "second", "--continue")
    assert wait_until(lambda: row(coder).get("queued") == 1, else_return=lambda: ["not queued"]) == []
    first.send(signal.SIGINT)
    assert (first.wait().code, second.wait().code) == (130, 130)
    assert "queued" not in row(coder)


def test_x04_a_used_up_budget_with_nobody_there_looked_like_an_interruption(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(proposes(bash("true")))))
    coder.home.mkdir()
    models = {"scripted": {"price": {"input": 10_000, "output": 0}}}
    config = {"budget": {"session": 1}, "providers": {"openai": {"models": models}}}
    (coder.home / "config.json").write_text(json.dumps(config))
    ran = coder.run("-p", "go", "--mode", "yolo", "--unattended", "allow")
    assert ran.code == 3
    assert "coder: Budget for this session reached: " in ran.err
    assert "nobody was there to answer" in ran.err


def test_a_bare_model_name_keeps_the_provider_of_the_session_that_is_resumed(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("a"), says("b")))
    coder = coder_on(server)
    assert coder.run("-p", "first").code == 0
    assert coder.run("-p", "second", "--continue", "--model", "other") == Ran(0, "b\n", "")
    assert [each["model"] for each in server.requests] == ["scripted", "other"]
    refused = coder.run("-p", "third", "--continue", "--model", "nobody:other")
    assert (refused.code, "unknown provider 'nobody'" in refused.err) == (1, True)
    assert row(coder)["model"] == "openai:other"


def test_commands_were_taken_for_answers_while_an_ask_was_open(serve: Serve, coder_on: CoderOn) -> None:
    questions = [{"question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}]}]
    server = serve(script(proposes(call("ask_user", questions=questions)), says("painted")))
    with terminal(coder_on(server)) as screen:
        screen.wait_for("> ")
        screen.type("paint\n")
        screen.wait_for("Which colour?")
        screen.type("/cost\n")
        screen.wait_for("price unknown")
        screen.wait_for("Which colour?")
        screen.type("/steer and quickly\n")
        screen.wait_for("(sent; the model reads it at its next step)\n")
        screen.wait_for("Which colour?")
        screen.type("/dev/null\n")
        screen.wait_for("painted\n> ")
    said = [each["content"] for each in server.requests[-1]["messages"] if each["role"] in ("tool", "user")]
    assert said[1:] == ["Which colour?\n→ /dev/null", "and quickly"]


def test_the_text_of_an_attempt_that_broke_off_ran_into_what_came_after_it(serve: Serve, coder_on: CoderOn) -> None:
    with terminal(retrying(coder_on(serve(script(BROKEN, says("four five")))))) as screen:
        screen.wait_for("> ")
        screen.type("go\n")
        shown = screen.wait_for("four five\n> ")
    first, notice, last, prompt = shown.splitlines()[1:]
    assert (first, last, prompt) == ("one two", "four five", "> ")
    assert notice.endswith("; retrying)")


def test_a_call_that_was_written_as_text_stands_on_a_line_of_its_own(serve: Serve, coder_on: CoderOn) -> None:
    written = '{"name": "bash", "arguments": {"command": "echo hi"}}'
    with terminal(coder_on(serve(script(says(written), says("done")))), "--mode", "yolo") as screen:
        screen.wait_for("> ")
        screen.type("go\n")
        shown = screen.wait_for("done\n> ")
    assert shown.splitlines()[1:3] == [written, "• bash echo hi"]


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
def test_text_of_a_failed_attempt_is_not_printed(serve: Serve, coder_on: CoderOn, form: str) -> None:
    coder = retrying(coder_on(serve(script(BROKEN, http_error(503, "busy"), says("four five")))))
    ran = coder.run("-p", "go", "--output", form)
    assert ran.code == 0
    if form == "text":
        assert ran.out == "four five\n"
        assert [line.partition("; ")[2] for line in ran.err.splitlines()] == ["retrying"] * 2
        return
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert lines[-1]["result"] == "four five"
    events = [each["event"] for each in lines if each["type"] == "stream_event"]
    assert shapes(events) == (
        [] if form == "json" else ["start 0", "one two", "stop 0", "start 0", "four five", "stop 0"]
    )
    (log,) = read_logs(coder.home / "sessions.db").values()
    assert len([each for each in log if each["kind"] == "message.added"]) == 1


def shapes(events: list[dict[str, Any]]) -> list[str]:
    """Deltas joined, blocks with their index."""
    told: list[str] = []
    for event in events:
        match event["type"]:
            case "content_block_delta" if not told[-1].startswith(("start", "stop")):
                told[-1] += event["delta"]["text"]
            case "content_block_delta":
                told.append(event["delta"]["text"])
            case kind:
                told.append(f"{kind.removeprefix('content_block_')} {event['index']}")
    return told
