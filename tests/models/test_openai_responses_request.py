"""What Responses is sent: nothing is left at the server, so all that it must know again is in the request."""

from typing import Any

import pytest

from coderelay.models.model import Request
from coderelay.models.model_card import Card
from coderelay.models.model_registry import ModelRegistry
from coderelay.models.openai_chat.model import OpenAIChat
from coderelay.models.openai_responses.input_encoder import Reasoning
from coderelay.models.openai_responses.model import OpenAIResponses
from coderelay.protocol.calls import Call, Failed, Finished
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Image, Seal, Text, Thinking
from coderelay.protocol.session_setting_values import Think
from coderelay.session.model_messages import AssistantMessage, Message, ToolMessage, UserMessage
from tests.model_server import bash, model_server, proposes, read, says, script
from tests.models.chat_completions import TOOLS, asking, complete
from tests.models.growing_session import Session
from tests.models.raw_server import in_loop
from tests.models.wire_forms import FORMS, Form

BY = "responses/m"
RESPONSES = FORMS[1]
PIXEL = Image("image/png", "iVBORw0KGgo=")
URL = "data:image/png;base64,iVBORw0KGgo="
USER = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}


def with_card(card: Card) -> Form:
    return Form("openai-responses", RESPONSES.made, card, RESPONSES.headers)


async def sent(*messages: Message, card: Card = RESPONSES.card) -> list[dict[str, Any]]:
    async with with_card(card).scripted(script(says("ok"))) as (server, model):
        await complete(model, asking(*messages))
    return server.requests[0]["input"]


def test_openai_speaks_this_form_at_its_own_address_and_chat_at_any_other() -> None:
    own = ModelRegistry({"OPENAI_API_KEY": "sk-1"}).open("openai:gpt-5.5")
    other = ModelRegistry({"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "https://host/v1"}).open("openai:gpt-5.5")
    assert (type(own), type(other)) == (OpenAIResponses, OpenAIChat)


@in_loop
async def test_a_request_has_exactly_these_fields() -> None:
    async with RESPONSES.scripted(script(says("ok"), says("ok"))) as (server, model):
        await complete(model, asking(UserMessage("go"), think="high"))
        await complete(model, Request("", [UserMessage("go")], ()))
    full, least = server.requests
    assert full == {
        "model": "m",
        "stream": True,
        "store": False,
        "instructions": "be brief",
        "reasoning": {"summary": "auto", "effort": "high"},
        "include": ["reasoning.encrypted_content"],
        "tools": [
            {
                "type": "function",
                "name": "bash",
                "description": "Runs a command.",
                "parameters": TOOLS[0].parameters,
                "strict": False,
            }
        ],
        "parallel_tool_calls": True,
        "input": [USER],
    }
    assert least == {
        "model": "m",
        "stream": True,
        "store": False,
        "reasoning": {"summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "input": [USER],
    }


@pytest.mark.parametrize("think", ["auto", "off", "high"])
@in_loop
async def test_a_model_that_does_not_think_is_not_told_how_to(think: Think) -> None:
    async with with_card(Card()).scripted(script(says("ok", thinking="hm"))) as (server, model):
        last = await complete(model, asking(think=think))
    assert "reasoning" not in server.requests[0]
    assert "include" not in server.requests[0]
    assert last.blocks == (Text("ok"),)


@in_loop
async def test_every_message_has_its_items() -> None:
    messages: list[Message] = [
        UserMessage("go", (PIXEL,)),
        AssistantMessage(
            (Thinking("hm"), Text("on it")),
            (Call(CallId("a"), "read", '{"path": "x"}'), Call(CallId("b"), "run it", '{"half')),
        ),
        ToolMessage(CallId("a"), "read", "seen", (PIXEL,)),
        ToolMessage(CallId("b"), "run it", "Error: no", failed=True),
        UserMessage("", (PIXEL,)),
    ]
    assert await sent(*messages) == [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "go"}, {"type": "input_image", "image_url": URL}],
        },
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "on it"}]},
        {"type": "function_call", "call_id": "a", "name": "read", "arguments": '{"path": "x"}'},
        {"type": "function_call", "call_id": "b", "name": "run_it", "arguments": "{}"},
        {
            "type": "function_call_output",
            "call_id": "a",
            "output": [{"type": "input_text", "text": "seen"}, {"type": "input_image", "image_url": URL}],
        },
        {"type": "function_call_output", "call_id": "b", "output": "Error: no"},
        {"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": URL}]},
    ]


@in_loop
async def test_a_model_that_cannot_see_is_told_what_it_does_not_see() -> None:
    (user,) = await sent(UserMessage("go", (PIXEL,)), card=Card())
    note = "(What should be here is an image. It is not shown: this model is not known to see images.)"
    assert user["content"] == [{"type": "input_text", "text": f"go\n{note}"}]


@pytest.mark.quick
@in_loop
async def test_thoughts_go_back_before_what_they_led_to_and_only_to_their_model() -> None:
    session = Session().prompted("go")
    turn = script(
        proposes(bash("make"), read("a"), text="I build", thinking="let me see"),
        proposes(read("b"), thinking="not that one"),
        says("done", thinking="all is well"),
    )
    async with RESPONSES.scripted(turn) as (server, model):
        session.heard(await complete(model, asking(*session.messages)), Finished("built"), Failed("no"))
        session.heard(await complete(model, asking(*session.messages)), Finished("read"))
        session.heard(await complete(model, asking(*session.messages))).prompted("thanks")
    kinds = ["message", "reasoning", "message", "function_call", "function_call", *["function_call_output"] * 2]
    assert [item["type"] for item in server.requests[1]["input"]] == kinds
    kinds += ["reasoning", "function_call", "function_call_output"]
    assert [item["type"] for item in server.requests[2]["input"]] == kinds

    for name, thoughts in (("m", ["let me see", "not that one", "all is well"]), ("other", [])):
        async with model_server(script(says("ok"))) as server, RESPONSES.model(server.base_url, name) as model:
            await complete(model, asking(*session.messages))
            assert server.violations == []
        items = [item for item in server.requests[0]["input"] if item["type"] == "reasoning"]
        assert [item["summary"][0]["text"] for item in items] == thoughts


@in_loop
async def test_thoughts_between_calls_keep_their_places() -> None:
    blocks = (
        Thinking("", Reasoning("rs_a", (), ("one",), "", 0).sealed(BY)),
        Thinking("", Reasoning("rs_b", (), ("two",), "", 1).sealed(BY)),
        Thinking("", Reasoning("rs_c", (), ("lost",), "", 2).sealed(BY)),
        Text("both"),
        Thinking("", Reasoning("rs_d", (), ("lost too",), "").sealed(BY)),
    )
    calls = (Call(CallId("a"), "bash", "{}"), Call(CallId("b"), "bash", "{}"))
    message = AssistantMessage(blocks, calls)
    messages = [UserMessage("go"), message, ToolMessage(CallId("a"), "", "1"), ToolMessage(CallId("b"), "", "2")]
    async with model_server(script()) as server, RESPONSES.model(server.base_url) as model:
        with pytest.raises(ModelFailed, match="Item with id 'rs_a' not found"):  # nobody sealed them, here
            await complete(model, asking(*messages))
        items = server.requests[0]["input"][1:5]
    assert [(item["type"], item.get("call_id") or item.get("content")) for item in items] == [
        ("message", [{"type": "output_text", "text": "both"}]),
        ("reasoning", [{"type": "reasoning_text", "text": "one"}]),
        ("function_call", "a"),
        ("reasoning", [{"type": "reasoning_text", "text": "two"}]),
    ]


@in_loop
async def test_a_thought_that_was_changed_is_refused() -> None:
    """The server can fail: without this, the tests above would mean nothing."""
    session = Session().prompted("go")
    async with model_server(script(says("done", thinking="hm"))) as server, RESPONSES.model(server.base_url) as model:
        thought, text = (await complete(model, asking(*session.messages))).blocks
        assert isinstance(thought, Thinking)
        assert thought.seal is not None
        for blocks in (
            (Thinking("hm", Seal(BY, thought.seal.data.replace("hm", "no"))), text),
            (thought, Text("other")),
        ):
            other = Session().prompted("go").said(*blocks).prompted("and?")
            with pytest.raises(ModelFailed, match="required following item"):
                await complete(model, asking(*other.messages))
        assert [violation.param for violation in server.violations] == ["input[1]", "input[1]"]
