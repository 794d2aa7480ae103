"""Answers bound to a schema: over real sockets, with servers that keep to it and servers that do not."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coderelay.models.api_client import ApiClient
from coderelay.models.json_schema_chat.model import SchemaChat
from coderelay.models.json_schema_chat.streamed_json_answer import JsonString, SchemaAnswer
from coderelay.models.model import Completion, Piece, Request, TextPiece, ThinkingPiece
from coderelay.models.model_card import Card
from coderelay.protocol.calls import Call
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Text, Thinking, text_of, thinking_of
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.protocol.usage_and_cost import Usage
from coderelay.session.model_messages import AssistantMessage, Message, ToolMessage, UserMessage
from coderelay.tools.builtin_tools import SPECS
from tests.model_server import (
    ModelServer,
    Script,
    cut_off,
    empty,
    garbage,
    hangs,
    http_error,
    model_server,
    says,
    script,
)
from tests.models.chat_completions import HEAD, KEY, STOP, delta, events
from tests.models.raw_server import RawConnection, answers, in_loop, raw_server


def tool(name: str, description: str, *required: str, **optional: str) -> ToolSpec:
    properties: dict[str, Any] = {each: {"type": "string"} for each in required}
    properties |= {each: {"type": kind} for each, kind in optional.items()}
    parameters = {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}
    return ToolSpec(name, description, parameters)


TOOLS = (
    tool("read", "Read a text file. Lines come numbered.", "path", offset="integer", limit="integer"),
    tool("write", "Create a file or replace it whole.", "path", "content"),
    tool("bash", "Run a shell command\nin the workspace.", "command", timeout="number"),
)
SMALL = Card(context=8192, output=1024, calls="schema")


@asynccontextmanager
async def schema_chat(url: str, card: Card = SMALL, idle_seconds: float = 10.0) -> AsyncGenerator[SchemaChat]:
    headers = {"authorization": f"Bearer {KEY}"}
    api_client = ApiClient(url, headers, secret=KEY, env={}, idle_seconds=idle_seconds)
    try:
        yield SchemaChat("local:small", card, api_client)
    finally:
        await api_client.close()


@asynccontextmanager
async def scripted(script: Script, card: Card = SMALL) -> AsyncGenerator[tuple[ModelServer, SchemaChat]]:
    async with model_server(script) as server, schema_chat(server.base_url, card) as model:
        yield server, model
        assert server.violations == []


def asking(*messages: Message, tools: Sequence[ToolSpec] = TOOLS) -> Request:
    return Request("be brief", list(messages) or [UserMessage("hi")], tools)


async def pieces_of(model: SchemaChat, request: Request | None = None) -> list[Piece]:
    async with aclosing(model.stream(request or asking())) as stream:
        return [piece async for piece in stream]


async def heard(
    said: str, request: Request | None = None, finish_reason: str | None = None
) -> tuple[str, Completion]:
    """What is shown of an answer, and what it is in the end."""
    async with scripted(script(says(said, finish_reason=finish_reason))) as (_, model):
        *pieces, last = await pieces_of(model, request)
    assert isinstance(last, Completion)
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece)), last


def made(name: str, arguments: str) -> Call:
    return Call(CallId(""), name, arguments)


@pytest.mark.quick
@in_loop
async def test_an_answer_is_shown_while_it_is_written() -> None:
    said = json.dumps({"tool": "finish", "arguments": {"answer": 'All "done" 🎉\nin two lines'}})
    async with scripted(script(hangs(says(said), 6), says(said))) as (_, model):
        stream = model.stream(asking())
        assert await anext(stream) == TextPiece("All")
        await stream.aclose()
        *pieces, last = await pieces_of(model)
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextPiece)) == 'All "done" 🎉\nin two lines'
    assert isinstance(last, Completion)
    assert (last.blocks, last.calls) == ((Text('All "done" 🎉\nin two lines'),), ())
    assert (last.stop_reason, last.usage.output_tokens) == ("end_turn", 9)


@pytest.mark.quick
@in_loop
async def test_a_call_is_not_shown_as_text() -> None:
    shown, last = await heard('{"tool": "bash", "arguments": {"command": "make  all", "timeout": 5}}')
    assert (shown, last.blocks) == ("", ())
    assert last.calls == (made("bash", '{"command": "make  all", "timeout": 5}'),)


@in_loop
async def test_the_server_is_asked_for_one_call_or_an_answer_and_told_of_no_tools() -> None:
    async with scripted(script(says('{"answer": "hi"}'))) as (server, model):
        await pieces_of(model)
    body = server.requests[0]
    step = body["response_format"]["json_schema"]["schema"]
    assert "tools" not in body
    assert (body["model"], body["max_tokens"], body["stream"]) == ("small", 1024, True)
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "step", "strict": True, "schema": step},
    }
    assert [each["properties"] for each in step["anyOf"]] == [
        *({"tool": {"const": tool.name}, "arguments": tool.parameters} for tool in TOOLS),
        {"tool": {"const": "finish"}, "arguments": step["anyOf"][-1]["properties"]["arguments"]},
    ]
    assert step["anyOf"][-1]["properties"]["arguments"]["properties"] == {"answer": {"type": "string"}}
    assert body["temperature"] == 0
    assert all(each["required"] == [*each["properties"]] for each in step["anyOf"])
    assert not any(each["additionalProperties"] for each in step["anyOf"])


@in_loop
async def test_tools_are_described_in_few_words() -> None:
    async with scripted(script(says('{"answer": "hi"}'))) as (server, model):
        await pieces_of(model)
    system = server.requests[0]["messages"][0]["content"]
    head, _, described = system.partition("\nTools:\n")
    assert head.startswith("be brief\nReply with exactly one JSON object")
    *lines, examples = described.split("\n", 4)
    assert lines == [
        "read(path, offset?, limit?): Read a text file",
        "write(path, content): Create a file or replace it whole",
        "bash(command, timeout?): Run a shell command in the workspace",
        "finish(answer): End with the answer for the person: the very facts that were asked for, or what was done",
    ]
    calls = [json.loads(line) for line in examples.splitlines() if line.startswith("{")]
    question, change = ["bash", "finish"], ["read", "write", "finish"]
    assert [each["tool"] for each in calls] == [*question, *change], "worked examples, in the form itself"
    assert len(system) < 2000


@in_loop
async def test_a_small_model_is_offered_few_tools_and_a_larger_one_all() -> None:
    tools = tuple(SPECS)
    few = ["read", "list", "write", "bash"]
    for card, names in ((SMALL, few), (Card(calls="schema"), [tool.name for tool in tools])):
        async with scripted(script(says('{"answer": "hi"}')), card) as (server, model):
            await pieces_of(model, asking(tools=tools))
        *calls, _ = server.requests[0]["response_format"]["json_schema"]["schema"]["anyOf"]
        assert [each["properties"]["tool"]["const"] for each in calls] == names


@in_loop
async def test_a_small_model_set_the_timeout_of_a_command_to_zero() -> None:
    """It is offered no optional parameters, unless a tool has no others."""
    async with scripted(script(says('{"answer": "hi"}'))) as (server, model):
        await pieces_of(model, asking(tools=tuple(SPECS)))
    *calls, _ = server.requests[0]["response_format"]["json_schema"]["schema"]["anyOf"]
    offered = {
        each["properties"]["tool"]["const"]: [*each["properties"]["arguments"]["properties"]] for each in calls
    }
    assert offered == {"read": ["path"], "list": ["path"], "write": ["path", "content"], "bash": ["command"]}
    assert "\nbash(command): " in server.requests[0]["messages"][0]["content"]


@in_loop
async def test_history_is_told_in_the_words_the_model_used_itself() -> None:
    history = [
        UserMessage("list"),
        AssistantMessage((Thinking("hm"),), (made("bash", '{"command": "ls"}'), made("read", '{"path":"a"}'))),
        ToolMessage(CallId("1"), "bash", "a"),
        ToolMessage(CallId("2"), "read", "x" * 5000, failed=True),
        AssistantMessage((Text("two files"),), ()),
        UserMessage("and now?"),
    ]
    async with scripted(script(says('{"answer": "hi"}'))) as (server, model):
        await pieces_of(model, asking(*history))
    _, *said = server.requests[0]["messages"]
    cut = f"{'x' * 2048}\n[904 characters left out]\n{'x' * 2048}"
    assert said == [
        {"role": "user", "content": "list"},
        {
            "role": "assistant",
            "content": '{"tool": "bash", "arguments": {"command": "ls"}}\n'
            '{"tool": "read", "arguments": {"path": "a"}}',
        },
        {"role": "user", "content": f"Result of bash: a\n\nResult of read: {cut}"},
        {"role": "assistant", "content": '{"tool":"finish","arguments":{"answer":"two files"}}'},
        {"role": "user", "content": "and now?"},
    ]


@in_loop
async def test_a_result_comes_with_a_word_on_what_to_do_now() -> None:
    async with scripted(script(says('{"answer": "hi"}'))) as (server, model):
        await pieces_of(model, asking(UserMessage("list"), *same(1)))
    assert server.requests[0]["messages"][-1] == {
        "role": "user",
        "content": "Result of bash: a\n\nUse the next tool. If all is done, or the results show what was asked for, "
        "use finish with the answer.",
    }


def same(n: int, arguments: str = '{"command":"ls"}') -> list[Message]:
    once = (AssistantMessage((), (made("bash", arguments),)), ToolMessage(CallId("1"), "bash", "a"))
    return [message for _ in range(n) for message in once]


@pytest.mark.parametrize(
    ("history", "offered"),
    [
        (same(1), True),
        (same(2), False),
        (same(3), False),
        ([*same(1), *same(1, '{"command":"pwd"}')], True),
        ([*same(2), *same(1, '{"command":"pwd"}')], True),
        ([*same(1), AssistantMessage((Text("so"),), ()), UserMessage("again"), *same(1)], True),
        ([*same(2), AssistantMessage((Text("so"),), ()), UserMessage("again")], True),
    ],
)
@in_loop
async def test_after_two_calls_that_are_the_same_only_an_answer_is_left(
    history: list[Message], offered: bool
) -> None:
    async with scripted(script(says('{"answer": "hi"}'))) as (server, model):
        await pieces_of(model, asking(UserMessage("list"), *history))
    body = server.requests[0]
    forms = body["response_format"]["json_schema"]["schema"]["anyOf"]
    assert len(forms) == (len(TOOLS) + 1 if offered else 1)
    assert "\nbash(" in body["messages"][0]["content"]  # the same bytes at every step


@in_loop
async def test_without_tools_it_is_a_plain_chat() -> None:
    async with scripted(script(says('{"answer": "a title"}'))) as (server, model):
        *pieces, last = await pieces_of(model, asking(tools=()))
    assert "response_format" not in server.requests[0]
    assert server.requests[0]["messages"][0] == {"role": "system", "content": "be brief"}
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextPiece)) == '{"answer": "a title"}'
    assert isinstance(last, Completion)
    assert last.blocks == (Text('{"answer": "a title"}'),)


@pytest.mark.parametrize(
    ("said", "shown", "call"),
    [
        ("Hello there.", "Hello there.", None),
        ("`ls` lists files", "`ls` lists files", None),
        ("<b>no</b>", "<b>no</b>", None),
        ('{"name": "coderelay"}', '{"name": "coderelay"}', None),
        ('{"an', '{"an', None),
        ('{"answer": 5}', '{"answer": 5}', None),
        ('{"ans wer":"x"}', '{"ans wer":"x"}', None),
        ('{"thought": "hm", "answer": "so"}', "so", None),
        ('{"answer": "so", "tool": "bash"}', "so", None),
        ('{"answer": "so"} and more', "so", None),
        ('{"answer": "so', "so", None),
        ('\n { "answer" : "so" }', "so", None),
        ('{"tool": "finish", "arguments": {"answer": "so"}}', "so", None),
        ('{"tool":"finish","arguments":{"answer":"so', "so", None),
        ('{"arguments": {"answer": "so"}, "tool": "finish"}', "so", None),
        ('{"tool": "finish", "arguments": {}}', "{}", None),
        ('```json\n{"name": "bash", "arguments": {"command": "ls"}}\n```', "", made("bash", '{"command": "ls"}')),
        ('{"name": "bash", "arguments": {"command": "ls"}}', "", made("bash", '{"command": "ls"}')),
        ('<tool_call>{"name": "bash", "arguments": {}}</tool_call>', "", made("bash", "{}")),
        ('{"tool": "bash", "arguments": {"cmd": "ls"}}', "", made("bash", '{"cmd": "ls"}')),
        ('{"tool": "nothing", "arguments": 5}', "", made("nothing", "5")),
    ],
)
@in_loop
async def test_a_server_that_ignores_the_schema_is_understood(said: str, shown: str, call: Call | None) -> None:
    was_shown, last = await heard(said)
    assert was_shown == shown
    assert last.blocks == ((Text(shown),) if shown else ())
    assert last.calls == ((call,) if call else ())


@in_loop
async def test_thinking_is_shown_apart() -> None:
    async with scripted(script(says('{"answer": "so"}', thinking="let me see"))) as (_, model):
        *pieces, last = await pieces_of(model)
    assert "".join(piece.text for piece in pieces if isinstance(piece, ThinkingPiece)) == "let me see"
    assert isinstance(last, Completion)
    assert (thinking_of(last.blocks), text_of(last.blocks)) == ("let me see", "so")


@in_loop
async def test_an_answer_that_grew_too_long_is_kept_as_far_as_it_came() -> None:
    shown, last = await heard('{"answer": "one two thr', finish_reason="length")
    assert (shown, last.blocks, last.stop_reason) == ("one two thr", (Text("one two thr"),), "max_tokens")


@in_loop
async def test_a_call_that_grew_too_long_was_never_made() -> None:
    with pytest.raises(ModelFailed, match="cut off inside a call"):
        await heard('{"tool": "write", "arguments": {"path": "a", "content": "one two', finish_reason="length")


@in_loop
async def test_an_empty_answer_is_empty() -> None:
    async with scripted(script(empty(), says('{"answer": ""}'))) as (_, model):
        for _ in range(2):
            (last,) = await pieces_of(model)
            assert isinstance(last, Completion)
            assert (last.blocks, last.calls) == ((), ())


@pytest.mark.parametrize("after", [0, 1, 3])
@in_loop
async def test_an_answer_cut_off_is_a_failure_worth_another_try(after: int) -> None:
    said = says('{"answer": "one two three"}')
    async with scripted(script(cut_off(said, after), said)) as (_, model):
        with pytest.raises(ModelFailed, match="broke off mid-answer") as failure:
            await pieces_of(model)
        assert failure.value.retryable
        *_, last = await pieces_of(model)
    assert isinstance(last, Completion)
    assert last.blocks == (Text("one two three"),)


@in_loop
async def test_a_broken_event_is_a_failure() -> None:
    async with scripted(script(garbage(says('{"answer": "one two"}'), 2))) as (_, model):
        with pytest.raises(ModelFailed, match="sent a broken event"):
            await pieces_of(model)


@in_loop
async def test_a_server_that_refuses_says_why() -> None:
    async with scripted(script(http_error(503, "loading the model"))) as (_, model):
        with pytest.raises(ModelFailed, match="503: loading the model") as failure:
            await pieces_of(model)
    assert failure.value.retryable


@in_loop
async def test_a_silent_server_is_given_up() -> None:
    async with raw_server(RawConnection.left) as server, schema_chat(server.url, idle_seconds=0.05) as model:
        with pytest.raises(ModelFailed, match=r"was silent for 0\.05 s"):
            await pieces_of(model)


@in_loop
async def test_leaving_in_the_middle_closes_the_connection() -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.request()
        await connection.send(HEAD + events(delta(content='{"answer": "one')))
        heard.set()
        await connection.left()

    heard = asyncio.Event()
    async with raw_server(talk) as server, schema_chat(server.url) as model:
        hearing = asyncio.create_task(pieces_of(model))
        await heard.wait()
        hearing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hearing
        await server.all_left()


@in_loop
async def test_escapes_may_be_split_between_events() -> None:
    split = ['{"ans', 'wer":"a\\', "n\\ud8", "3c\\u", "df89\\", '"b', '"', "}"]
    body = HEAD + events(*(delta(content=each) for each in split), STOP)
    async with raw_server(answers(body)) as server, schema_chat(server.url) as model:
        *pieces, last = await pieces_of(model)
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextPiece)) == 'a\n🎉"b'
    assert last == Completion((Text('a\n🎉"b'),), (), Usage(), "end_turn")


def split_up(text: str, sizes: list[int]) -> list[str]:
    pieces, at = list[str](), 0
    while text:
        size = sizes[at % len(sizes)]
        pieces.append(text[:size])
        text, at = text[size:], at + 1
    return pieces


def storable(text: str) -> str:
    """Halves of surrogate pairs joined, and replaced where the other half is missing."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)
SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=8)


@given(ANY_TEXT, SIZES)
@example("\ud83c\udf89", [1])
@example("\ud83c\ud83c\udf89\udf89", [3])
@example('\ud83c"', [6])
@example("\ud83c\n", [7])
def test_a_string_in_pieces_is_what_json_says(text: str, sizes: list[int]) -> None:
    written, string = json.dumps(text), JsonString()
    value = "".join(string.feed(piece) for piece in split_up(f"{written[1:]}, more", sizes))
    assert value == storable(json.loads(written))
    assert string.ended


@given(st.text(max_size=40), SIZES, st.sampled_from(["", " ", "\n  "]))
def test_an_answer_in_pieces_is_shown_whole_and_once(text: str, sizes: list[int], space: str) -> None:
    written = f'{space}{{{space}"answer"{space}:{space}{json.dumps(text, ensure_ascii=False)}{space}}}'
    answer = SchemaAnswer()
    shown = "".join(answer.feed(piece) for piece in split_up(written, sizes))
    last = answer.completion(Completion((Text(written),), (), Usage(), "end_turn"), TOOLS)
    assert (shown, answer.rest(last)) == (text, "")
    assert last.blocks == ((Text(text),) if text else ())


@given(st.text(alphabet='{}[]"\\:, \nu0d8answertool`<>', max_size=30), SIZES)
def test_whatever_comes_what_is_shown_is_what_is_kept(said: str, sizes: list[int]) -> None:
    answer = SchemaAnswer()
    shown = "".join(answer.feed(piece) for piece in split_up(said, sizes))
    last = answer.completion(Completion((Text(said),) if said else (), (), Usage(), "end_turn"), TOOLS)
    assert shown + answer.rest(last) == "".join(block.text for block in last.blocks if isinstance(block, Text))
