"""What is sent: only what the strict form accepts, and the same bytes again as the history grows."""

import json
import re
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderelay.models.anthropic.message_encoder import MARK, History
from coderelay.models.model import Request
from coderelay.models.model_card import Card
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Image, Text
from coderelay.protocol.session_setting_values import Think
from coderelay.protocol.usage_and_cost import Usage
from coderelay.session.model_messages import AssistantMessage, Message, ToolMessage, UserMessage
from tests.model_server import bash, call, http_error, proposes, read, says, script
from tests.models.anthropic_messages import BY, CARD, asking, called, claude, complete, scripted, thought
from tests.models.chat_completions import KEY
from tests.models.raw_server import in_loop

PNG = Image("image/png", "iVBORw0KGgo=")
EPHEMERAL = {"type": "ephemeral"}
TOOL: dict[str, Any] = {
    "name": "bash",
    "description": "Runs a command.",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}},
    "cache_control": EPHEMERAL,
}


def result(call_id: str, text: str = "ok", *images: Image, failed: bool = False) -> ToolMessage:
    return ToolMessage(CallId(call_id), "bash", text, images, failed)


def said(*blocks: Any, calls: tuple[Any, ...] = ()) -> AssistantMessage:
    return AssistantMessage(blocks, calls)


async def sent(*messages: Message, card: Card = CARD, think: Think = "auto") -> dict[str, Any]:
    """The request that these messages make; the strict form has accepted it."""
    async with scripted(script(says("ok")), card) as (server, model):
        await complete(model, asking(*messages, think=think))
        return server.requests[0]


async def contents(*messages: Message, card: Card = CARD, think: Think = "auto") -> list[Any]:
    """Its messages without the marks."""
    bare = json.loads(json.dumps((await sent(*messages, card=card, think=think))["messages"]).replace(_MARK, ""))
    return [(each["role"], each["content"]) for each in bare]


_MARK = ', "cache_control": {"type": "ephemeral"}'


@pytest.mark.quick
@in_loop
async def test_a_request_has_exactly_these_fields() -> None:
    async with scripted(script(says("ok"), says("ok"))) as (server, model):
        await complete(model, asking(UserMessage("hi")))
        await complete(model, Request("", [UserMessage("hi")], ()))
        full, least = server.requests
        received = server.received[0]
    hi = [{"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": EPHEMERAL}]}]
    assert full == {
        "model": "m",
        "max_tokens": 32_000,
        "stream": True,
        "tools": [TOOL],
        "system": [{"type": "text", "text": "be brief", "cache_control": EPHEMERAL}],
        "messages": hi,
    }
    assert least == {"model": "m", "max_tokens": 32_000, "stream": True, "messages": hi}
    assert received.headers.pop("host").startswith("127.0.0.1:")
    assert (received.path, received.headers) == (
        "/v1/messages",
        {
            "content-length": str(received.size),
            "accept-encoding": "identity",
            "x-api-key": KEY,
            "anthropic-version": "2023-06-01",
            "content-type": "application/json",
            "accept": "text/event-stream",
            "user-agent": "coderelay",
        },
    )


@pytest.mark.quick
@in_loop
async def test_results_come_first_and_what_the_person_says_after_them_in_one_message() -> None:
    calls = (called("a"), called("b", '{"path": "x"}', "read"))
    messages = await contents(
        UserMessage("go"),
        said(Text("on it"), calls=calls),
        result("a"),
        result("b", failed=True),
        UserMessage("and?"),
    )
    assert messages == [
        ("user", [{"type": "text", "text": "go"}]),
        (
            "assistant",
            [
                {"type": "text", "text": "on it"},
                {"type": "tool_use", "id": "a", "name": "bash", "input": {"command": "make"}},
                {"type": "tool_use", "id": "b", "name": "read", "input": {"path": "x"}},
            ],
        ),
        (
            "user",
            [
                {"type": "tool_result", "tool_use_id": "a", "content": "ok"},
                {"type": "tool_result", "tool_use_id": "b", "is_error": True, "content": "ok"},
                {"type": "text", "text": "and?"},
            ],
        ),
    ]


@in_loop
async def test_images_of_people_and_of_tools_are_shown() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    messages = await contents(
        UserMessage("look", (PNG, PNG)), said(calls=(called("a"), called("b"))), result("a", "shot", PNG),
        result("b", " ", PNG), UserMessage("", (PNG,)),
    )  # fmt: skip
    assert messages[0] == ("user", [{"type": "text", "text": "look"}, image, image])
    assert messages[2][1] == [
        {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "shot"}, image]},
        {"type": "tool_result", "tool_use_id": "b", "content": [image]},
        image,
    ]


@in_loop
async def test_an_image_that_would_be_refused_is_named_instead() -> None:
    svg = Image("image/svg+xml", "PHN2Zy8+")
    (only,) = await contents(UserMessage("look", (svg,)))
    assert only[1][1] == {"type": "text", "text": "(An image that cannot be shown here: it is image/svg+xml.)"}
    failed = await contents(UserMessage("go"), said(calls=(called("a"),)), result("a", "no", PNG, failed=True))
    assert failed[2][1] == [{"type": "tool_result", "tool_use_id": "a", "is_error": True, "content": "no"}]
    blind = await contents(UserMessage("look", (PNG,)), card=Card())
    assert [each["type"] for each in blind[0][1]] == ["text"]


@pytest.mark.quick
@in_loop
async def test_a58_a_thought_goes_back_with_its_signature() -> None:
    answers = script(proposes(bash("make"), thinking="let me see", text="look"), proposes(read("x")), says("done"))
    async with scripted(answers) as (server, model):
        messages: list[Message] = [UserMessage("go")]
        for _ in range(3):
            last = await complete(model, asking(*messages, think="high"))
            messages += [AssistantMessage(last.blocks, last.calls), *(result(each.id) for each in last.calls)]
        final = server.requests[-1]
    assert final["thinking"] == {"type": "enabled", "budget_tokens": 24_000}
    first = final["messages"][1]["content"]
    assert [each["type"] for each in first] == ["thinking", "text", "tool_use"]
    assert first[0]["thinking"] == "let me see"


@in_loop
async def test_redacted_and_wordless_thoughts_go_back_as_they_came() -> None:
    history = History(BY, sees=True)
    messages = [UserMessage("go"), said(thought("", "redacted:c2VjcmV0"), thought("", "abc="), Text("so"))]
    (_, answer) = json.loads(history.encode(messages, thinks=True))
    assert answer["content"] == [
        {"type": "redacted_thinking", "data": "c2VjcmV0"},
        {"type": "thinking", "thinking": "", "signature": "abc="},
        {"type": "text", "text": "so"},
    ]


@pytest.mark.parametrize("by", ["anthropic/other", "chat/m", "responses/m"])
@in_loop
async def test_a_thought_of_another_model_is_not_sent(by: str) -> None:
    foreign = said(thought("hm", "sig", by), Text("so"))
    messages = await contents(UserMessage("go"), foreign, UserMessage("and?"), think="low")
    assert messages[1] == ("assistant", [{"type": "text", "text": "so"}])


@in_loop
async def test_thinking_waits_for_the_next_prompt_if_another_model_began() -> None:
    """A budget is refused where the model would have to go on without the thought it began with."""
    begun: list[Message] = [UserMessage("go"), said(thought("hm", "s", "chat/m"), calls=(called("a"),)), result("a")]
    assert "thinking" not in await sent(*begun, think="high")
    assert "thinking" in await sent(*begun, UserMessage("and?"), think="high")


@pytest.mark.parametrize("rest", [(), (Text("\n"),)], ids=["nothing", "a blank"])
@in_loop
async def test_a_thought_that_led_to_nothing_is_not_sent(rest: tuple[Text, ...]) -> None:
    async with scripted(script(says("so", thinking="hm"), says("ok"))) as (server, model):
        first = await complete(model, asking(think="low"))
        spoken = said(*first.blocks, first.blocks[0], *rest)
        await complete(model, asking(UserMessage("hi"), spoken, UserMessage("and?"), think="low"))
        content = server.requests[-1]["messages"][1]["content"]
    assert [each["type"] for each in content] == ["thinking", "text"]


BOUND = (
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation."
)


@pytest.mark.parametrize("thinks", ["budget", "adaptive"])
@in_loop
async def test_thoughts_that_are_refused_are_left_out_and_later_ones_are_not(thinks: Any) -> None:
    steps = script(
        says("so", thinking="hm"), http_error(400, BOUND), proposes(bash("make"), thinking="ah"), says("done")
    )
    async with scripted(steps, Card(output=32_000, thinks=thinks)) as (server, model):
        first = await complete(model, asking(think="low"))
        messages: list[Message] = [UserMessage("hi"), AssistantMessage(first.blocks, ()), UserMessage("and?")]
        second = await complete(model, asking(*messages, think="low"))
        messages += [AssistantMessage(second.blocks, second.calls), result("call_1")]
        await complete(model, asking(*messages, think="low"))
        requests = server.requests
    kinds = [[each["type"] for each in message["content"]] for message in requests[-1]["messages"][1::2]]
    assert kinds == [["text"], ["thinking", "tool_use"]]
    assert [len(each["messages"]) for each in requests] == [1, 3, 3, 5]
    assert {json.dumps(each["thinking"]) for each in requests} == {json.dumps(requests[0]["thinking"])}


@in_loop
async def test_thoughts_refused_in_the_middle_of_a_loop_end_a_budget_until_the_next_prompt() -> None:
    steps = script(proposes(bash("make"), thinking="hm"), http_error(400, BOUND), says("done"), says("ok"))
    async with scripted(steps) as (server, model):
        first = await complete(model, asking(think="low"))
        messages: list[Message] = [UserMessage("hi"), AssistantMessage(first.blocks, first.calls), result("call_1")]
        second = await complete(model, asking(*messages, think="low"))
        messages += [AssistantMessage(second.blocks, ()), UserMessage("and?")]
        await complete(model, asking(*messages, think="low"))
        assert ["thinking" in each for each in server.requests] == [True, True, False, True]


@pytest.mark.parametrize(
    ("status", "message", "thinking"),
    [(400, BOUND, None), (400, "max_tokens: too many", "hm"), (500, BOUND, "hm")],
    ids=["no thoughts", "something else", "another status"],
)
@in_loop
async def test_other_refusals_are_not_about_thoughts(status: int, message: str, thinking: str | None) -> None:
    async with scripted(script(says("so", thinking=thinking), http_error(status, message))) as (_, model):
        first = await complete(model, asking(think="low"))
        messages = [UserMessage("hi"), AssistantMessage(first.blocks, ()), UserMessage("and?")]
        with pytest.raises(ModelFailed, match=f"error {status}"):
            await complete(model, asking(*messages, think="low"))


@in_loop
async def test_thoughts_refused_twice_are_a_refusal() -> None:
    async with scripted(script(says("so", thinking="hm"), *[http_error(400, BOUND)] * 2)) as (server, model):
        first = await complete(model, asking(think="low"))
        messages = [UserMessage("hi"), AssistantMessage(first.blocks, ()), UserMessage("and?")]
        with pytest.raises(ModelFailed, match="bound to a different conversation"):
            await complete(model, asking(*messages, think="low"))
        assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("card", "think", "settings"),
    [
        (Card(output=32_000, thinks="budget"), "low", {"thinking": {"type": "enabled", "budget_tokens": 2048}}),
        (Card(output=32_000, thinks="budget"), "medium", {"thinking": {"type": "enabled", "budget_tokens": 8192}}),
        (Card(output=64_000, thinks="budget"), "high", {"thinking": {"type": "enabled", "budget_tokens": 24_576}}),
        (Card(output=8_000, thinks="budget"), "high", {"thinking": {"type": "enabled", "budget_tokens": 6_000}}),
        (Card(output=1_025, thinks="budget"), "high", {"thinking": {"type": "enabled", "budget_tokens": 1_024}}),
        (Card(output=1_024, thinks="budget"), "high", {}),
        (Card(thinks="budget"), "off", {}),
        (Card(thinks="budget"), "auto", {}),
        (
            Card(thinks="adaptive"),
            "medium",
            {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "medium"}},
        ),
        (Card(thinks="adaptive"), "off", {}),
        (Card(thinks="adaptive"), "auto", {}),
        (Card(thinks="effort"), "low", {"output_config": {"effort": "low"}}),
        (Card(thinks="no"), "high", {}),
    ],
)
@in_loop
async def test_a70_how_hard_to_think_is_told_in_the_models_own_way(
    card: Card, think: Think, settings: dict[str, Any]
) -> None:
    request = await sent(UserMessage("hi"), card=card, think=think)
    assert {name: request[name] for name in request if name in ("thinking", "output_config")} == settings
    assert request["max_tokens"] == card.output
    assert "temperature" not in request


@pytest.mark.parametrize(
    ("thinks", "think", "kept"),
    [
        ("budget", "high", True),
        ("budget", "off", False),
        ("budget", "auto", False),
        ("adaptive", "low", True),
        ("adaptive", "auto", True),
        ("adaptive", "off", False),
        ("no", "auto", True),
    ],
)
@in_loop
async def test_thoughts_go_back_only_where_the_model_may_think(thinks: Any, think: Think, kept: bool) -> None:
    card = Card(output=32_000, thinks=thinks)
    async with scripted(script(proposes(bash("make"), thinking="hm"), says("done")), card) as (server, model):
        first = await complete(model, asking(think=think))
        messages = [UserMessage("hi"), AssistantMessage(first.blocks, first.calls), result("call_1")]
        await complete(model, asking(*messages, think=think))
        kinds = [each["type"] for each in server.requests[-1]["messages"][1]["content"]]
    assert kinds == (["thinking", "tool_use"] if kept else ["tool_use"])


@pytest.mark.quick
@in_loop
async def test_the_bytes_of_a_request_are_the_beginning_of_the_next_one() -> None:
    answers = script(
        proposes(bash("make"), thinking="hm", text="making"),
        proposes(bash("a"), call("list")),
        says("done"),
        says("ok"),
    )
    async with scripted(answers) as (server, model):
        messages: list[Message] = [UserMessage("build it", (PNG,))]
        for prompt in ("", "", "thanks", ""):
            last = await complete(model, asking(*messages, think="medium"))
            messages += [AssistantMessage(last.blocks, last.calls), *(result(each.id) for each in last.calls)]
            messages += [UserMessage(prompt)] if prompt else []
        bodies = [received.raw for received in server.received]
    assert [body.count(MARK) for body in bodies] == [3, 4, 4, 4]
    bare = [body.replace(MARK, b"") for body in bodies]
    for earlier, later in pairwise(bare):
        assert earlier.endswith(b"]}")
        assert later.startswith(earlier[:-2] + b",")


@pytest.mark.quick
@in_loop
async def test_marks_are_where_the_next_request_finds_them() -> None:
    messages: list[Message] = [UserMessage("one")]
    for number in range(3):
        messages += [said(Text("so"), calls=(called(f"c{number}"),)), result(f"c{number}")]
    request = await sent(*messages)
    marked = [at for at, each in enumerate(request["messages"]) if "cache_control" in each["content"][-1]]
    assert marked == [4, 6]
    assert json.dumps(request).count('"cache_control"') == 4


@in_loop
async def test_each_step_reads_from_the_cache_what_the_one_before_wrote() -> None:
    async with scripted(script(*[proposes(bash("make"))] * 4, says("done"))) as (_, model):
        messages: list[Message] = [UserMessage("go " * 100)]
        usages: list[Usage] = []
        for _ in range(5):
            last = await complete(model, asking(*messages))
            messages += [AssistantMessage(last.blocks, last.calls), *(result(each.id) for each in last.calls)]
            usages.append(last.usage)
    assert usages[0].cache_read_tokens == 0
    for before, after in pairwise(usages):
        assert after.cache_read_tokens == before.cache_read_tokens + before.cache_write_tokens
        assert after.input_tokens == after.cache_read_tokens + after.cache_write_tokens


@in_loop
async def test_a_history_known_in_part_is_sent_as_if_it_were_new() -> None:
    async with scripted(script(*[says("ok")] * 4)) as (server, model):
        one = UserMessage("one")
        for messages in ([one], [one, said(Text("a")), UserMessage("two")], [UserMessage("other")], [one]):
            await complete(model, asking(*messages))
        bodies = [received.raw for received in server.received]
    assert bodies[0] == bodies[3]
    assert [len(json.loads(body)["messages"]) for body in bodies] == [1, 3, 1, 1]


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([UserMessage("")], id="an empty prompt"),
        pytest.param([UserMessage(" \n")], id="a blank prompt"),
        pytest.param([UserMessage('héllo 你好 🎉 \u2028 \x00 \x7f \\ " </script>')], id="odd characters"),
        pytest.param([UserMessage("go"), said(Text("\n\n")), UserMessage("hm?")], id="a blank answer"),
        pytest.param([UserMessage("go"), said(Text("so \n")), UserMessage("hm?")], id="blanks at the end"),
        pytest.param([UserMessage("go"), said(thought("hm", "s", "chat/m")), UserMessage("?")], id="only thoughts"),
        pytest.param(
            [UserMessage("go"), said(calls=(called("a", '{"command": "ma'),)), result("a", failed=True)],
            id="garbled arguments",
        ),
        pytest.param(
            [UserMessage("go"), said(calls=(called("a", ""), called("b", "[1]"))), result("a"), result("b")],
            id="arguments that are no object",
        ),
        pytest.param(
            [UserMessage("go"), said(calls=(called("a", "[" * 5000),)), result("a")], id="arguments too deep to read"
        ),
        pytest.param([UserMessage("go"), said(calls=(called("a", name="a/tool!"),)), result("a")], id="no such tool"),
        pytest.param([UserMessage("go"), said(calls=(called("a"),)), result("a", "\n")], id="blank output"),
        pytest.param([UserMessage("go"), said(calls=(called("a"),)), result("a"), UserMessage("")], id="blank words"),
        pytest.param(
            [UserMessage("go"), said(calls=(called("functions.bash:0"), called("functions_bash_0"))),
             result("functions.bash:0"), result("functions_bash_0")],
            id="ids of another server",
        ),
        pytest.param([UserMessage("go"), said(calls=(called("x" * 300),)), result("x" * 300)], id="a long id"),
        pytest.param([UserMessage("go"), said(calls=(called("a"),)), result("a", "x" * 4_000_000)], id="4 MB"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("think", ["auto", "high"])
@in_loop
async def test_the_strict_form_accepts_every_history(messages: list[Message], think: Think) -> None:
    await sent(*messages, think=think)


@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=80))
def test_ids_are_taken_back_and_told_apart(one: str, other: str) -> None:
    encoded = History(BY, sees=True).encode([said(calls=(called(one), called(other)))], thinks=False)
    (message,) = json.loads(encoded)
    first, second = (use["id"] for use in message["content"])
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", first)
    assert (first == second) == (one == other)


@in_loop
async def test_calls_of_tools_that_are_gone_are_still_calls() -> None:
    """A summary is asked for without tools, of a history that has calls."""
    history: list[Message] = [UserMessage("go"), said(calls=(called("a"),)), result("a"), UserMessage("sum it up")]
    async with scripted(script(says("ok"))) as (server, model):
        await complete(model, Request("", history))
        request = server.requests[0]
    assert request["tools"] == [{"name": "bash", "description": "", "input_schema": {"type": "object"}}]
    assert request["tool_choice"] == {"type": "none"}


@in_loop
async def test_what_the_model_said_comes_back_to_it_word_for_word() -> None:
    async with scripted(script(proposes(bash("echo 'ü'"), text="look"), says("done"))) as (server, model):
        first = await complete(model, asking(UserMessage("go")))
        await complete(
            model, asking(UserMessage("go"), AssistantMessage(first.blocks, first.calls), result("call_1"))
        )
        assert server.requests[-1]["messages"][1]["content"] == [
            {"type": "text", "text": "look"},
            {"type": "tool_use", "id": "call_1", "name": "bash", "input": {"command": "echo 'ü'"}},
        ]


@in_loop
async def test_a_thought_signed_for_one_model_is_kept_from_another() -> None:
    async with scripted(script(says("so", thinking="hm"), says("ok"))) as (server, model):
        first = await complete(model, asking(think="low"))
        messages = [UserMessage("hi"), AssistantMessage(first.blocks, ()), UserMessage("and?")]
        async with claude(server.base_url, name="other") as other:
            await complete(other, asking(*messages, think="low"))
        assert server.requests[-1]["messages"][1]["content"] == [{"type": "text", "text": "so"}]
