"""Chat Completions against the scripted model server, and against servers of the many dialects."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderelay.http.sse import EventStream
from coderelay.models.answer_limits_and_completeness import check_event_size
from coderelay.models.model import Completion, TextPiece
from coderelay.models.openai_chat.stream_decoder import ChatAnswer
from coderelay.protocol.calls import Call
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.events import StopReason
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Seal, Text, Thinking
from coderelay.protocol.usage_and_cost import Usage
from tests.model_server import (
    bash,
    call,
    cut_off,
    empty,
    garbage,
    hangs,
    proposes,
    raw_call,
    read,
    says,
    script,
    tokens,
)
from tests.models.chat_completions import (
    HEAD,
    STOP,
    answered,
    asking,
    calling,
    chat,
    complete,
    delta,
    events,
    finish,
    pieces_of,
    scripted,
    shown,
)
from tests.models.raw_server import RawConnection, answers, in_loop, raw_server, settle

BY = "chat/m"
THOUGHT = Seal(BY, "reasoning_content")


def made(call_id: str, name: str, arguments: str) -> Call:
    return Call(CallId(call_id), name, arguments)


@pytest.mark.quick
@in_loop
async def test_text_and_thinking_are_shown_as_they_come_and_whole_at_the_end() -> None:
    async with scripted(script(says("one two three", thinking="let me see"))) as (_, model):
        *pieces, last = await pieces_of(model)
    assert shown(pieces) == ("let me see", "one two three")
    assert isinstance(last, Completion)
    assert last.blocks == (Thinking("let me see", THOUGHT), Text("one two three"))
    assert (last.calls, last.stop_reason) == ((), "end_turn")
    assert last.usage.output_tokens == 6


@in_loop
async def test_text_is_shown_before_the_answer_is_finished() -> None:
    async with scripted(script(hangs(says("one two"), 2))) as (_, model):
        stream = model.stream(asking())
        assert await anext(stream) == TextPiece("one")
        await stream.aclose()


@pytest.mark.quick
@in_loop
async def test_parallel_calls_whose_pieces_take_turns_are_told_apart() -> None:
    calls = [bash("make all"), read("a/long/path.txt"), call("list"), raw_call("bash", '{"command": "half')]
    async with scripted(script(proposes(*calls, text="building"))) as (_, model):
        last = await complete(model)
    assert last.blocks == (Text("building"),)
    assert last.calls == (
        made("call_1", "bash", '{"command":"make all"}'),
        made("call_2", "read", '{"path":"a/long/path.txt"}'),
        made("call_3", "list", "{}"),
        made("call_4", "bash", '{"command": "half'),
    )
    assert last.stop_reason == "end_turn"


@in_loop
async def test_one_connection_serves_all_steps_of_a_turn() -> None:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    body = events(HELLO, STOP, b"data: [DONE]\n\n")

    async def talk(connection: RawConnection) -> None:
        while await connection.request():
            await connection.send(head + b"%x\r\n%b\r\n" % (len(body), body))
            await settle()
            await connection.send(b"0\r\n\r\n")  # the end of the body comes after the last word

    async with raw_server(talk) as server, chat(server.url) as model:
        assert [(await complete(model)).stop_reason for _ in range(3)] == ["end_turn"] * 3
        assert server.connections == 1


@in_loop
async def test_a_short_a_long_and_an_empty_answer_follow_each_other() -> None:
    async with scripted(script(says("one"), empty(), tokens(2000), says("four"))) as (_, model):
        blocks = [(await complete(model)).blocks for _ in range(4)]
    assert blocks == [(Text("one"),), (), (Text("tok " * 2000),), (Text("four"),)]


def function(name: str | None = None, arguments: str | None = None) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


@pytest.mark.parametrize(
    ("told", "calls"),
    [
        pytest.param(
            [
                calling({"index": 1, "id": "b", "function": function("two", "")}),
                calling({"index": 0, "id": "a", "function": function("one", "{")}),
                calling(
                    {"index": 1, "function": {"arguments": '{"x":'}}, {"index": 0, "function": {"arguments": "}"}}
                ),
                calling({"index": 1, "function": {"arguments": "1}"}}),
            ],
            [("a", "one", "{}"), ("b", "two", '{"x":1}')],
            id="indexes out of order",
        ),
        pytest.param(
            [
                calling({"id": "a", "function": function("one", '{"x"')}),
                calling({"function": {"arguments": ":1}"}}),
                calling({"id": "b", "function": function("two", "")}),
                calling({"function": {"arguments": "{}"}}),
            ],
            [("a", "one", '{"x":1}'), ("b", "two", "{}")],
            id="no index",
        ),
        pytest.param(
            [
                calling({"index": None, "id": "a", "function": function("one", "{")}),
                calling({"index": None, "id": "b", "function": function("two", "{")}),
                calling({"index": None, "id": "a", "function": function("one", "}")}),
                calling({"index": None, "id": "b", "function": function("two", "}")}),
            ],
            [("a", "one", "{}"), ("b", "two", "{}")],
            id="no index, but an id and a name with every piece",
        ),
        pytest.param(
            [calling({"function": function("one", '{"x":1}')}, {"function": function("one", '{"x":2}')})],
            [("", "one", '{"x":1}'), ("", "one", '{"x":2}')],
            id="neither index nor id, whole calls",
        ),
        pytest.param(
            [
                calling({"index": 0, "id": "a", "function": function("one", "{}")}),
                calling({"index": 0, "id": "b", "function": function("two", "{")}),
                calling({"index": 0, "function": function(None, "}")}),
            ],
            [("a", "one", "{}"), ("b", "two", "{}")],
            id="every index 0, ids differ",
        ),
        pytest.param(
            [
                calling({"index": 0, "id": "", "function": function("one", '{"x":1}')}),
                calling({"index": 0, "id": "", "function": function("one", '{"x":2}')}),
            ],
            [("", "one", '{"x":1}'), ("", "one", '{"x":2}')],
            id="every index 0, no ids, whole calls",
        ),
        pytest.param(
            [
                calling({"index": 0, "id": "a", "function": function("one", '{"x":')}),
                calling({"index": 0, "id": "a", "function": function("one", "1}")}),
                calling({"index": 0, "id": "a", "function": function("one", "")}),
            ],
            [("a", "one", '{"x":1}')],
            id="id and name repeated with every piece",
        ),
        pytest.param(
            [
                calling({"index": 0, "id": "a", "function": function("one", "")}),
                calling({"index": 0, "id": "other", "function": {"arguments": "{}"}}),
            ],
            [("a", "one", "{}")],
            id="a new id with every piece",
        ),
        pytest.param(
            [calling({"index": 0, "id": "a", "type": "function", "function": {"name": "one"}})],
            [("a", "one", "{}")],
            id="no arguments",
        ),
        pytest.param(
            [calling({"index": 0, "id": "a", "function": None}), calling({"index": 0, "function": function("one")})],
            [("a", "one", "{}")],
            id="the function comes later",
        ),
        pytest.param(
            [
                calling({"function": function("one", "{")}),
                calling({"id": "a", "function": function(None, "}")}),
                calling({"function": function("two")}),
            ],
            [("a", "one", "{}"), ("", "two", "{}")],
            id="the id comes later, no index",
        ),
        pytest.param([calling({"index": 0, "id": "a", "function": {"arguments": "{}"}})], [], id="no name at all"),
        pytest.param([delta(tool_calls=None), delta(tool_calls=[])], [], id="no calls"),
    ],
)
@in_loop
async def test_calls_are_put_together_in_every_dialect(told: list[Any], calls: list[tuple[str, str, str]]) -> None:
    last = await answered(HEAD + events(*told, finish("tool_calls"), b"data: [DONE]\n\n"))
    assert last.calls == tuple(made(*each) for each in calls)


@given(st.text(max_size=60), st.data())
def test_arguments_may_be_split_anywhere(arguments: str, data: st.DataObject) -> None:
    answer, rest = ChatAnswer("", BY), arguments
    answer.take(_data(calling({"index": 0, "id": "a", "function": function("one", "")})))
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        answer.take(_data(calling({"index": 0, "function": {"arguments": rest[:size]}})))
        rest = rest[size:]
    answer.take(_data(finish("tool_calls")))
    assert answer.completion().calls == (made("a", "one", arguments or "{}"),)


@pytest.mark.parametrize(
    ("reason", "stop_reason"),
    [
        ("stop", "end_turn"),
        ("tool_calls", "end_turn"),
        ("function_call", "end_turn"),
        ("something_new", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
    ],
)
@in_loop
async def test_every_reason_to_finish_has_a_meaning(reason: str, stop_reason: StopReason) -> None:
    async with scripted(script(says("so far", finish_reason=reason))) as (_, model):
        last = await complete(model)
    assert (last.blocks, last.stop_reason) == ((Text("so far"),), stop_reason)


@pytest.mark.parametrize("reason", ["error", "insufficient_system_resource"])
@in_loop
async def test_an_answer_that_the_server_gave_up_is_a_failure(reason: str) -> None:
    async with scripted(script(says("so far", finish_reason=reason))) as (_, model):
        with pytest.raises(ModelFailed, match=f"gave up in the middle: {reason}") as failure:
            await complete(model)
    assert failure.value.retryable


@pytest.mark.parametrize("reason", ["length", "content_filter"])
@pytest.mark.parametrize("half", ['{"command": "rm -rf /tmp/x', ""])
@in_loop
async def test_a_call_cut_short_was_never_made(reason: str, half: str) -> None:
    answer = proposes(bash("make"), raw_call("bash", half), finish_reason=reason)
    async with scripted(script(answer)) as (_, model):
        last = await complete(model)
    assert last.calls == (made("call_1", "bash", '{"command":"make"}'),)


@in_loop
async def test_usage_counts_cached_and_reasoning_tokens() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 15},
    }
    last = await answered(HEAD + events(delta(content="hi"), STOP, {"choices": [], "usage": usage}))
    assert last.usage == Usage(input_tokens=100, output_tokens=20, cache_read_tokens=64, reasoning_tokens=15)


@pytest.mark.parametrize("field", ["prompt_cache_hit_tokens", "cached_tokens"])
@in_loop
async def test_cached_tokens_have_other_names_elsewhere(field: str) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 20, field: 64}
    last = await answered(HEAD + events(delta(content="hi"), STOP | {"usage": usage}))
    assert last.usage == Usage(input_tokens=100, output_tokens=20, cache_read_tokens=64)


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": None, "prompt_tokens_details": None, "completion_tokens_details": {}}]
)
@in_loop
async def test_usage_may_be_missing_or_empty(usage: object) -> None:
    last = await answered(HEAD + events(delta(content="hi"), STOP | {"usage": usage}))
    assert last.usage == Usage()


HELLO = delta(content="héllo 你好 🎉")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(events(HELLO, STOP, b"data: [DONE]\n\n"), id="as it should be"),
        pytest.param(events(HELLO, STOP), id="no [DONE]"),
        pytest.param(events(HELLO, STOP).rstrip(b"\n"), id="no end of the last line"),
        pytest.param(events(HELLO, STOP).replace(b"data: ", b"data:"), id="no space after data"),
        pytest.param(events(HELLO, STOP, b"data: [DONE]\n\n").replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(events(HELLO, STOP).replace(b"\n\n", b"\n"), id="no empty lines"),
        pytest.param(events(b": ping\n\n", HELLO, b"event: x\nid: 7\nretry: 5\n\n", STOP), id="comments and names"),
        pytest.param(events(b"data:\n\n", HELLO, b"data: \n\n", STOP), id="empty events"),
        pytest.param(events({}, {"choices": None}, {"choices": []}, HELLO, {"choices": [{}]}, STOP), id="no choices"),
        pytest.param(events(delta(content=None), HELLO, delta(content="", role="assistant"), STOP), id="no content"),
        pytest.param(events(HELLO, STOP, b"data: [DONE]\n\n", HELLO, b"data: nonsense\n\n"), id="more after [DONE]"),
        pytest.param(events(HELLO, STOP, b"data: [DONE]\n\ndata: {"), id="half an event after [DONE]"),
        pytest.param(b"\n\n" + events(HELLO, STOP), id="empty lines first"),
        pytest.param(events(HELLO, finish(""), STOP, finish("")), id="an empty reason with every event"),
        pytest.param(events(delta(content="héllo "), delta(content="你好 🎉"), STOP), id="two pieces"),
    ],
)
@in_loop
async def test_events_are_understood_in_every_dialect(body: bytes) -> None:
    assert await answered(HEAD + body) == Completion((Text("héllo 你好 🎉"),), (), Usage(), "end_turn")


@in_loop
async def test_a_refusal_is_shown_and_named() -> None:
    last = await answered(HEAD + events(delta(refusal="I will"), delta(refusal=" not"), STOP))
    assert last == Completion((Text("I will not"),), (), Usage(), "refusal")


@pytest.mark.parametrize(
    ("provider", "field", "goes_back"),
    [
        ("test", "reasoning_content", "reasoning_content"),
        ("openrouter", "reasoning", "reasoning_content"),
        ("ollama", "reasoning", "reasoning"),
        ("test", "reasoning", None),
    ],
)
@in_loop
async def test_a58_thinking_has_two_names_and_goes_back_under_the_one_its_server_takes(
    provider: str, field: str, goes_back: str | None
) -> None:
    answer = HEAD + events(delta(**{field: "hm"}), delta(content="so"), STOP)
    async with raw_server(answers(answer)) as server, chat(server.url, provider=provider) as model:
        last = await complete(model)
    assert last.blocks == (Thinking("hm", Seal(BY, goes_back) if goes_back else None), Text("so"))


@pytest.mark.quick
@in_loop
async def test_a58_thinking_between_tags_is_told_apart_however_it_is_split() -> None:
    written = "\n<think>let me see</think>\n\nuse `<think>`"
    for size in (1, 3, 7, 50):
        pieces = [delta(content=written[at : at + size]) for at in range(0, len(written), size)]
        async with raw_server(answers(HEAD + events(*pieces, STOP))) as server, chat(server.url) as model:
            *shown_pieces, last = await pieces_of(model)
        assert shown(shown_pieces) == ("let me see", "use `<think>`")
        assert last == Completion((Thinking("let me see"), Text("use `<think>`")), (), Usage(), "end_turn")


@in_loop
async def test_a58_what_may_become_a_tag_is_shown_in_the_end() -> None:
    async with raw_server(answers(HEAD + events(delta(content=" <thi"), STOP))) as server, chat(server.url) as model:
        *pieces, last = await pieces_of(model)
    assert pieces == [TextPiece(" <thi")]
    assert last == Completion((Text(" <thi"),), (), Usage(), "end_turn")


@in_loop
async def test_a58_a_thought_that_is_never_closed_is_a_thought() -> None:
    last = await answered(HEAD + events(delta(content="<thinking>and on </think"), finish("length")))
    assert last == Completion((Thinking("and on </think"),), (), Usage(), "max_tokens")


@in_loop
async def test_a58_both_ways_to_think_come_together() -> None:
    told = [delta(reasoning_content="first"), delta(content="<think>second</think>so"), STOP]
    last = await answered(HEAD + events(*told))
    assert last.blocks == (Thinking("first", THOUGHT), Thinking("second"), Text("so"))


@pytest.mark.parametrize(
    ("extra", "seal"),
    [
        ({"google": {"thought_signature": "sig"}}, Seal(BY, "sig")),
        ({"google": {"thought_signature": 5}}, None),
        ({"google": "what?"}, None),
        ("what?", None),
        (None, None),
    ],
)
@in_loop
async def test_the_signature_of_a_call_is_kept_with_it(extra: object, seal: Seal | None) -> None:
    piece = {"index": 0, "id": "a", "function": function("one", "{}"), "extra_content": extra}
    last = await answered(HEAD + events(calling(piece), finish("tool_calls")))
    assert last.calls == (Call(CallId("a"), "one", "{}", seal),)


@in_loop
async def test_events_under_a_wrong_content_type_are_events() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n"
    assert (await answered(head + events(HELLO, STOP))).stop_reason == "end_turn"


@in_loop
async def test_thinking_under_both_names_is_taken_once() -> None:
    last = await answered(HEAD + events(delta(reasoning="hm", reasoning_content="hm", content=""), STOP))
    assert last.blocks == (Thinking("hm", THOUGHT),)


@given(st.lists(st.integers(1, 25), min_size=1, max_size=12), st.booleans())
def test_characters_and_lines_may_be_split_across_reads(sizes: list[int], crlf: bool) -> None:
    body = events(delta(reasoning="дума́ю"), HELLO, delta(content=" ünd 🏳️‍🌈"), STOP, b"data: [DONE]\n\n")
    body = body.replace(b"\n", b"\r\n") if crlf else body
    answer, lines, shown_text, at = ChatAnswer("", BY), EventStream(check_event_size, by_line=True), "", 0
    while body:
        size = sizes[at % len(sizes)]
        shown_text += answer.take(lines.feed(body[:size]))[1]
        body, at = body[size:], at + 1
    assert answer.is_done
    assert answer.completion().blocks == (Thinking("дума́ю"), Text("héllo 你好 🎉 ünd 🏳️‍🌈"))
    assert shown_text == "héllo 你好 🎉 ünd 🏳️‍🌈"


@in_loop
async def test_a_server_that_stays_on_the_line_after_its_last_word_does_not_hold_us_up() -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.request()
        await connection.send(HEAD + events(HELLO, STOP, b"data: [DONE]\n\n"))
        await connection.left()

    async with raw_server(talk) as server, chat(server.url) as model:
        assert (await complete(model)).blocks == (Text("héllo 你好 🎉"),)
        await server.all_left()


@pytest.mark.parametrize("pieces", [0, 1, 3])
@in_loop
async def test_an_answer_cut_off_is_a_failure_worth_another_try(pieces: int) -> None:
    async with scripted(script(cut_off(says("one two three"), pieces), says("again"))) as (_, model):
        with pytest.raises(ModelFailed, match="broke off mid-answer") as failure:
            await complete(model)
        assert failure.value.retryable
        assert (await complete(model)).blocks == (Text("again"),)


@in_loop
async def test_an_answer_without_a_reason_to_finish_is_cut_off() -> None:
    with pytest.raises(ModelFailed, match="broke off mid-answer") as failure:
        await answered(HEAD + events(HELLO, b"data: [DONE]\n\n"))
    assert failure.value.retryable


@pytest.mark.quick
@in_loop
async def test_a_broken_event_is_a_failure_and_not_skipped() -> None:
    async with scripted(script(garbage(says("one two"), 2))) as (_, model):
        with pytest.raises(ModelFailed, match="sent a broken event") as failure:
            await complete(model)
    assert failure.value.retryable


@pytest.mark.parametrize(
    "event",
    [
        b'data: {"choices": [{"delta": {"content": 5}}]}\n\n',
        b'data: {"choices": 5}\n\n',
        b"data: [1]\n\n",
        b"data: \xff\xfe\n\n",
        b'data: {"choices": [{"delta": {"content": "\xff"}}]}\n\n',
        b'data: {"choices": ' + b"[" * 5000 + b"\n\n",
        b'data: {"error": ' + b"[" * 5000 + b"\n\n",
        b'data: {"usage": {"prompt_tokens": "many"}}\n\n',
    ],
)
@in_loop
async def test_an_event_of_another_shape_is_a_failure(event: bytes) -> None:
    with pytest.raises(ModelFailed, match="sent a broken event"):
        await answered(HEAD + events(HELLO, event, STOP))


@in_loop
async def test_a_silent_server_is_given_up() -> None:
    async with raw_server(RawConnection.left) as server, chat(server.url, idle_seconds=0.05) as model:
        with pytest.raises(ModelFailed, match=r"was silent for 0\.05 s"):
            await complete(model)


@in_loop
async def test_leaving_in_the_middle_closes_the_connection() -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.request()
        await connection.send(HEAD + events(HELLO))
        heard.set()
        await connection.left()

    heard = asyncio.Event()
    async with raw_server(talk) as server, chat(server.url) as model:
        stream = model.stream(asking())
        await anext(stream)
        await stream.aclose()
        await server.all_left()
        heard.clear()

        hearing = asyncio.create_task(complete(model))
        await heard.wait()
        hearing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hearing
        await server.all_left()


def _data(event: dict[str, Any]) -> list[bytes]:
    return EventStream(check_event_size, by_line=True).feed(events(event))
