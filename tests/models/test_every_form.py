"""What every model does, whatever wire form it speaks. A form is done when it passes here."""

import asyncio
from itertools import pairwise, product

import pytest
from msgspec.structs import replace

from coderelay.models.model import Completion, Model, TextPiece
from coderelay.protocol.calls import Call, Denied, Failed, Finished, Stopped, Unknown
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Block, Image, Text, Thinking
from coderelay.session.model_messages import AssistantMessage, ToolMessage, UserMessage
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
from tests.models.chat_completions import asking, complete, pieces_of, shown
from tests.models.growing_session import Session, called
from tests.models.raw_server import in_loop
from tests.models.wire_forms import FORMS, Form

each_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
PIXEL = Image("image/png", "iVBORw0KGgo=")
CACHE_MARK = b',"cache_control":{"type":"ephemeral"}'  # wanders with the end of the history, and is no part of it
LONG = proposes(
    replace(bash("make all"), id="a"), replace(read("b.txt"), id="b"), text="I build it", thinking="let me see"
)


def plain(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """Without the seals, which are every form's own."""
    return tuple(Thinking(each.thinking) if isinstance(each, Thinking) else each for each in blocks)


def made(call_id: str, name: str, arguments: str) -> Call:
    return Call(CallId(call_id), name, arguments)


async def failed(model: Model) -> ModelFailed:
    with pytest.raises(ModelFailed) as failure:
        await complete(model, asking(think="medium"))
    return failure.value


@pytest.mark.quick
@each_form
@in_loop
async def test_text_and_thinking_are_shown_as_they_come_and_whole_at_the_end(form: Form) -> None:
    async with form.scripted(script(says("one two three\n", thinking="let me see"))) as (_, model):
        *pieces, last = await pieces_of(model, asking(think="medium"))
    assert shown(pieces) == ("let me see", "one two three\n")
    assert isinstance(last, Completion)
    assert plain(last.blocks) == (Thinking("let me see"), Text("one two three\n"))
    assert (last.calls, last.stop_reason, last.usage.output_tokens) == ((), "end_turn", 7)
    assert last.usage.input_tokens > 0


@each_form
@in_loop
async def test_text_is_shown_before_the_answer_is_finished(form: Form) -> None:
    async with form.scripted(script(says("one two", token_delay=0.001), says("again"))) as (_, model):
        stream = model.stream(asking())
        assert await anext(stream) == TextPiece("one")
        await stream.aclose()
        assert (await complete(model)).blocks == (Text("again"),)


@pytest.mark.quick
@each_form
@in_loop
async def test_parallel_calls_come_whole_and_as_they_were_written(form: Form) -> None:
    calls = [bash("make all"), read("a/long/path.txt"), call("list"), raw_call("bash", '{"command": "half')]
    async with form.scripted(script(proposes(*calls, text="building", thinking="so"))) as (_, model):
        last = await complete(model)
    assert plain(last.blocks) == (Thinking("so"), Text("building"))
    assert [replace(each, seal=None) for each in last.calls] == [
        made("call_1", "bash", '{"command":"make all"}'),
        made("call_2", "read", '{"path":"a/long/path.txt"}'),
        made("call_3", "list", "{}"),
        made("call_4", "bash", '{"command": "half'),
    ]
    assert last.stop_reason == "end_turn"


@each_form
@in_loop
async def test_many_tokens_are_one_text(form: Form) -> None:
    async with form.scripted(script(tokens(20_000))) as (_, model):
        last = await complete(model)
    assert (last.blocks, last.usage.output_tokens) == ((Text("tok " * 20_000),), 20_000)


@each_form
@in_loop
async def test_a_long_result_is_sent_whole(form: Form) -> None:
    output = "0123456789abcde\n" * (256 * 1024)
    history = (UserMessage("go"), AssistantMessage((), (called("a"),)), ToolMessage(CallId("a"), "bash", output))
    async with form.scripted(script(says("read it"))) as (server, model):
        assert (await complete(model, asking(*history))).blocks == (Text("read it"),)
        assert output.encode().replace(b"\n", b"\\n") in server.received[0].raw


@pytest.mark.parametrize(
    ("reason", "stop_reason"), [("stop", "end_turn"), ("length", "max_tokens"), ("content_filter", "refusal")]
)
@each_form
@in_loop
async def test_every_reason_to_finish_has_a_meaning(form: Form, reason: str, stop_reason: str) -> None:
    async with form.scripted(script(says("so far", finish_reason=reason))) as (_, model):
        last = await complete(model)
    assert (last.blocks, last.stop_reason) == ((Text("so far"),), stop_reason)


@each_form
@in_loop
async def test_a_call_cut_short_was_never_made(form: Form) -> None:
    answer = proposes(bash("make"), raw_call("bash", '{"command": "rm -rf /tmp/x'), finish_reason="length")
    async with form.scripted(script(answer)) as (_, model):
        last = await complete(model)
    assert (last.calls, last.stop_reason) == ((made("call_1", "bash", '{"command":"make"}'),), "max_tokens")


@each_form
@in_loop
async def test_an_empty_answer_is_an_answer(form: Form) -> None:
    async with form.scripted(script(empty(), says("again"))) as (_, model):
        nothing = await complete(model)
        assert (nothing.blocks, nothing.calls, nothing.stop_reason) == ((), (), "end_turn")
        assert (await complete(model)).blocks == (Text("again"),)


@each_form
@in_loop
async def test_an_answer_cut_off_anywhere_is_a_failure_worth_another_try(form: Form) -> None:
    async with form.scripted(script(LONG, *(cut_off(LONG, pieces) for pieces in range(100)))) as (_, model):
        whole = await complete(model)
        heard = [await _outcome(model)]
        while heard[-1] is True:
            heard.append(await _outcome(model))
    *failures, last = heard
    assert failures == [True] * len(failures)
    assert isinstance(last, Completion)
    assert replace(last, usage=whole.usage) == whole  # what is in a cache by now is cheaper
    assert len(failures) > 12


async def _outcome(model: Model) -> Completion | bool:
    """What was heard, or whether it is worth another try."""
    try:
        return await complete(model)
    except ModelFailed as failure:
        return failure.retryable


@each_form
@in_loop
async def test_garbage_anywhere_is_a_failure_worth_another_try(form: Form) -> None:
    async with form.scripted(script(*(garbage(LONG, pieces) for pieces in range(12)))) as (_, model):
        failures = [await failed(model) for _ in range(12)]
    assert [failure.retryable for failure in failures] == [True] * 12
    assert all("broken event" in failure.message for failure in failures)


@pytest.mark.parametrize("pieces", [0, 1, 6])
@each_form
@in_loop
async def test_a_silent_server_is_given_up(form: Form, pieces: int) -> None:
    async with (
        model_server(script(hangs(LONG, pieces), says("again"))) as server,
        form.model(server.base_url, idle_seconds=0.05) as model,
    ):
        failure = await failed(model)
        assert "was silent for 0.05 s" in failure.message
        assert failure.retryable
        assert (await complete(model)).blocks == (Text("again"),)
        assert server.violations == []


@each_form
@in_loop
async def test_leaving_in_the_middle_closes_the_connection(form: Form) -> None:
    async with form.scripted(script(hangs(LONG, 6), hangs(LONG, 6))) as (server, model):
        stream = model.stream(asking(think="medium"))
        await anext(stream)
        await stream.aclose()
        await _all_others_ended()

        hearing = asyncio.create_task(complete(model))
        await server.wait_for_requests(2)
        hearing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hearing
        await _all_others_ended()


async def _all_others_ended() -> None:
    """A task of the server ends when its client has gone."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others)


@pytest.mark.parametrize(
    ("status", "retryable"),
    [(400, False), (401, False), (404, False), (429, True), (500, True), (529, True)],
)
@each_form
@in_loop
async def test_a_refusal_says_whether_and_when_to_try_again(form: Form, status: int, retryable: bool) -> None:
    refused = http_error(status, "because", headers={"retry-after": "7"})
    async with form.scripted(script(refused, says("again"))) as (_, model):
        failure = await failed(model)
        assert failure.message == f"API error {status}: because"
        assert (failure.status, failure.retryable, failure.retry_after) == (status, retryable, 7.0)
        assert (await complete(model)).blocks == (Text("again"),)


HISTORIES = {
    "prompts joined": Session().prompted("one").prompted("two"),
    "an empty prompt": Session().prompted("").said(Text("what?")).prompted("hi"),
    "odd characters": Session().prompted('héllo 你好 🎉 \u2028 \x00 \x7f \\ " </script>'),
    "garbled arguments": Session()
    .prompted("go")
    .said(a=(called("a", '{"command": "ma'), Failed("bad")), b=(called("b", "[1]"), Failed("bad")))
    .said(c=(called("c", ""), Failed("bad")), d=(called("d", "[" * 5000), Failed("bad"))),
    "a tool nobody has": Session()
    .prompted("go")
    .said(a=(called("a", "{}", name="functions.run 命令"), Failed("no"))),
    "long and odd ids": Session()
    .prompted("go")
    .said(a=(called("functions.bash:0"), Finished("ok")), b=(called("tool_" + "0123456789" * 9), Finished("ok"))),
    "outcomes of all kinds": Session()
    .prompted("go")
    .said(Text("on it"), a=(called("a"), Unknown()), b=(called("b"), Stopped(started=True)))
    .prompted("and?")
    .said(c=(called("c"), Stopped(started=False)), d=(called("d"), Denied("no")), e=(called("e"), Finished(""))),
    "a partial message": Session().prompted("go").said(Thinking("hm"), Text("I was about")).prompted("go on"),
    "an answer of nothing": Session().prompted("go").said().said(Thinking("hm")).prompted("hello?"),
    "said more": Session().prompted("go").said(Text("one")).said(Text("two"), a=(called("a"), Finished("ok"))),
    "images": Session()
    .prompted("look", PIXEL, PIXEL)
    .said(a=(called("a"), Finished("seen", images=(PIXEL,))), b=(called("b"), Finished("", images=(PIXEL, PIXEL))))
    .said(c=(called("c"), Finished("x", images=(PIXEL,))))
    .prompted("and this?", PIXEL),
}


@pytest.mark.parametrize("session", HISTORIES.values(), ids=HISTORIES.keys())
@each_form
@in_loop
async def test_a_strict_provider_accepts_every_history(form: Form, session: Session) -> None:
    async with form.scripted(script(says("ok"))) as (_, model):
        assert (await complete(model, asking(*session.messages))).blocks == (Text("ok"),)


async def converse(model: Model, session: Session) -> None:
    """A turn with thoughts before text and calls, before calls alone, and before the end."""
    first = await complete(model, asking(*session.messages, think="medium"))
    session.heard(first, Finished("built", images=(PIXEL,)), Denied("no"))
    second = await complete(model, asking(*session.messages, think="medium"))
    session.heard(second, Failed("no such file"))
    session.heard(await complete(model, asking(*session.messages, think="medium")))


TURN = (
    proposes(bash("make"), read("a"), text="I build", thinking="let me see"),
    proposes(read("b"), thinking="not that one"),
    says("done", thinking="all is well"),
)
NAMED = [
    *((form, name) for form in FORMS for name in ("m", "other")),
    (FORMS[0], "deepseek-v4"),
    (FORMS[0], "kimi-k2.6"),
]


@pytest.mark.parametrize(
    ("first", "second"), list(product(NAMED, NAMED)), ids=lambda named: f"{named[0].name}-{named[1]}"
)
@in_loop
async def test_what_one_model_thought_and_did_is_accepted_by_every_other(
    first: tuple[Form, str], second: tuple[Form, str]
) -> None:
    session = Session().prompted("go")
    async with model_server(script(*TURN, *TURN, *TURN)) as server:
        for form, name in (first, second, first):
            async with form.model(server.base_url, name) as model:
                await converse(model, session)
            session.prompted("and now?")
        assert server.violations == []
        assert len(server.received) == 9


@pytest.mark.quick
@each_form
@in_loop
async def test_the_bytes_of_a_request_are_the_beginning_of_the_next_one(form: Form) -> None:
    session = Session().prompted("build it", PIXEL)
    async with form.scripted(script(*TURN, *TURN)) as (server, model):
        bodies: list[bytes] = []
        for outcomes in ((Finished("built", images=(PIXEL,)), Unknown()), (Denied("no"),), ()) * 2:
            completion = await complete(model, asking(*session.messages, think="medium"))
            bodies.append(server.received[-1].raw.replace(CACHE_MARK, b""))
            session.heard(completion, *outcomes)
            if not outcomes:
                session.prompted("thanks")
    for earlier, later in pairwise(bodies):
        assert earlier.endswith(b"]}")
        assert later.startswith(earlier[:-2])
        assert len(later) > len(earlier)
