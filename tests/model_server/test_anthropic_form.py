"""The scripted model server in the form of Anthropic Messages, seen by clients on real sockets."""

import json
from contextlib import closing
from http.client import HTTPConnection, IncompleteRead
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.model_server import (
    Answer,
    Body,
    Call,
    ModelServerThread,
    Said,
    Violation,
    bash,
    by_history,
    call,
    cut_off,
    empty,
    garbage,
    http_error,
    model_server_thread,
    proposes,
    raw_call,
    read,
    says,
    script,
    tokens,
)
from tests.model_server.anthropic_signature import signature

HEADERS = {"x-api-key": "k", "anthropic-version": "2023-06-01", "content-type": "application/json"}
HI: Body = {"role": "user", "content": "hi"}
EPHEMERAL = {"type": "ephemeral"}


def user(*blocks: Body) -> Body:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Body) -> Body:
    return {"role": "assistant", "content": list(blocks)}


def text(words: str = "so", **fields: Any) -> Body:
    return {"type": "text", "text": words, **fields}


def use(call_id: str = "a", **fields: Any) -> Body:
    begun: Body = {"type": "tool_use", "id": call_id, "name": "bash", "input": {}}
    return begun | fields


def result(call_id: str = "a", **fields: Any) -> Body:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "ok"} | fields


def image(**source: str) -> Body:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="} | source}


def thinking(words: str = "hm", signed: str | None = None) -> Body:
    return {"type": "thinking", "thinking": words, "signature": signature("m", words) if signed is None else signed}


def tool(name: str = "bash", **fields: Any) -> Body:
    return {"name": name, "description": "", "input_schema": {"type": "object"}} | fields


def request(*messages: Body, **fields: Any) -> Body:
    base = {"model": "m", "max_tokens": 4096, "messages": list(messages) or [HI], "stream": True, "tools": [tool()]}
    return base | fields


def ask(
    server: ModelServerThread, body: Body | None = None, headers: dict[str, str] = HEADERS, method: str = "POST"
) -> tuple[int, bytes]:
    with closing(HTTPConnection("127.0.0.1", urlsplit(server.base_url).port, timeout=30)) as connection:
        connection.request(method, "/v1/messages", json.dumps(request() if body is None else body), headers)
        response = connection.getresponse()
        return response.status, response.read()


def told(answer: Answer, **fields: Any) -> list[Body]:
    """The events of an answer, each under its own name."""
    with model_server_thread(script(answer)) as server:
        status, body = ask(server, request(**fields))
        assert (status, server.violations) == (200, [])
    return events(body)


def events(body: bytes) -> list[Body]:
    found: list[Body] = []
    for event in body.decode().removesuffix("\n\n").split("\n\n"):
        name, data = event.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    return found


@pytest.mark.quick
def test_words_and_thinking_are_streamed_as_the_real_one_does() -> None:
    start, *rest = told(says("one two\n", thinking="let me"))
    usage = {"input_tokens": 19, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}
    assert start["message"].pop("id").startswith("msg_")
    assert start["message"] == {
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }

    def delta(index: int, **fields: str) -> Body:
        return {"type": "content_block_delta", "index": index, "delta": fields}

    empty_thought = {"type": "thinking", "thinking": "", "signature": ""}
    assert rest == [
        {"type": "content_block_start", "index": 0, "content_block": empty_thought},
        {"type": "ping"},
        delta(0, type="thinking_delta", thinking="let"),
        delta(0, type="thinking_delta", thinking=" me"),
        delta(0, type="signature_delta", signature=signature("m", "let me")),
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        delta(1, type="text_delta", text="one"),
        delta(1, type="text_delta", text=" two"),
        delta(1, type="text_delta", text="\n"),
        {"type": "content_block_stop", "index": 1},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 5},
        },
        {"type": "message_stop"},
    ]


def test_calls_are_streamed_one_after_the_other() -> None:
    calls = (read("a.py"), raw_call("bash", '{"command": '), call("todo"))
    streamed: dict[int, str] = {}
    begun: list[Body] = []
    for event in told(proposes(*calls)):
        if event["type"] == "content_block_start":
            begun.append(event["content_block"])
        elif event["type"] == "content_block_delta":
            streamed[event["index"]] = streamed.get(event["index"], "") + event["delta"]["partial_json"]
    assert begun == [
        {"type": "tool_use", "id": "call_1", "name": "read", "input": {}},
        {"type": "tool_use", "id": "call_2", "name": "bash", "input": {}},
        {"type": "tool_use", "id": "call_3", "name": "todo", "input": {}},
    ]
    assert streamed == {0: '{"path":"a.py"}', 1: '{"command": ', 2: "{}"}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (says("hi"), "end_turn"),
        (empty(), "end_turn"),
        (tokens(3), "end_turn"),
        (proposes(bash("make")), "tool_use"),
        (says("hi", finish_reason="length"), "max_tokens"),
        (says("hi", finish_reason="content_filter"), "refusal"),
        (says("hi", finish_reason="pause_turn"), "pause_turn"),
    ],
)
def test_stop_reason(answer: Answer, reason: str) -> None:
    assert told(answer)[-2]["delta"]["stop_reason"] == reason


def test_many_tokens_are_one_event_each() -> None:
    told_tokens = [event for event in told(tokens(2000)) if event["type"] == "content_block_delta"]
    assert len(told_tokens) == 2000


def test_without_streaming_the_answer_is_one_object() -> None:
    answer = proposes(bash("make"), raw_call("bash", "{"), text="look", thinking="hm")
    with model_server_thread(script(answer, tokens(2))) as server:
        whole = json.loads(ask(server, request(stream=False))[1])
        many = json.loads(ask(server, request(stream=False))[1])
    assert whole["content"] == [
        thinking(),
        text("look"),
        use("call_1", input={"command": "make"}),
        use("call_2"),
    ]
    assert (whole["stop_reason"], many["content"]) == ("tool_use", [text("tok tok ")])


ENABLED = {"type": "enabled", "budget_tokens": 1024}


@pytest.mark.parametrize(
    "body",
    [
        request(),
        request(user(text(), image())),
        request(system="be brief"),
        request(system=[text("be brief", cache_control=EPHEMERAL)]),
        request(HI, assistant(use("a"), use("b")), user(result("b"), result("a"), text("and?"))),
        request(HI, assistant(use()), user(result(content=[text(), image()]))),
        request(HI, assistant(use()), user(result(content="", is_error=True))),
        request(HI, assistant(thinking(), use()), user(result()), thinking=ENABLED),
        request(HI, assistant({"type": "redacted_thinking", "data": "x"}, use()), user(result()), thinking=ENABLED),
        request(
            HI, assistant(thinking(), use()), user(result()), assistant(use("b")), user(result("b")), thinking=ENABLED
        ),
        request(HI, assistant(use()), user(result(), text("and?")), thinking=ENABLED),
        request(HI, assistant(use()), user(result()), thinking={"type": "adaptive"}),
        request(HI, assistant(thinking(), text()), HI, thinking={"type": "disabled"}),
        request(thinking={"type": "adaptive", "display": "summarized"}, output_config={"effort": "low"}),
        request(tools=[tool(cache_control=EPHEMERAL)], tool_choice={"type": "tool", "name": "bash"}),
    ],
)
def test_a_correct_request_is_accepted(body: Body) -> None:
    with model_server_thread(script(says("ok"))) as server:
        assert ask(server, body)[0] == 200
        assert server.violations == []


MARKED = text(cache_control=EPHEMERAL)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({name: value for name, value in request().items() if name != "max_tokens"}, "max_tokens"),
        (request(max_tokens=0), "max_tokens"),
        (request(model=""), "model"),
        (request(messages=[]), "messages"),
        (request(n=1), "n"),
        (request(stream_options={}), "stream_options"),
        (request({"role": "system", "content": "x"}), "messages.0.role"),
        (request(assistant(text())), "messages.0.role"),
        (request(HI, HI), "messages.1.role"),
        (request(HI, assistant(text())), "messages.1.role"),
        (request({"role": "user", "content": ""}), "messages.0.content"),
        (request(user()), "messages.0.content"),
        (request(user(text(""))), "messages.0.content.0"),
        (request(user(text(" \n"))), "messages.0.content.0"),
        (request({"role": "user", "content": " "}), "messages.0.content.0"),
        (request(HI, assistant(text(" "), use()), user(result())), "messages.1.content.0"),
        (request(system=[text("")]), "system.0"),
        (request(user(text(name="x"))), "messages.0.content.0.name"),
        (request(user({"type": "input_text", "text": "x"})), "messages.0.content.0.type"),
        (request(user(thinking())), "messages.0.content.0.type"),
        (request(HI, assistant(image()), HI), "messages.1.content.0.type"),
        (request(user(image(media_type="image/bmp"))), "messages.0.content.0.source.media_type"),
        (request(user(image(data="not base64"))), "messages.0.content.0.source.data"),
        (request(HI, assistant(use()), HI), "messages.2"),
        (request(HI, assistant(use("a"), use("b")), user(result("a"))), "messages.2"),
        (request(HI, assistant(use("a")), user(result("a"), result("b"))), "messages.2"),
        (request(HI, assistant(use("a")), user(result("a"), result("a"))), "messages.2"),
        (request(HI, assistant(use("a")), user(text(), result("a"))), "messages.2"),
        (request(user(result("a"))), "messages.0"),
        (request(HI, assistant(use("a"), use("a")), user(result("a"))), "messages.1"),
        (request(HI, assistant(use()), user(result()), assistant(use()), user(result())), "messages.3"),
        (request(HI, assistant(use("a:1")), user(result("a:1"))), "messages.1.content.0.id"),
        (request(HI, assistant(use(name="a b")), user(result())), "messages.1.content.0.name"),
        (request(HI, assistant(use(input="{}")), user(result())), "messages.1.content.0.input"),
        (request(HI, assistant(use()), user(result(content=[text("")]))), "messages.2.content.0.content.0"),
        (request(HI, assistant(use()), user(result(content=[image()], is_error=True))), "messages.2.content.0"),
        (request(HI, assistant(thinking(signed="forged"), text()), HI), "messages.1.content.0"),
        (request(HI, assistant(thinking(signed=""), text()), HI), "messages.1.content.0"),
        (request(HI, assistant(thinking("hm!", signature("m", "hm")), text()), HI), "messages.1.content.0"),
        (request(HI, assistant(thinking("hm", signature("other", "hm")), text()), HI), "messages.1.content.0"),
        (
            request(HI, assistant({**thinking(), "cache_control": EPHEMERAL}), HI),
            "messages.1.content.0.cache_control",
        ),
        (request(HI, assistant(thinking()), HI), "messages.1"),
        (request(HI, assistant(text(), thinking()), HI), "messages.1"),
        (request(HI, assistant(use()), user(result()), thinking=ENABLED), "messages"),
        (request(HI, assistant(text(), thinking(), use()), user(result()), thinking=ENABLED), "messages"),
        (request(HI, assistant(thinking(), use()), user(result()), thinking={"type": "disabled"}), "messages"),
        (request(thinking={"type": "enabled", "budget_tokens": 1023}), "thinking.budget_tokens"),
        (request(thinking={"type": "enabled", "budget_tokens": 4096}), "max_tokens"),
        (request(thinking={"type": "enabled"}), "thinking.budget_tokens"),
        (request(thinking={"type": "adaptive", "budget_tokens": 2000}), "thinking.budget_tokens"),
        (request(thinking=ENABLED, temperature=0.5), "temperature"),
        (request(thinking=ENABLED, top_k=5), "top_k"),
        (request(thinking=ENABLED, tool_choice={"type": "any"}), "tool_choice"),
        (request(output_config={"effort": "none"}), "output_config.effort"),
        (request(tools=[tool(), tool()]), "tools.1.name"),
        (request(tools=[tool("a b")]), "tools.0.name"),
        (request(tools=[tool(parameters={})]), "tools.0.parameters"),
        (request(tools=[tool(input_schema={})]), "tools.0.input_schema"),
        (request(tools=[tool(input_schema={"type": "object", "required": ["x"]})]), "tools.0.input_schema"),
        (request(tools=[tool(input_schema={"type": "object", "anyOf": []})]), "tools.0.input_schema"),
        (request(HI, assistant(use()), user(result()), tools=[]), "tools"),
        (request(tools=[], tool_choice={"type": "auto"}), "tool_choice"),
        (request(tool_choice={"type": "tool", "name": "other"}), "tool_choice"),
        (request(user(MARKED, MARKED), system=[MARKED], tools=[tool(cache_control=EPHEMERAL)] * 2), "tools.1.name"),
        (request(user(MARKED, MARKED, MARKED), system=[MARKED], tools=[tool(cache_control=EPHEMERAL)]), None),
        (request(HI, assistant(use()), user(result(content=[MARKED] * 5))), None),
    ],
)
def test_a_wrong_request_is_refused_and_remembered(body: Body, param: str | None) -> None:
    with model_server_thread(script(says("ok"))) as server:
        status, answer = ask(server, body)
        (violation,) = server.violations
    told_error = json.loads(answer)
    message = f"{param}: {violation.message}" if param else violation.message
    assert (status, violation.param) == (400, param)
    assert told_error == {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


@pytest.mark.parametrize(
    ("headers", "status", "kind"),
    [
        ({"anthropic-version": "2023-06-01"}, 401, "authentication_error"),
        ({"anthropic-version": "2023-06-01", "authorization": "Basic k"}, 401, "authentication_error"),
        ({"x-api-key": "k"}, 400, "invalid_request_error"),
        ({"x-api-key": "k", "anthropic-version": "latest"}, 400, "invalid_request_error"),
        ({"authorization": "Bearer k", "anthropic-version": "2023-06-01"}, 200, None),
    ],
)
def test_a_key_and_a_version_are_required(headers: dict[str, str], status: int, kind: str | None) -> None:
    with model_server_thread(script(says("ok"))) as server:
        answer = ask(server, headers=headers)
    assert answer[0] == status
    if kind is not None:
        assert json.loads(answer[1])["error"]["type"] == kind


@pytest.mark.parametrize(
    ("status", "kind"), [(429, "rate_limit_error"), (529, "overloaded_error"), (500, "api_error"), (418, "api_error")]
)
def test_a_scripted_error_has_the_forms_own_shape(status: int, kind: str) -> None:
    with model_server_thread(script(http_error(status, "no", code="some_code"))) as server:
        answer = ask(server)
        assert server.violations == []
    assert answer[0] == status
    assert json.loads(answer[1]) == {"type": "error", "error": {"type": kind, "message": "no"}}


def test_answers_can_break_off_and_be_garbled() -> None:
    with model_server_thread(script(cut_off(says("one two"), 4), garbage(says("one two"), 4))) as server:
        with pytest.raises(IncompleteRead) as cut:
            ask(server)
        garbled = ask(server)[1]
    assert [event["type"] for event in events(cut.value.partial)][-1] == "content_block_delta"
    assert garbled.count(b"\n\n") == 9


def test_the_history_a_function_sees() -> None:
    seen: list[tuple[Said, ...]] = []

    def remember(history: Any) -> Answer:
        seen.append(tuple(history))
        return says("ok")

    body = request(
        user(text("go"), image()),
        assistant(thinking(), text("on it"), use("a", input={"command": "make"}), use("b")),
        user(result("a", content=[text("x"), text("y")]), result("b"), text("and?")),
        assistant(text("so")),
        HI,
        system=[text("be"), text("brief")],
    )
    with model_server_thread(by_history(remember)) as server:
        ask(server, body)
        assert server.violations == []
    assert seen == [
        (
            Said("system", "be\nbrief"),
            Said("user", "go"),
            Said("assistant", "on it", (Call("bash", {"command": "make"}, "a"), Call("bash", {}, "b"))),
            Said("tool", "x\ny", call_id="a"),
            Said("tool", "ok", call_id="b"),
            Said("user", "and?"),
            Said("assistant", "so"),
            Said("user", "hi"),
        )
    ]


def test_a_marked_beginning_is_read_by_the_next_request() -> None:
    def usage(server: ModelServerThread, body: Body) -> tuple[int, int, int]:
        counted = events(ask(server, body)[1])[0]["message"]["usage"]
        return counted["cache_read_input_tokens"], counted["cache_creation_input_tokens"], counted["input_tokens"]

    long = "x" * 4000
    begun = request(user(text(long, cache_control=EPHEMERAL)), system=[text("s", cache_control=EPHEMERAL)])
    grown = request(
        user(text(long)), assistant(text("so")), user(text("and?", cache_control=EPHEMERAL)), system=[text("s")]
    )
    other = request(user(text("y" * 4000, cache_control=EPHEMERAL)), system=[text("s")])
    plain = request(user(text("z")), system=[text("s")])
    with model_server_thread(script(*[says("ok")] * 5)) as server:
        read_0, written_0, rest_0 = usage(server, begun)
        read_1, written_1, rest_1 = usage(server, grown)
        read_2, written_2, rest_2 = usage(server, other)
        read_3, written_3, rest_3 = usage(server, plain)
        again = usage(server, begun)
        assert server.violations == []
    assert (read_0, rest_0, written_0 > 1000) == (0, 0, True)
    assert (read_1, rest_1, 0 < written_1 < 100) == (written_0, 0, True)
    assert (0 < read_2 < 100, written_2 > 1000, rest_2) == (True, True, 0)  # the instructions only
    assert (read_3, written_3, rest_3 > 0) == (read_2, 0, True)
    assert again == (written_0, 0, 0)


def test_a_wrong_method_is_refused() -> None:
    with model_server_thread(script()) as server:
        assert ask(server, method="PUT")[0] == 405
        assert server.violations == [Violation("/v1/messages takes POST, not PUT", status=405)]
