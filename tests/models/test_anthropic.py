"""Messages answers: from the scripted model server, and from servers that say exactly what a test wants."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderelay.http.sse import EventStream
from coderelay.models.answer_limits_and_completeness import check_event_size
from coderelay.models.anthropic.stream_decoder import AnthropicAnswer
from coderelay.models.model import Completion, TextPiece
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.events import StopReason
from coderelay.protocol.message_content import Text, Thinking
from coderelay.protocol.usage_and_cost import Usage
from tests.model_server import (
    bash,
    call,
    cut_off,
    empty,
    garbage,
    hangs,
    http_error,
    model_server,
    proposes,
    raw_call,
    read,
    says,
    script,
    tokens,
)
from tests.models.anthropic_messages import (
    BY,
    START,
    STOP,
    answered,
    asking,
    block,
    called,
    claude,
    complete,
    finish,
    pieces_of,
    scripted,
    text,
    thought,
)
from tests.models.chat_completions import HEAD, KEY, events, shown
from tests.models.raw_server import RawConnection, answers, in_loop, raw_server, settle


@pytest.mark.quick
@in_loop
async def test_a58_text_and_thinking_are_shown_as_they_come_and_whole_at_the_end() -> None:
    async with scripted(script(says("one two three", thinking="let me see"))) as (_, model):
        *pieces, last = await pieces_of(model)
    assert shown(pieces) == ("let me see", "one two three")
    assert isinstance(last, Completion)
    thinking, said = last.blocks
    assert isinstance(thinking, Thinking)
    assert thinking.seal is not None
    assert (thinking.thinking, thinking.seal.by, bool(thinking.seal.data)) == ("let me see", BY, True)
    assert (said, last.calls, last.stop_reason) == (Text("one two three"), (), "end_turn")
    assert last.usage.output_tokens == 6


@in_loop
async def test_text_is_shown_before_the_answer_is_finished() -> None:
    async with scripted(script(hangs(says("one two"), 4))) as (_, model):
        stream = model.stream(asking())
        assert await anext(stream) == TextPiece("one")
        await stream.aclose()


@pytest.mark.quick
@in_loop
async def test_parallel_calls_come_whole_and_in_order() -> None:
    calls = [bash("make all"), read("a/long/path.txt"), call("list"), raw_call("bash", '{"command": "half')]
    async with scripted(script(proposes(*calls, text="building"))) as (_, model):
        last = await complete(model)
    assert last.blocks == (Text("building"),)
    assert last.calls == (
        called("call_1", '{"command":"make all"}'),
        called("call_2", '{"path":"a/long/path.txt"}', "read"),
        called("call_3", "{}", "list"),
        called("call_4", '{"command": "half'),
    )
    assert last.stop_reason == "end_turn"


@in_loop
async def test_one_connection_serves_all_steps_of_a_turn() -> None:
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    body = events(START, *text("hi"), finish(), STOP)

    async def talk(connection: RawConnection) -> None:
        while await connection.request():
            await connection.send(head + b"%x\r\n%b\r\n" % (len(body), body))
            await settle()
            await connection.send(b"0\r\n\r\n")  # the end of the body comes after the last word

    async with raw_server(talk) as server, claude(server.url) as model:
        assert [(await complete(model)).stop_reason for _ in range(3)] == ["end_turn"] * 3
        assert server.connections == 1


@in_loop
async def test_a_short_a_very_long_and_an_empty_answer_follow_each_other() -> None:
    async with scripted(script(says("one"), empty(), tokens(20_000), says("four"))) as (_, model):
        heard = [await complete(model) for _ in range(4)]
    assert [each.blocks for each in heard] == [(Text("one"),), (), (Text("tok " * 20_000),), (Text("four"),)]
    assert [each.usage.output_tokens for each in heard] == [1, 0, 20_000, 1]


@in_loop
async def test_a_thought_that_nobody_may_read_is_kept() -> None:
    last = await answered(
        START, *block(0, "redacted_thinking", data="c2VjcmV0"), *text("so", index=1), finish(), STOP
    )
    assert last.blocks == (thought("", "redacted:c2VjcmV0"), Text("so"))


@in_loop
async def test_a_thought_whose_words_are_not_shown_keeps_its_signature() -> None:
    signed = block(0, "thinking", {"type": "signature_delta", "signature": "abc="}, thinking="", signature="")
    last = await answered(START, *signed, *text("so", index=1), finish(), STOP)
    assert last.blocks == (thought("", "abc="), Text("so"))


@in_loop
async def test_thoughts_between_words_stay_where_they_were() -> None:
    def thinking(index: int, words: str) -> list[dict[str, Any]]:
        signature = {"type": "signature_delta", "signature": f"sig{index}"}
        return block(index, "thinking", {"type": "thinking_delta", "thinking": words}, signature)

    use = block(4, "tool_use", {"type": "input_json_delta", "partial_json": "{}"}, id="a", name="list", input={})
    last = await answered(
        START, *thinking(0, "hm"), *text("look", index=1), *thinking(2, "ah"), *text(" on", index=3), *use,
        finish("tool_use"), STOP,
    )  # fmt: skip
    assert last.blocks == (thought("hm", "sig0"), Text("look"), thought("ah", "sig2"), Text(" on"))
    assert last.calls == (called("a", "{}", "list"),)


@in_loop
async def test_a_thought_without_a_signature_has_no_seal() -> None:
    last = await answered(
        START, *block(0, "thinking", {"type": "thinking_delta", "thinking": "hm"}), *text("so", index=1), finish()
    )
    assert last.blocks == (Thinking("hm"), Text("so"))


@in_loop
async def test_the_whole_block_may_be_there_at_its_beginning() -> None:
    use = block(2, "tool_use", id="a", name="bash", input={"command": "make"})
    last = await answered(
        START, *block(0, "thinking", thinking="hm", signature="s"), *block(1, "text", text="so"), *use, finish()
    )
    assert last.blocks == (thought("hm", "s"), Text("so"))
    assert last.calls == (called("a", '{"command": "make"}'),)


@given(st.text(max_size=60), st.data())
def test_arguments_may_be_split_anywhere(arguments: str, data: st.DataObject) -> None:
    deltas: list[dict[str, Any]] = []
    rest = arguments
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        deltas.append({"type": "input_json_delta", "partial_json": rest[:size]})
        rest = rest[size:]
    use = block(0, "tool_use", *deltas, id="a", name="bash", input={})
    answer = AnthropicAnswer(BY, "")
    answer.take(EventStream(check_event_size, by_line=True).feed(events(START, *use, finish("tool_use"))))
    assert answer.completion().calls == (called("a", arguments or "{}"),)


@pytest.mark.parametrize(
    ("reason", "stop_reason"),
    [
        ("end_turn", "end_turn"),
        ("tool_use", "end_turn"),
        ("stop_sequence", "end_turn"),
        ("pause_turn", "end_turn"),
        ("something_new", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("refusal", "refusal"),
    ],
)
@in_loop
async def test_every_reason_to_finish_has_a_meaning(reason: str, stop_reason: StopReason) -> None:
    async with scripted(script(says("so far", finish_reason=reason))) as (_, model):
        last = await complete(model)
    assert (last.blocks, last.stop_reason) == ((Text("so far"),), stop_reason)


@pytest.mark.parametrize("reason", ["max_tokens", "refusal"])
@pytest.mark.parametrize("half", ['{"command": "rm -rf /tmp/x', ""])
@in_loop
async def test_a_call_cut_short_was_never_made(reason: str, half: str) -> None:
    answer = proposes(call("list"), bash("make"), raw_call("bash", half), finish_reason=reason)
    async with scripted(script(answer)) as (_, model):
        last = await complete(model)
    assert last.calls == (called("call_1", "{}", "list"), called("call_2", '{"command":"make"}'))


@in_loop
async def test_a_call_without_arguments_before_a_cut_was_made() -> None:
    list_all = block(0, "tool_use", {"type": "input_json_delta", "partial_json": ""}, id="a", name="list", input={})
    last = await answered(START, *list_all, *text("and th", index=1), finish("max_tokens"), STOP)
    assert last.calls == (called("a", "{}", "list"),)


@in_loop
async def test_a_whole_call_before_a_cut_was_made() -> None:
    async with scripted(script(proposes(bash("make"), finish_reason="max_tokens"))) as (_, model):
        last = await complete(model)
    assert (last.calls, last.stop_reason) == ((called("call_1", '{"command":"make"}'),), "max_tokens")


@in_loop
async def test_usage_counts_what_was_read_from_and_written_to_the_cache() -> None:
    usage = {
        "input_tokens": 5,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 2000,
        "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 0},
        "output_tokens": 1,
        "service_tier": "standard",
    }
    last = await answered(
        {"type": "message_start", "message": {"usage": usage}}, *text("hi"), finish(output_tokens=9)
    )
    assert last.usage == Usage(input_tokens=2105, output_tokens=9, cache_read_tokens=2000, cache_write_tokens=100)


@pytest.mark.parametrize(
    ("start", "end", "usage"),
    [
        (START, finish(), Usage(input_tokens=7, output_tokens=1)),
        (START, finish(input_tokens=0, output_tokens=4), Usage(input_tokens=7, output_tokens=4)),
        (START, finish(input_tokens=8, cache_read_input_tokens=2), Usage(10, 1, cache_read_tokens=2)),
        ({"type": "message_start", "message": {}}, finish(input_tokens=3, output_tokens=4), Usage(3, 4)),
        ({"type": "message_start"}, finish() | {"usage": None}, Usage()),
    ],
)
@in_loop
async def test_usage_may_come_late_or_not_at_all(start: dict[str, Any], end: dict[str, Any], usage: Usage) -> None:
    assert (await answered(start, *text("hi"), end, STOP)).usage == usage


HELLO = text("héllo ", "你好 🎉")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(events(START, *HELLO, finish(), STOP), id="as it should be"),
        pytest.param(events(START, *HELLO, finish()), id="no message_stop"),
        pytest.param(events(START, *HELLO, finish(), STOP).rstrip(b"\n"), id="no end of the last line"),
        pytest.param(events(START, *HELLO, finish(), STOP).replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(events(START, *HELLO, finish(), STOP, b"data: nonsense\n\n"), id="more after message_stop"),
        pytest.param(events(START, *HELLO, finish(), b"data: [DONE]\n\n"), id="the end of another form"),
        pytest.param(
            events(START, b'event: ping\ndata: {"type": "ping"}\n\n', *HELLO, b": hm\n\n", finish(), STOP), id="pings"
        ),
        pytest.param(
            events({"type": "new_thing", "delta": [1], "message": "x"}, START, *HELLO, finish(), STOP),
            id="an event of another kind and shape",
        ),
        pytest.param(
            events(
                START,
                *block(0, "server_tool_use", {"type": "input_json_delta", "partial_json": "{}"}, id="s", name="web"),
                *block(1, "web_search_tool_result", tool_use_id="s", content=[{"type": "web_search_result"}]),
                *text("héllo ", "你好 🎉", index=2),
                {"type": "content_block_delta", "index": 2, "delta": {"type": "citations_delta", "citation": {}}},
                finish(),
                STOP,
            ),
            id="blocks and deltas of other kinds",
        ),
        pytest.param(
            events(START, *HELLO, {"type": "message_delta", "delta": {}}, finish(), finish(""), STOP),
            id="more than one message_delta",
        ),
        pytest.param(
            events(START, *text(index=0), *text("héllo 你好 🎉", index=1), finish()), id="a block of nothing"
        ),
    ],
)
@in_loop
async def test_events_are_understood_in_every_dialect(body: bytes) -> None:
    async with raw_server(answers(HEAD + body)) as server, claude(server.url) as model:
        usage = Usage(input_tokens=7, output_tokens=1)
        assert await complete(model) == Completion((Text("héllo 你好 🎉"),), (), usage, "end_turn")


@in_loop
async def test_what_is_in_blocks_of_other_kinds_is_not_shown() -> None:
    unknown = block(0, "mystery", {"type": "text_delta", "text": "hush"}, text="psst")
    body = HEAD + events(START, *text("hi"), *unknown, *text("ho"), finish(), STOP)  # and all of them at one index
    async with raw_server(answers(body)) as server, claude(server.url) as model:
        *pieces, last = await pieces_of(model)
    assert shown(pieces) == ("", "hiho")
    assert isinstance(last, Completion)
    assert last.blocks == (Text("hi"), Text("ho"))


@in_loop
async def test_an_answer_without_a_reason_to_finish_is_cut_off() -> None:
    with pytest.raises(ModelFailed, match="broke off mid-answer") as failure:
        await answered(START, *HELLO, STOP)
    assert failure.value.retryable


@given(st.lists(st.integers(1, 25), min_size=1, max_size=12), st.booleans())
def test_characters_and_lines_may_be_split_across_reads(sizes: list[int], crlf: bool) -> None:
    body = events(START, *text("héllo 你好 🎉", " ünd 🏳️‍🌈"), finish(), STOP)
    body = body.replace(b"\n", b"\r\n") if crlf else body
    answer, lines, shown_text, at = AnthropicAnswer(BY, ""), EventStream(check_event_size, by_line=True), "", 0
    while body:
        size = sizes[at % len(sizes)]
        shown_text += answer.take(lines.feed(body[:size]))[1]
        body, at = body[size:], at + 1
    assert answer.is_done
    assert answer.completion().blocks == (Text("héllo 你好 🎉 ünd 🏳️‍🌈"),)
    assert shown_text == "héllo 你好 🎉 ünd 🏳️‍🌈"


@pytest.mark.parametrize("pieces", [0, 1, 2, 3, 5, 6, 7])
@in_loop
async def test_an_answer_cut_off_is_a_failure_worth_another_try(pieces: int) -> None:
    async with scripted(script(cut_off(says("one two three"), pieces), says("again"))) as (_, model):
        with pytest.raises(ModelFailed, match="broke off mid-answer") as failure:
            await complete(model)
        assert failure.value.retryable
        assert (await complete(model)).blocks == (Text("again"),)


@pytest.mark.quick
@in_loop
async def test_a_broken_event_is_a_failure_and_not_skipped() -> None:
    async with scripted(script(garbage(says("one two"), 4))) as (_, model):
        with pytest.raises(ModelFailed, match="sent a broken event") as failure:
            await complete(model)
    assert failure.value.retryable


@pytest.mark.parametrize(
    "event",
    [
        b'data: {"type": "content_block_delta", "index": 0, "delta": {"text": 5}}\n\n',
        b'data: {"type": "content_block_delta", "index": "0", "delta": {"text": "x"}}\n\n',
        b'data: {"type": "content_block_start", "content_block": []}\n\n',
        b"data: [1]\n\n",
        b'data: {"type": 5}\n\n',
        b"data: \xff\xfe\n\n",
        b'data: {"type": "content_block_delta", "delta": {"text": "\xff"}}\n\n',
        b'data: {"type": "error", "error": ' + b"[" * 5000 + b"\n\n",
        b'data: {"type": "message_delta", "usage": {"output_tokens": "many"}}\n\n',
    ],
)
@in_loop
async def test_an_event_of_another_shape_is_a_failure(event: bytes) -> None:
    with pytest.raises(ModelFailed, match="sent a broken event"):
        await answered(START, *HELLO, event, finish(), STOP)


@pytest.mark.parametrize(
    ("kind", "message", "status", "retryable", "too_long"),
    [
        ("overloaded_error", "Overloaded", 529, True, False),
        ("rate_limit_error", "slow down", 429, True, False),
        ("api_error", "Internal server error", 500, True, False),
        ("timeout_error", "too slow", 504, True, False),
        ("invalid_request_error", "messages: at least one", 400, False, False),
        ("invalid_request_error", "prompt is too long: 214315 tokens > 200000 maximum", 400, False, True),
        ("authentication_error", "invalid x-api-key", 401, False, False),
        ("a_new_error", "who knows", None, True, False),
    ],
)
@in_loop
async def test_an_error_in_the_middle_says_whether_to_try_again(
    kind: str, message: str, status: int | None, retryable: bool, too_long: bool
) -> None:
    error = {"type": "error", "error": {"type": kind, "message": f"{message} {KEY}"}, "request_id": "req_1"}
    with pytest.raises(ModelFailed) as failure:
        await answered(START, *HELLO, error)
    failed = failure.value
    assert failed.message == f"API error: {message} …"
    assert (failed.status, failed.retryable, failed.too_long) == (status, retryable, too_long)


@pytest.mark.parametrize("error", [None, "no", [1], {"type": 5}, {}])
@in_loop
async def test_an_error_of_another_shape_is_a_failure(error: object) -> None:
    with pytest.raises(ModelFailed, match="API error: ") as failure:
        await answered(START, {"type": "error", "error": error})
    assert failure.value.retryable


@pytest.mark.quick
@pytest.mark.parametrize(
    ("status", "message", "retryable", "too_long"),
    [
        (429, "This request would exceed your rate limit", True, False),
        (529, "Overloaded", True, False),
        (500, "Internal server error", True, False),
        (400, "messages: at least one message is required", False, False),
        (400, "prompt is too long: 214315 tokens > 200000 maximum", False, True),
        (401, "invalid x-api-key", False, False),
        (404, "model: claude-9", False, False),
    ],
)
@in_loop
async def test_a_refusal_says_why_and_whether_to_try_again(
    status: int, message: str, retryable: bool, too_long: bool
) -> None:
    async with scripted(script(http_error(status, message, {"retry-after": "3"}))) as (_, model):
        with pytest.raises(ModelFailed) as failure:
            await complete(model)
    failed = failure.value
    assert failed.message == f"API error {status}: {message}"
    assert (failed.status, failed.retryable, failed.too_long) == (status, retryable, too_long)
    assert failed.retry_after == 3.0


@in_loop
async def test_a_silent_server_is_given_up() -> None:
    async with raw_server(RawConnection.left) as server, claude(server.url, idle_seconds=0.05) as model:
        with pytest.raises(ModelFailed, match=r"was silent for 0\.05 s"):
            await complete(model)


@in_loop
async def test_a_server_that_falls_silent_in_the_middle_is_given_up() -> None:
    hanging = model_server(script(hangs(says("one two"), 4)))
    async with hanging as server, claude(server.base_url, idle_seconds=0.05) as model:
        with pytest.raises(ModelFailed, match=r"was silent for 0\.05 s"):
            await complete(model)


@in_loop
async def test_leaving_in_the_middle_closes_the_connection() -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.request()
        await connection.send(HEAD + events(START, *HELLO))
        heard.set()
        await connection.left()

    heard = asyncio.Event()
    async with raw_server(talk) as server, claude(server.url) as model:
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
