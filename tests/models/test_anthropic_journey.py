"""`coder -p` with a model of Anthropic's, through its front door."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.model_server import ModelServerThread, Script, bash, http_error, proposes, read, says, script

MODEL = "anthropic:claude-sonnet-4-5"

ClaudeOn = Callable[[Script], tuple[ModelServerThread, Coder]]


@pytest.fixture
def claude_on(tmp_path: Path, folder: Path, serve: Serve) -> ClaudeOn:
    def start(answers: Script) -> tuple[ModelServerThread, Coder]:
        server = serve(answers)
        coder = Coder(tmp_path / "home", folder, None)
        address = server.base_url.removesuffix("/v1")  # as Anthropic's own tools want it
        coder.env |= {"ANTHROPIC_API_KEY": "scripted", "ANTHROPIC_BASE_URL": address, "CODER_MODEL": MODEL}
        return server, coder

    return start


def kinds(message: dict[str, Any]) -> list[str]:
    return [block["type"] for block in message["content"]]


@pytest.mark.quick
def test_c13_calls_are_run_until_there_are_none(claude_on: ClaudeOn, folder: Path) -> None:
    (folder / "in.txt").write_text("one\ntwo\n")
    server, coder = claude_on(
        script(proposes(read("in.txt"), bash("cat in.txt"), text="looking", thinking="hm"), says("two lines"))
    )
    ran = coder.run("-p", "count the lines", "--mode", "yolo")
    assert ran == Ran(0, "two lines\n", "")
    first, second = server.requests
    assert {each.path for each in server.received} == {"/v1/messages"}
    assert first["model"] == "claude-sonnet-4-5"
    assert [each["role"] for each in second["messages"]] == ["user", "assistant", "user"]
    results = [block for block in second["messages"][2]["content"] if block["type"] == "tool_result"]
    assert [each["content"] for each in results] == ["1\tone\n2\ttwo", "one\ntwo"]


def test_a_session_goes_on_where_it_was_and_from_the_cache(claude_on: ClaudeOn) -> None:
    server, coder = claude_on(script(says("a"), says("b")))
    assert coder.run("-p", "first").code == 0
    ran = coder.run("-p", "second", "--continue", "--output", "json")
    assert ran.code == 0
    first, second = (json.dumps(each["messages"]) for each in server.requests)
    mark = ', "cache_control": {"type": "ephemeral"}'
    assert second.replace(mark, "").startswith(first.replace(mark, "")[:-1] + ",")
    usage = json.loads(ran.out)["usage"]
    assert usage["cache_read_input_tokens"] > 0
    assert usage["input_tokens"] == 0


def test_a_refusal_is_told_to_the_person(claude_on: ClaudeOn) -> None:
    _, coder = claude_on(script(http_error(401, "invalid x-api-key")))
    ran = coder.run("-p", "hi")
    assert ran.code == 1
    assert "API error 401: invalid x-api-key" in ran.err
