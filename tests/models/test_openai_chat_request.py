"""What is sent: only what a strict provider accepts, and the same bytes again as the history grows."""

import json
from itertools import pairwise
from typing import Any

import pytest

from coderelay.models.model import Request
from coderelay.models.model_card import Card
from coderelay.models.openai_chat.model import OpenAIChat
from coderelay.protocol.calls import Denied, Failed, Finished, Stopped, Unknown
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.message_content import Image, Text, Thinking
from coderelay.protocol.session_setting_values import Think
from coderelay.session.model_messages import Message, ToolMessage, UserMessage
from tests.model_server import ModelServer, bash, model_server, proposes, read, says, script, signed
from tests.models.chat_completions import KEY, TOOLS, asking, chat, complete, scripted
from tests.models.growing_session import Session, called
from tests.models.raw_server import in_loop


async def sent(server: ModelServer, model: OpenAIChat, messages: list[Message]) -> bytes:
    await complete(model, asking(*messages))
    return server.received[-1].raw


@pytest.mark.quick
@in_loop
async def test_the_bytes_of_a_request_are_the_beginning_of_the_next_one() -> None:
    session = Session().prompted("build it")
    async with scripted(script(*[says("ok")] * 4)) as (server, model):
        bodies = [await sent(server, model, session.messages)]
        session.said(Thinking("hm"), Text("making"), a=(called("a"), Finished("built")))
        bodies.append(await sent(server, model, session.messages))
        session.said(b=(called("b"), Unknown()), c=(called("c"), Denied("no")))
        bodies.append(await sent(server, model, session.messages))
        session.said(Text("done")).prompted("thanks")
        bodies.append(await sent(server, model, session.messages))
    for earlier, later in pairwise(bodies):
        assert earlier.endswith(b"]}")
        assert later.startswith(earlier[:-2] + b",")


@in_loop
async def test_a_history_known_in_part_is_sent_as_if_it_were_new() -> None:
    session = Session().prompted("one")
    async with scripted(script(*[says("ok")] * 5)) as (server, model):
        await sent(server, model, session.messages)
        longer = await sent(server, model, session.prompted("two").messages)  # joined with the one before
        other = await sent(server, model, [UserMessage("other")])
        again = await sent(server, model, session.messages)
    assert json.loads(longer)["messages"][-1] == {"role": "user", "content": "one\n\ntwo"}
    assert json.loads(other)["messages"][1:] == [{"role": "user", "content": "other"}]
    assert again == longer


@in_loop
async def test_a_request_has_exactly_these_fields() -> None:
    async with scripted(script(says("ok"), says("ok"))) as (server, model):
        await complete(model, asking(UserMessage("hi")))
        await complete(model, Request("", [UserMessage("hi")], ()))
        full, least = server.requests
        headers = server.received[0].headers
    specification: dict[str, Any] = {
        "name": "bash",
        "description": "Runs a command.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
    }
    assert full == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [{"type": "function", "function": specification}],
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
    }
    assert least == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "hi"}],
    }
    assert headers.pop("host").startswith("127.0.0.1:")
    assert headers == {
        "content-length": str(server.received[0].size),
        "accept-encoding": "identity",
        "authorization": f"Bearer {KEY}",
        "content-type": "application/json",
        "accept": "text/event-stream",
        "user-agent": "coderelay",
    }
    assert len(TOOLS) == 1


@pytest.mark.parametrize(
    "session",
    [
        pytest.param(Session().prompted("one").prompted("two").prompted("three"), id="prompts joined"),
        pytest.param(Session().prompted("").said(Text("what?")).prompted("hi"), id="an empty prompt"),
        pytest.param(Session().prompted('héllo 你好 🎉 \u2028 \x00 \x7f \\ " </script>'), id="odd characters"),
        pytest.param(
            Session().prompted("go").said(a=(called("a", '{"command": "ma'), Failed("bad arguments"))),
            id="garbled arguments",
        ),
        pytest.param(
            Session().prompted("go").said(a=(called("a", ""), Failed("x")), b=(called("b", "[1]"), Failed("y"))),
            id="arguments that are no object",
        ),
        pytest.param(
            Session().prompted("go").said(a=(called("a", "[" * 5000), Failed("x"))),
            id="arguments too deep to be read",
        ),
        pytest.param(
            Session()
            .prompted("go")
            .said(Text("on it"), a=(called("a"), Unknown()), b=(called("b"), Stopped(started=True)))
            .prompted("and?")
            .said(c=(called("c"), Stopped(started=False)), d=(called("d"), Denied("no"))),
            id="unknown, stopped and denied outcomes",
        ),
        pytest.param(Session().prompted("go").said(a=(called("a"), Finished(""))), id="no output"),
        pytest.param(Session().prompted("go").said().prompted("hello?"), id="an answer of nothing"),
        pytest.param(Session().prompted("go").said(Thinking("hm"), Text("so")).prompted("and?"), id="thinking"),
    ],
)
@in_loop
async def test_a_strict_provider_accepts_every_history(session: Session) -> None:
    async with scripted(script(says("ok"))) as (_, model):
        assert (await complete(model, asking(*session.messages))).blocks == (Text("ok"),)


@in_loop
async def test_what_the_model_said_comes_back_to_it_word_for_word() -> None:
    async with scripted(script(proposes(bash("echo 'ü'"), text="look"), says("done"))) as (server, model):
        first = await complete(model, asking(UserMessage("go")))
        (proposed,) = first.calls
        session = Session().prompted("go").said(Text("look"), a=(proposed, Finished("ü\n")))
        assert isinstance(session.messages[-1], ToolMessage)
        await complete(model, asking(*session.messages))
        assert server.requests[-1]["messages"][1:] == [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": "look",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "bash", "arguments": '{"command":"echo \'ü\'"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "ü\n"},
        ]


SEES = Card(images=True)
PIXEL, SPOT = Image("image/png", "iVBORw0KGgo="), Image("image/jpeg", "/9j/4AAQ")


def part(image: Image) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{image.data}"}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


@in_loop
async def test_images_of_results_follow_them_as_if_a_user_sent_them() -> None:
    session = Session().prompted("look", PIXEL)
    session.said(
        a=(called("a", name="read"), Finished("1", images=(PIXEL, SPOT))),
        b=(called("b"), Finished("2")),
        c=(called("c", name="shot"), Finished("3", images=(SPOT,))),
    )
    async with scripted(script(says("ok"), says("ok"), says("ok")), SEES) as (server, model):
        first = await sent(server, model, session.messages)
        session.said(Text("seen"), d=(called("d", name="read"), Finished("4", images=(PIXEL,))))
        second = await sent(server, model, session.messages)
        await sent(server, model, session.prompted("and this?", SPOT).messages)
        third = server.requests[-1]["messages"]
    assert second.startswith(first[:-2] + b",")
    assert [message["role"] for message in third[1:]] == [
        *("user", "assistant", "tool", "tool", "tool", "user", "assistant", "tool", "user")
    ]
    assert third[1] == {"role": "user", "content": [text("look"), part(PIXEL)]}
    assert third[3] == {"role": "tool", "tool_call_id": "a", "content": "1"}
    told = "Images from the results above, in this order: read (a), read (a), shot (c)"
    assert third[6] == {"role": "user", "content": [text(told), part(PIXEL), part(SPOT), part(SPOT)]}
    told = "Images from the results above, in this order: read (d)\n\nand this?"
    assert third[9] == {"role": "user", "content": [text(told), part(PIXEL), part(SPOT)]}


@in_loop
async def test_a_model_that_cannot_see_is_told_what_it_does_not_see() -> None:
    session = Session().prompted("look", PIXEL).said(a=(called("a"), Finished("1", images=(PIXEL, SPOT))))
    async with scripted(script(says("ok"))) as (server, model):
        await sent(server, model, session.messages)
    note = "(What should be here is an image. It is not shown: this model is not known to see images.)"
    user, _, tool = server.requests[0]["messages"][1:]
    assert user == {"role": "user", "content": f"look\n{note}"}
    assert tool == {"role": "tool", "tool_call_id": "a", "content": f"1\n{note}\n{note}"}


@pytest.mark.parametrize(
    ("card", "think", "effort"),
    [
        (Card(thinks="effort"), "high", "high"),
        (Card(thinks="effort"), "off", "low"),
        (Card(thinks="effort"), "auto", None),
        (Card(thinks="budget"), "high", None),
        (Card(), "high", None),
    ],
)
@in_loop
async def test_how_hard_to_think_is_told_to_models_that_take_it(card: Card, think: Think, effort: str | None) -> None:
    async with scripted(script(says("ok")), card) as (server, model):
        await complete(model, asking(think=think))
    assert server.requests[0].get("reasoning_effort") == effort


@pytest.mark.quick
@in_loop
async def test_thoughts_go_back_with_the_calls_they_led_to_and_only_to_their_model() -> None:
    session = Session().prompted("go")
    async with scripted(script(proposes(bash("make"), thinking="let me see"), says("ok", thinking="well"))) as (
        server,
        model,
    ):
        session.heard(await complete(model, asking(*session.messages)), Finished("built"))
        session.heard(await complete(model, asking(*session.messages))).prompted("thanks")
    assert server.requests[1]["messages"][2]["reasoning_content"] == "let me see"
    for name, thoughts in (("m", "let me see"), ("other", None), ("deepseek-v4-pro", "(not kept)")):
        async with scripted(script(says("ok")), name=name) as (server, model):
            await complete(model, asking(*session.messages))
        _, _, first, _, last, _ = server.requests[0]["messages"]
        assert first.get("reasoning_content") == thoughts
        assert last == {"role": "assistant", "content": "ok"}


@in_loop
async def test_the_signature_of_a_call_goes_back_to_the_model_that_gave_it() -> None:
    session = Session().prompted("go")
    turn = script(proposes(signed(bash("make")), read("a")), proposes(signed(bash("test"))), says("ok"))
    async with scripted(turn, name="gemini-3-flash") as (server, model):
        session.heard(await complete(model, asking(*session.messages)), Finished("built"), Finished("read"))
        session.heard(await complete(model, asking(*session.messages)), Finished("tested"))
        session.heard(await complete(model, asking(*session.messages))).prompted("thanks")
    calls = server.requests[2]["messages"][2]["tool_calls"]
    assert ["extra_content" in call for call in calls] == [True, False]
    async with scripted(script(says("ok")), name="other") as (server, model):
        await complete(model, asking(*session.messages))
    assert b"extra_content" not in server.received[0].raw


@in_loop
async def test_a_signature_that_is_left_out_is_missed() -> None:
    """The server can fail: without this, the test above would mean nothing."""
    session = Session().prompted("go").said(a=(called("a"), Finished("built")))
    async with model_server(script()) as server, chat(server.base_url, name="gemini-3-flash") as model:
        with pytest.raises(ModelFailed, match="missing a thought_signature"):
            await complete(model, asking(*session.messages))
