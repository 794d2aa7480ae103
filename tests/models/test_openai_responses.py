"""Responses as they are streamed, by OpenAI and by others that speak the form."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderelay.http.sse import EventStream
from coderelay.models.answer_limits_and_completeness import check_event_size
from coderelay.models.api_client import ApiClient
from coderelay.models.model import Completion, TextPiece, ThinkingPiece
from coderelay.models.model_card import Card
from coderelay.models.openai_responses.model import OpenAIResponses
from coderelay.models.openai_responses.stream_decoder import ResponsesAnswer
from coderelay.protocol.calls import Call
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.events import StopReason
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Seal, Text, Thinking
from coderelay.protocol.usage_and_cost import Usage
from tests.model_server import says, script
from tests.models.chat_completions import HEAD, KEY, complete, events, pieces_of
from tests.models.raw_server import RawConnection, answers, in_loop, raw_server
from tests.models.wire_forms import FORMS

BY = "responses/m"
RESPONSES = FORMS[1]


@asynccontextmanager
async def responses(url: str) -> AsyncGenerator[OpenAIResponses]:
    api_client = ApiClient(url, {"authorization": f"Bearer {KEY}"}, secret=KEY, env={}, idle_seconds=10.0)
    try:
        yield OpenAIResponses("test:m", Card(thinks="effort"), api_client)
    finally:
        await api_client.close()


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **fields}


def said(text: str, at: int = 0) -> dict[str, Any]:
    return event("output_text.delta", output_index=at, delta=text)


def item(at: int, done: bool = True, **fields: Any) -> dict[str, Any]:
    return event("output_item.done" if done else "output_item.added", output_index=at, item=fields)


def call(at: int, call_id: str, name: str = "bash", arguments: str = "{}", **fields: Any) -> dict[str, Any]:
    return item(at, type="function_call", id="fc", call_id=call_id, name=name, arguments=arguments, **fields)


def reasoning(at: int, encrypted: str | None, *summary: str) -> dict[str, Any]:
    parts = [{"type": "summary_text", "text": text} for text in summary]
    return item(at, type="reasoning", id=f"rs_{at}", summary=parts, encrypted_content=encrypted)


def completed(**fields: Any) -> dict[str, Any]:
    return event("completed", response={"status": "completed", **fields})


def incomplete(reason: str | None) -> dict[str, Any]:
    return event("incomplete", response={"incomplete_details": {"reason": reason}})


def sealed(data: dict[str, Any]) -> Seal:
    return Seal(BY, json.dumps(data, separators=(",", ":"), ensure_ascii=False))


def made(call_id: str, name: str = "bash", arguments: str = "{}") -> Call:
    return Call(CallId(call_id), name, arguments)


async def heard(*told: dict[str, Any] | bytes) -> Completion:
    async with raw_server(answers(HEAD + events(*told))) as server, responses(server.url) as model:
        return await complete(model)


async def failed(*told: dict[str, Any] | bytes) -> ModelFailed:
    with pytest.raises(ModelFailed) as failure:
        await heard(*told)
    return failure.value


HI = Completion((Text("hi there"),), (), Usage(), "end_turn")


@pytest.mark.parametrize(
    "told",
    [
        pytest.param([said("hi"), said(" there"), completed()], id="pieces"),
        pytest.param([said("hi there"), completed(), b"data: [DONE]\n\n", b"data: {\n\n"], id="more after the end"),
        pytest.param([b"data: [DONE]\n\n", said("hi there"), completed()], id="[DONE] means nothing"),
        pytest.param([b"event: x\nid: 1\n\n", {"type": "x"}, {}, said("hi there"), completed()], id="unknown events"),
        pytest.param([event("x.delta", delta={"a": 1}), said("hi there"), completed()], id="another kind of delta"),
        pytest.param(
            [item(0, type="web_search_call", arguments={}), said("hi there", 1), completed()], id="unknown items"
        ),
        pytest.param(
            [item(0, type="message", content=[{"type": "output_text", "text": "hi there"}]), completed()],
            id="nothing before it is whole",
        ),
        pytest.param(
            [completed(output=[{"type": "message", "content": [{"type": "output_text", "text": "hi there"}]}])],
            id="nothing before the end",
        ),
        pytest.param(
            [
                said("hi"),
                said(" there"),
                item(0, type="message", content=[{"text": "hi there"}]),
                completed(output=[{"type": "message", "content": [{"text": "hi there"}]}]),
            ],
            id="told three times",
        ),
    ],
)
@in_loop
async def test_text_is_understood_however_it_is_told(told: list[dict[str, Any] | bytes]) -> None:
    assert await heard(*told) == HI


@in_loop
async def test_what_comes_only_as_a_whole_is_shown_as_well() -> None:
    told = events(
        reasoning(0, None, "one", "two"), item(1, type="message", content=[{"text": "so"}]), completed(usage=None)
    )
    async with raw_server(answers(HEAD + told)) as server, responses(server.url) as model:
        *pieces, last = await pieces_of(model)
    assert pieces == [ThinkingPiece("one\n\ntwo"), TextPiece("so")]
    assert last == Completion((Thinking("one\n\ntwo"), Text("so")), (), Usage(), "end_turn")


@in_loop
async def test_parts_of_a_summary_are_told_apart() -> None:
    thought = [
        event("reasoning_summary_part.added", output_index=0, summary_index=0),
        event("reasoning_summary_text.delta", output_index=0, summary_index=0, delta="one"),
        event("reasoning_summary_part.added", output_index=0, summary_index=1),
        event("reasoning_summary_text.delta", output_index=0, summary_index=1, delta="two"),
        reasoning(0, "E", "one", "two"),
    ]
    last = await heard(*thought, said("so", 1), completed())
    seal = sealed({"id": "rs_0", "summary": ["one", "two"], "encrypted": "E"})
    assert last.blocks == (Thinking("one\n\ntwo", seal), Text("so"))


@in_loop
async def test_thoughts_in_plain_words_are_kept_to_be_sent_back() -> None:
    thought = [
        event("reasoning_text.delta", output_index=0, delta="hm"),
        item(0, type="reasoning", id="rs_0", summary=[], content=[{"type": "reasoning_text", "text": "hm"}]),
    ]
    last = await heard(*thought, said("so", 1), completed())
    assert last.blocks == (Thinking("hm", sealed({"id": "rs_0", "content": ["hm"]})), Text("so"))


@pytest.mark.quick
@in_loop
async def test_every_thought_knows_what_it_led_to() -> None:
    last = await heard(
        reasoning(0, "A", "first"),
        item(1, type="message", content=[{"text": "I build"}]),
        reasoning(2, "B"),
        reasoning(3, "C", "third"),
        call(4, "a"),
        call(5, "b"),
        reasoning(6, "D"),
        call(7, "c"),
        completed(),
    )
    assert last.calls == (made("a"), made("b"), made("c"))
    assert last.blocks == (
        Thinking("first", sealed({"id": "rs_0", "summary": ["first"], "encrypted": "A"})),
        Text("I build"),
        Thinking("", sealed({"id": "rs_2", "encrypted": "B", "call": 0})),
        Thinking("third", sealed({"id": "rs_3", "summary": ["third"], "encrypted": "C", "call": 0})),
        Thinking("", sealed({"id": "rs_6", "encrypted": "D", "call": 2})),
    )


@pytest.mark.parametrize(
    "after",
    [
        pytest.param([], id="nothing"),
        pytest.param([item(1, type="message", content=[])], id="an empty message"),
        pytest.param([call(1, "a", arguments='{"comm', status="incomplete")], id="half a call"),
    ],
)
@in_loop
async def test_a_thought_that_led_to_nothing_is_not_sealed(after: list[dict[str, Any]]) -> None:
    last = await heard(reasoning(0, "A", "hm"), *after, incomplete("max_output_tokens"))
    assert last == Completion((Thinking("hm"),), (), Usage(), "max_tokens")


@pytest.mark.parametrize(
    ("told", "calls"),
    [
        pytest.param(
            [
                item(0, done=False, type="function_call", call_id="a", name="one", arguments=""),
                item(1, done=False, type="function_call", call_id="b", name="two", arguments=""),
                event("function_call_arguments.delta", output_index=1, delta='{"x"'),
                event("function_call_arguments.delta", output_index=0, delta="{}"),
                event("function_call_arguments.delta", output_index=1, delta=":1}"),
                event("function_call_arguments.done", output_index=1, arguments='{"x":1}'),
            ],
            [made("a", "one"), made("b", "two", '{"x":1}')],
            id="pieces that take turns, no item in the end",
        ),
        pytest.param([call(0, "a", arguments='{"half')], [made("a", arguments='{"half')], id="garbled arguments"),
        pytest.param([call(0, "a", arguments="")], [made("a")], id="no arguments"),
        pytest.param([call(0, "a", name="")], [], id="no name"),
        pytest.param([call(1, "b"), call(0, "a")], [made("a"), made("b")], id="out of order"),
        pytest.param(
            [item(0, type="function_call", id="fc_1", name="bash", arguments=None)], [made("fc_1")], id="no call id"
        ),
    ],
)
@in_loop
async def test_calls_are_put_together(told: list[dict[str, Any]], calls: list[Call]) -> None:
    assert (await heard(*told, completed())).calls == tuple(calls)


@pytest.mark.parametrize(
    ("reason", "stop_reason"),
    [
        ("max_output_tokens", "max_tokens"),
        ("content_filter", "refusal"),
        ("something_new", "max_tokens"),
        (None, "max_tokens"),
    ],
)
@in_loop
async def test_every_reason_to_stop_early_has_a_meaning(reason: str | None, stop_reason: StopReason) -> None:
    told = [said("so far"), call(1, "a"), call(2, "b", arguments='{"x'), call(3, "c", status="incomplete")]
    assert await heard(*told, incomplete(reason)) == Completion((Text("so far"),), (made("a"),), Usage(), stop_reason)


@pytest.mark.parametrize(
    "told",
    [
        [event("refusal.delta", output_index=0, delta="I will not")],
        [item(0, type="message", content=[{"type": "refusal", "refusal": "I will not"}])],
    ],
)
@in_loop
async def test_a_refusal_is_shown_and_named(told: list[dict[str, Any]]) -> None:
    assert await heard(*told, completed()) == Completion((Text("I will not"),), (), Usage(), "refusal")


@in_loop
async def test_usage_counts_cached_and_reasoning_tokens() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 64},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 15},
        "total_tokens": 120,
    }
    last = await heard(said("hi"), completed(usage=usage))
    assert last.usage == Usage(input_tokens=100, output_tokens=20, cache_read_tokens=64, reasoning_tokens=15)


@pytest.mark.parametrize(
    ("told", "words", "retryable", "too_long"),
    [
        ({"type": "error", "code": "server_error", "message": "sorry", "param": None}, "sorry", True, False),
        ({"type": "error", "error": {"code": "rate_limit_exceeded", "message": "slow"}}, "slow", True, False),
        ({"error": {"message": "overloaded"}}, "overloaded", True, False),
        (event("failed", response={"error": {"code": "server_error", "message": "sorry"}}), "sorry", True, False),
        (event("failed", response={"error": {"code": "insufficient_quota", "message": "pay"}}), "pay", False, False),
        (event("failed", response={"error": {"code": "invalid_prompt", "message": "no"}}), "no", False, False),
        (
            event("failed", response={"error": {"code": "context_length_exceeded", "message": "long"}}),
            *("long", False, True),
        ),
        (event("failed", response={}), "no reason given", True, False),
        (event("failed"), "no reason given", True, False),
    ],
)
@in_loop
async def test_a_failure_in_the_middle_says_whether_to_try_again(
    told: dict[str, Any], words: str, retryable: bool, too_long: bool
) -> None:
    failure = await failed(said("so far"), told)
    assert failure.message == f"API error: {words}"
    assert (failure.retryable, failure.too_long) == (retryable, too_long)


@in_loop
async def test_a_failure_may_say_when_to_try_again() -> None:
    error = {"code": "rate_limit_exceeded", "message": f"Key {KEY}: please try again in 1.5s."}
    failure = await failed(event("failed", response={"error": error}))
    assert failure.message == "API error: Key …: please try again in 1.5s."
    assert failure.retry_after == 1.5


@pytest.mark.parametrize("told", [[], [said("hi")], [said("hi"), b"data: [DONE]\n\n"]])
@in_loop
async def test_an_answer_without_an_end_is_cut_off(told: list[dict[str, Any] | bytes]) -> None:
    failure = await failed(*told, b": bye\n\n")
    assert (failure.message, failure.retryable) == ("the model server broke off mid-answer", True)


@pytest.mark.parametrize(
    "told",
    [
        b"data: {\n\n",
        b"data: [1]\n\n",
        b"data: \xff\n\n",
        {"type": 5},
        event("output_text.delta", delta=5),
        event("output_text.delta", delta=None),
        event("output_text.delta", output_index="x", delta=""),
        item(0, type="message", content=5),
        item(0, type="function_call", arguments={}),
        event("output_item.done", item=[]),
        event("completed", response={"usage": {"input_tokens": "many"}}),
        b'data: {"type": "error", "x": ' + b"[" * 5000 + b"\n\n",
    ],
)
@in_loop
async def test_an_event_of_another_shape_is_a_failure(told: dict[str, Any] | bytes) -> None:
    failure = await failed(said("hi"), told, completed())
    assert failure.message.startswith("the model server sent a broken event")
    assert failure.retryable


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_events_may_be_split_across_reads(sizes: list[int]) -> None:
    summary = event("reasoning_summary_text.delta", output_index=0, delta="дума́ю")
    body = events(summary, said("héllo ", 1), said("🏳️‍🌈", 1), completed())
    answer, lines, shown, at = ResponsesAnswer("", BY), EventStream(check_event_size, by_line=True), "", 0
    while body:
        size = sizes[at % len(sizes)]
        shown += "".join(answer.take(lines.feed(body[:size])))
        body, at = body[size:], at + 1
    assert answer.is_done
    assert answer.completion().blocks == (Thinking("дума́ю"), Text("héllo 🏳️‍🌈"))
    assert shown == "дума́юhéllo 🏳️‍🌈"


@in_loop
async def test_a_server_that_stays_on_the_line_after_its_last_word_does_not_hold_us_up() -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.request()
        await connection.send(HEAD + events(said("hi there"), completed()))
        await connection.left()

    async with raw_server(talk) as server, responses(server.url) as model:
        assert await complete(model) == HI
        await server.all_left()


@in_loop
async def test_a_server_that_gives_up_is_a_failure() -> None:
    async with RESPONSES.scripted(script(says("so far", finish_reason="error"))) as (_, model):
        with pytest.raises(ModelFailed, match="API error: The model gave up") as failure:
            await complete(model)
    assert failure.value.retryable
