"""Calls that models write as text, told apart from answers that happen to be JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderelay.models.model import Completion
from coderelay.models.text_tool_calls import call_in_text, with_text_call
from coderelay.protocol.calls import Call
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Text, Thinking
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.protocol.usage_and_cost import Usage
from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.model_server import ModelServerThread, says, script


def tool(name: str, *required: str, **optional: str) -> ToolSpec:
    properties: dict[str, Any] = {each: {"type": "string"} for each in (*required, *optional)}
    return ToolSpec(name, "", {"type": "object", "properties": properties, "required": [*required]})


TOOLS = (tool("bash", "command", timeout="s"), tool("list", path="here"), ToolSpec("mcp__a__b", "", {}))
LS = '{"name": "bash", "arguments": {"command": "ls"}}'


def made(name: str, arguments: str) -> Call:
    return Call(CallId(""), name, arguments)


RUNS_LS = made("bash", '{"command": "ls"}')


@pytest.mark.quick
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LS, id="bare, as Qwen2.5-Coder behind llama.cpp answers"),
        pytest.param(f"\n\n  {LS} \n", id="white space around it"),
        pytest.param(f"```json\n{LS}\n```", id="fenced as JSON"),
        pytest.param(f"```\n{LS}\n```\n", id="fenced"),
        pytest.param(f"```tool_call\n{LS}```", id="fenced as something else"),
        pytest.param(f"<tool_call>\n{LS}\n</tool_call>", id="marked, as Qwen and Hermes are taught"),
        pytest.param(f"<function_call>{LS}</function_call>", id="marked with another word"),
        pytest.param(f"```xml\n<tool_call>{LS}</tool_call>\n```", id="marked within a fence"),
        pytest.param(f"<tool_call>\n```json\n{LS}\n```\n</tool_call>", id="fenced within a mark"),
        pytest.param(f"[{LS}]", id="the only one of a list"),
        pytest.param('{"tool": "bash", "args": {"command": "ls"}}', id="tool and args"),
        pytest.param('{"function": "bash", "parameters": {"command": "ls"}}', id="function and parameters"),
        pytest.param('{"input": {"command": "ls"}, "name": "bash"}', id="input, in another order"),
        pytest.param('{"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}', id="typed"),
        pytest.param('{"type": "function", "function": ' + LS + "}", id="OpenAI's shape"),
        pytest.param('{"function": ' + LS + "}", id="OpenAI's shape without its type"),
        pytest.param('{"id": "c", "type": "function", "function": ' + LS + "}", id="OpenAI's shape with an id"),
        pytest.param('{"name": "bash", "arguments": "{\\"command\\": \\"ls\\"}"}', id="arguments as a string"),
    ],
)
def test_a_text_that_is_nothing_but_a_call_is_that_call(text: str) -> None:
    assert call_in_text(text, TOOLS) == RUNS_LS


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("Done.", id="prose"),
        pytest.param(f"I will list the files.\n{LS}", id="prose before it"),
        pytest.param(f"{LS}\nThis lists the files.", id="prose after it"),
        pytest.param(f"Run this:\n```json\n{LS}\n```", id="prose before the fence"),
        pytest.param(f"<tool_call>{LS}</tool_call> done", id="prose after the mark"),
        pytest.param(f"<tool_call>{LS}", id="a mark that is not closed"),
        pytest.param(f"<tool_call>{LS}</function_call>", id="a mark that is closed by another"),
        pytest.param(f"{LS}{LS}", id="two calls"),
        pytest.param(f"[{LS}, {LS}]", id="two calls in a list"),
        pytest.param("[]", id="an empty list"),
        pytest.param(LS[:-1], id="half a call"),
        pytest.param('{"name": "Bash", "arguments": {"command": "ls"}}', id="a name that differs in case"),
        pytest.param('{"name": "rm", "arguments": {"command": "ls"}}', id="no such tool"),
        pytest.param('{"name": "bash"}', id="no arguments"),
        pytest.param('{"name": "bash", "arguments": ["ls"]}', id="arguments in a list"),
        pytest.param('{"name": "bash", "arguments": "ls"}', id="arguments that are no object"),
        pytest.param('{"name": "bash", "arguments": null}', id="arguments that are nothing"),
        pytest.param('{"name": 5, "arguments": {}}', id="a name that is no text"),
        pytest.param('{"name": "bash", "tool": "bash", "arguments": {"command": "ls"}}', id="two names"),
        pytest.param('{"name": "bash", "arguments": {}, "input": {"command": "ls"}}', id="two sets of arguments"),
        pytest.param('{"type": "object", "name": "bash", "arguments": {"command": "ls"}}', id="another type"),
        pytest.param('{"type": "function", "function": ' + LS[:-1] + ', "strict": true}}', id="more than a call"),
        pytest.param('{"name": "bash", "version": "5.2", "arguments": {"command": "ls"}}', id="another field"),
        pytest.param('{"name": "bash", "parameters": {"version": "5.2"}}', id="data about a thing named like a tool"),
        pytest.param('{"name": "bash", "args": {}}', id="data without what the tool needs"),
        pytest.param(
            '{"tool": "list", "input": {"path": "src", "depth": 2}}', id="data with more than the tool takes"
        ),
        pytest.param('{"bash": {"command": "ls"}}', id="a table by name"),
        pytest.param('{"name": "coderelay", "dependencies": {"msgspec": "0.19"}}', id="a package"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param('{"name": "bash", "arguments": ' + '{"a":' * 100_000, id="deep within"),
        pytest.param('{"name": "bash", "arguments": {"command": "\ud800"}}', id="what is no text"),
    ],
)
def test_anything_else_is_an_answer(text: str) -> None:
    assert call_in_text(text, TOOLS) is None


def test_what_is_marked_as_a_call_need_not_fit_because_the_tool_can_say_what_is_wrong() -> None:
    assert call_in_text('<tool_call>{"name": "bash", "arguments": {"cmd": "ls"}}</tool_call>', TOOLS) == made(
        "bash", '{"cmd": "ls"}'
    )
    assert call_in_text('<tool_call>{"name": "rm", "arguments": {}}</tool_call>', TOOLS) is None


def test_a_tool_without_parameters_takes_none() -> None:
    assert call_in_text('{"name": "mcp__a__b", "arguments": {}}', TOOLS) == made("mcp__a__b", "{}")
    assert call_in_text('{"name": "mcp__a__b", "arguments": {"x": 1}}', TOOLS) is None


WRAPPINGS = ("{}", "```json\n{}\n```", "```\n{}\n```", "<tool_call>\n{}\n</tool_call>", "[{}]", " \n{}\t")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    command=VALUES,
    wrapping=st.sampled_from(WRAPPINGS),
    name=st.sampled_from(("name", "tool", "function")),
    arguments=st.sampled_from(("arguments", "parameters", "input", "args")),
    ascii_only=st.booleans(),
    as_text=st.booleans(),
)
def test_arguments_survive_as_they_were_written(
    command: object, wrapping: str, name: str, arguments: str, ascii_only: bool, as_text: bool
) -> None:
    given_arguments = json.dumps({"command": command}, ensure_ascii=ascii_only)
    written = json.dumps(given_arguments, ensure_ascii=ascii_only) if as_text else given_arguments
    text = wrapping.replace("{}", f'{{"{name}": "bash", "{arguments}": {written}}}')
    assert call_in_text(text, TOOLS) == made("bash", given_arguments)


@given(VALUES)
def test_no_data_is_a_call(data: object) -> None:
    assert call_in_text(json.dumps(data), TOOLS) is None


@given(st.text(min_size=1).filter(lambda text: text.strip() != ""), st.booleans())
def test_a_call_with_words_around_it_is_none(words: str, before: bool) -> None:
    text = f"{words}{LS}" if before else f"{LS}{words}"
    assert call_in_text(text, TOOLS) is None


def test_a_message_keeps_its_thoughts_and_its_cost() -> None:
    usage = Usage(input_tokens=7, output_tokens=3)
    heard = Completion((Thinking("hm"), Text(f"```json\n{LS}\n```")), (), usage, "end_turn")
    assert with_text_call(heard, TOOLS) == Completion((Thinking("hm"),), (RUNS_LS,), usage, "end_turn")


@pytest.mark.parametrize(
    ("heard", "tools"),
    [
        (Completion((Text(LS),), (), Usage(), "end_turn"), ()),
        (Completion((Text(LS),), (RUNS_LS,), Usage(), "end_turn"), TOOLS),
        (Completion((Text(LS),), (), Usage(), "refusal"), TOOLS),
        (Completion((Text("Done."),), (), Usage(), "end_turn"), TOOLS),
        (Completion((), (), Usage(), "end_turn"), TOOLS),
    ],
    ids=["no tools were offered", "it made a call", "it refused", "an answer", "nothing"],
)
def test_other_messages_stay_as_they_are(heard: Completion, tools: tuple[ToolSpec, ...]) -> None:
    assert with_text_call(heard, tools) is heard


def test_a_turn_goes_on_with_a_call_that_came_as_text(
    serve: Serve, coder_on: Callable[[ModelServerThread], Coder], folder: Path
) -> None:
    written = '```json\n{"name": "bash", "arguments": {"command": "echo hi >made.txt"}}\n```'
    server = serve(script(says(written), says("made it")))
    assert coder_on(server).run("-p", "make it", "--mode", "yolo") == Ran(0, "made it\n", "")
    assert (folder / "made.txt").read_text() == "hi\n"
    *_, called, result = server.requests[1]["messages"]
    assert called["tool_calls"][0]["function"] == {"name": "bash", "arguments": '{"command": "echo hi >made.txt"}'}
    assert (called["content"], result["role"]) == (None, "tool")
