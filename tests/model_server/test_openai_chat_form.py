"""The scripted model server, seen by clients on real sockets."""

import asyncio
import json
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, closing
from functools import wraps
from http.client import HTTPConnection, IncompleteRead
from socket import create_connection
from typing import Any, ParamSpec
from urllib.parse import urlsplit

import pytest

from tests.model_server import (
    Answer,
    Body,
    Call,
    History,
    ModelServer,
    Said,
    Script,
    Violation,
    bash,
    by_history,
    call,
    cut_off,
    empty,
    garbage,
    hangs,
    http_error,
    model_server,
    model_server_thread,
    proposes,
    raw_call,
    read,
    replies,
    says,
    script,
    tokens,
    write,
)
from tests.model_server.openai_chat_signature import signature

P = ParamSpec("P")

KEY = {"Authorization": "Bearer k", "Content-Type": "application/json"}
USER = {"role": "user", "content": "hi"}
SYSTEM = {"role": "system", "content": "be brief"}
ASSISTANT = {"role": "assistant", "content": "hello"}


def proposed(*ids: str, content: str | None = None, **function: str) -> Body:
    calls = [{"id": i, "type": "function", "function": {"name": "bash", "arguments": "{}"} | function} for i in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def signed(call_id: str, signature: str) -> Body:
    message = proposed(call_id)
    message["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": signature}}
    return message


def result(call_id: str, **fields: Any) -> Body:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok"} | fields


def request(*messages: Body, **fields: Any) -> Body:
    return {"model": "m", "messages": list(messages) or [USER], "stream": True} | fields


def tool(name: str = "bash", **function: Any) -> Body:
    return {"type": "function", "function": {"name": name} | function}


class Told:
    """What one request was answered."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[str]:
        return [event.removeprefix("data: ") for event in self.body.decode().split("\n\n") if event]

    @property
    def deltas(self) -> list[Any]:
        chunks = (json.loads(event) for event in self.events if event != "[DONE]")
        return [choice["delta"] for chunk in chunks for choice in chunk["choices"]]

    @property
    def text(self) -> str:
        return "".join(delta.get("content", "") for delta in self.deltas)

    @property
    def calls(self) -> list[tuple[str, str, str]]:
        """Put together as a client does: by index, whatever the order of the pieces."""
        calls: dict[int, tuple[str, str, str]] = {}
        for piece in (piece for delta in self.deltas for piece in delta.get("tool_calls", [])):
            known_id, known_name, arguments = calls.get(piece["index"], ("", "", ""))
            name = piece["function"].get("name", known_name)
            calls[piece["index"]] = (piece.get("id", known_id), name, arguments + piece["function"]["arguments"])
        return [calls[index] for index in sorted(calls)]


def connect(url: str) -> HTTPConnection:
    return HTTPConnection("127.0.0.1", urlsplit(url).port, timeout=30)


def exchange(
    connection: HTTPConnection,
    body: bytes | str | Body | None,
    headers: dict[str, str] = KEY,
    path: str = "/v1/chat/completions",
    method: str = "POST",
) -> Told:
    raw = json.dumps(body) if isinstance(body, dict) else body
    connection.request(method, path, raw, headers)
    response = connection.getresponse()
    return Told(response.status, dict(response.getheaders()), response.read())


def ask(url: str, body: bytes | str | Body | None = None, **how: Any) -> Told:
    with closing(connect(url)) as connection:
        return exchange(connection, request() if body is None else body, **how)


def told(answer: Answer, **fields: Any) -> Told:
    with model_server_thread(script(answer)) as server:
        reply = ask(server.base_url, request(**fields))
        assert server.violations == []
    return reply


@pytest.mark.quick
def test_a_script_answers_one_request_after_the_other():
    with model_server_thread(script(proposes(bash("make"), text="building"), says("built it"))) as server:
        first = ask(server.base_url)
        second = ask(server.base_url, request(USER, proposed("call_1", content="building"), result("call_1")))
        assert first.text == "building"
        assert first.calls == [("call_1", "bash", '{"command":"make"}')]
        assert second.text == "built it"
        assert [len(body["messages"]) for body in server.requests] == [1, 3]
        assert server.violations == []


def test_words_thinking_finish_and_usage_are_streamed():
    reply = told(says("one two\n", thinking="let me see"), stream_options={"include_usage": True})
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert reply.deltas == [
        {"role": "assistant", "content": ""},
        {"reasoning_content": "let"},
        {"reasoning_content": " me"},
        {"reasoning_content": " see"},
        {"content": "one"},
        {"content": " two"},
        {"content": "\n"},
        {},
    ]
    *_, last_choice, usage, done = reply.events
    assert done == "[DONE]"
    assert json.loads(last_choice)["choices"][0]["finish_reason"] == "stop"
    assert json.loads(usage)["choices"] == []
    assert json.loads(usage)["usage"]["completion_tokens"] == 6


def test_usage_comes_only_when_asked_for():
    assert "usage" not in told(says("hi")).body.decode()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (says("hi"), "stop"),
        (proposes(bash("make")), "tool_calls"),
        (says("hi", finish_reason="length"), "length"),
        (proposes(bash("make"), finish_reason="content_filter"), "content_filter"),
        (empty(), "stop"),
    ],
)
def test_finish_reason(answer: Answer, reason: str):
    assert json.loads(told(answer).events[-2])["choices"][0]["finish_reason"] == reason


def test_paced_text_arrives_complete():
    assert told(says("a b c", token_delay=0.001)).text == "a b c"


def test_arguments_of_parallel_calls_take_turns():
    reply = told(proposes(read("a.py"), write("b.py", "print()"), raw_call("bash", '{"command": '), call("todo")))
    assert reply.calls == [
        ("call_1", "read", '{"path":"a.py"}'),
        ("call_2", "write", '{"path":"b.py","content":"print()"}'),
        ("call_3", "bash", '{"command": '),
        ("call_4", "todo", "{}"),
    ]
    pieces = [delta["tool_calls"][0] for delta in reply.deltas if "tool_calls" in delta]
    assert [piece["index"] for piece in pieces[:10]] == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]
    assert {piece["function"]["arguments"] for piece in pieces[:4]} == {""}
    assert all("id" not in piece and "name" not in piece["function"] for piece in pieces[4:])


def test_a_call_may_have_an_argument_called_name():
    assert told(proposes(call("skill", name="pdf"))).calls == [("call_1", "skill", '{"name":"pdf"}')]


def test_without_streaming_the_answer_is_one_object():
    reply = told(proposes(bash("make"), text="building", thinking="hm"), stream=False)
    assert reply.headers["content-type"] == "application/json"
    assert reply.json["choices"][0] == {
        "index": 0,
        "message": proposed("call_1", content="building", arguments='{"command":"make"}')
        | {"refusal": None, "reasoning_content": "hm"},
        "logprobs": None,
        "finish_reason": "tool_calls",
    }


def test_an_empty_answer_has_neither_text_nor_calls():
    assert told(empty()).deltas == [{"role": "assistant", "content": ""}, {}]


def test_many_tokens_are_one_event_each():
    reply = told(tokens(20_000))
    assert len(reply.deltas) == 20_002
    assert reply.text == "tok " * 20_000


ACCEPTED: dict[str, Body] = {
    "user only": request(),
    "instructions first": request(SYSTEM, USER),
    "developer instructions": request(SYSTEM | {"role": "developer"}, USER),
    "alternating": request(USER, ASSISTANT, USER),
    "results in order": request(USER, proposed("a", "b"), result("a"), result("b")),
    "user after results": request(USER, proposed("a"), result("a"), USER),
    "assistant after results": request(USER, proposed("a"), result("a"), ASSISTANT, USER),
    "hallucinated tool": request(USER, proposed("a", name="teleport"), result("a"), tools=[tool()]),
    "calls without content": request(USER, {k: v for k, v in proposed("a").items() if k != "content"}, result("a")),
    "reasoning": request(USER, ASSISTANT | {"reasoning": "r", "refusal": None}, USER),
    "a signature": request(USER, signed("a", signature("m", "a")), result("a")),
    "a signature of an earlier turn": request(USER, proposed("a"), result("a"), USER, model="gemini-3"),
    "reasoning that is wanted": request(
        USER, proposed("a") | {"reasoning_content": "r"}, result("a"), model="deepseek-v4"
    ),
    "reasoning with calls": request(USER, proposed("a") | {"reasoning": "r", "reasoning_content": "r"}, result("a")),
    "names": request(USER | {"name": "ann"}, ASSISTANT | {"name": "bot"}, USER),
    "parts": request(
        USER
        | {
            "content": [
                {"type": "text", "text": "see"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
            ]
        }
    ),
    "tools": request(
        tools=[
            tool("a-B_1"),
            tool(
                "b",
                description="d",
                strict=False,
                parameters={"type": "object", "properties": {"x": {}}, "required": ["x"]},
            ),
        ],
        tool_choice={"type": "function", "function": {"name": "b"}},
        parallel_tool_calls=True,
    ),
    "options": request(temperature=0, top_p=1.0, max_completion_tokens=9, stop=["x"], seed=1, reasoning_effort="low"),
}

REFUSED: dict[str, tuple[Body, str]] = {
    "unknown field": (request(tempreature=1), "tempreature"),
    "no model": ({"messages": [USER]}, "model"),
    "no messages": ({"model": "m"}, "messages"),
    "empty messages": (request(messages=[]), "messages"),
    "model of wrong type": (request(model=1), "model"),
    "stream of wrong type": (request(stream="yes"), "stream"),
    "temperature out of range": (request(temperature=3), "temperature"),
    "more than one choice": (request(n=2), "n"),
    "stream_options without stream": (request(stream=False, stream_options={}), "stream_options"),
    "unknown stream option": (request(stream_options={"usage": True}), "stream_options.usage"),
    "tool_choice without tools": (request(tool_choice="auto"), "tool_choice"),
    "tool_choice of no tool": (request(tools=[tool()], tool_choice=tool("x")), "tool_choice"),
    "parallel_tool_calls without tools": (request(parallel_tool_calls=True), "parallel_tool_calls"),
    "unknown message field": (request(USER | {"id": "1"}), "messages[0].id"),
    "tool_calls of a user": (request(USER | {"tool_calls": []}), "messages[0].tool_calls"),
    "tool_call_id of an assistant": (
        request(USER, ASSISTANT | {"tool_call_id": "a"}, USER),
        "messages[1].tool_call_id",
    ),
    "unknown role": (request({"role": "function", "content": "x"}), "messages[0].role"),
    "no role": (request({"content": "x"}), "messages[0].role"),
    "no content": (request({"role": "user"}), "messages[0].content"),
    "null content of a user": (request(USER | {"content": None}), "messages[0].content"),
    "null content of a tool": (request(USER, proposed("a"), result("a", content=None)), "messages[2].content"),
    "no parts": (request(USER | {"content": []}), "messages[0].content"),
    "unknown part": (request(USER | {"content": [{"type": "audio"}]}), "messages[0].content[0].type"),
    "unknown part field": (
        request(USER | {"content": [{"type": "text", "text": "x", "cache": 1}]}),
        "messages[0].content[0].cache",
    ),
    "instructions later": (request(USER, ASSISTANT, SYSTEM, USER), "messages[2].role"),
    "instructions twice": (request(SYSTEM, SYSTEM, USER), "messages[1].role"),
    "instructions only": (request(SYSTEM), "messages[0].role"),
    "assistant first": (request(ASSISTANT, USER), "messages[0].role"),
    "assistant after instructions": (request(SYSTEM, ASSISTANT, USER), "messages[1].role"),
    "two users": (request(USER, USER), "messages[1].role"),
    "reasoning_content without calls": (
        request(USER, ASSISTANT | {"reasoning_content": "r"}, USER),
        "messages[1].reasoning_content",
    ),
    "reasoning_content that is wanted": (request(USER, proposed("a"), result("a"), model="kimi-k2.6"), "messages[1]"),
    "a long call id": (request(USER, proposed("a" * 41), result("a" * 41)), "messages[1].tool_calls[0].id"),
    "an image that is none": (
        request(USER | {"content": [{"type": "image_url", "image_url": {"url": "a.png"}}]}),
        "messages[0].content[0].image_url.url",
    ),
    "a signature that is wanted": (
        request(USER, proposed("a"), result("a"), model="gemini-3"),
        "messages[1].tool_calls[0].extra_content",
    ),
    "a signature of nobody": (
        request(USER, signed("a", "x"), result("a")),
        "messages[1].tool_calls[0].extra_content",
    ),
    "two assistants": (request(USER, ASSISTANT, ASSISTANT, USER), "messages[2].role"),
    "assistant last": (request(USER, ASSISTANT), "messages[1].role"),
    "calls last": (request(USER, proposed("a")), "messages[1].role"),
    "no result": (request(USER, proposed("a"), USER), "messages[2].role"),
    "one result missing": (request(USER, proposed("a", "b"), result("a"), USER), "messages[3].role"),
    "one result missing at the end": (request(USER, proposed("a", "b"), result("a")), "messages[2].role"),
    "results out of order": (request(USER, proposed("a", "b"), result("b"), result("a")), "messages[2].tool_call_id"),
    "duplicate result": (request(USER, proposed("a", "b"), result("a"), result("a")), "messages[3].tool_call_id"),
    "extra result": (request(USER, proposed("a"), result("a"), result("b")), "messages[3].tool_call_id"),
    "orphaned result": (request(USER, result("a")), "messages[1].tool_call_id"),
    "late result": (request(USER, proposed("a"), result("a"), USER, result("a")), "messages[4].tool_call_id"),
    "result without id": (request(USER, proposed("a"), {"role": "tool", "content": ""}), "messages[2].tool_call_id"),
    "empty assistant": (request(USER, ASSISTANT | {"content": None}, USER), "messages[1].content"),
    "blank assistant": (request(USER, ASSISTANT | {"content": ""}, USER), "messages[1].content"),
    "no calls in tool_calls": (request(USER, ASSISTANT | {"tool_calls": []}, USER), "messages[1].tool_calls"),
    "empty call id": (request(USER, proposed(""), result("")), "messages[1].tool_calls[0].id"),
    "call id twice in a message": (
        request(USER, proposed("a", "a"), result("a"), result("a")),
        "messages[1].tool_calls[1].id",
    ),
    "call id twice in a request": (
        request(USER, proposed("a"), result("a"), proposed("a"), result("a")),
        "messages[3].tool_calls[0].id",
    ),
    "unknown call field": (
        request(USER, {"role": "assistant", "tool_calls": [{"index": 0}]}, USER),
        "messages[1].tool_calls[0].index",
    ),
    "unknown function field": (
        request(USER, proposed("a", result="x"), result("a")),
        "messages[1].tool_calls[0].function.result",
    ),
    "arguments not JSON": (
        request(USER, proposed("a", arguments="{"), result("a")),
        "messages[1].tool_calls[0].function.arguments",
    ),
    "arguments not an object": (
        request(USER, proposed("a", arguments="[]"), result("a")),
        "messages[1].tool_calls[0].function.arguments",
    ),
    "impossible call name": (
        request(USER, proposed("a", name="do it"), result("a")),
        "messages[1].tool_calls[0].function.name",
    ),
    "no tools in tools": (request(tools=[]), "tools"),
    "unknown tool field": (request(tools=[tool() | {"name": "x"}]), "tools[0].name"),
    "unknown tool function field": (request(tools=[tool(schema={})]), "tools[0].function.schema"),
    "wrong tool type": (request(tools=[tool() | {"type": "web"}]), "tools[0].type"),
    "bad tool name": (request(tools=[tool("a b")]), "tools[0].function.name"),
    "tool name with newline": (request(tools=[tool("a\n")]), "tools[0].function.name"),
    "long tool name": (request(tools=[tool("a" * 65)]), "tools[0].function.name"),
    "tool name twice": (request(tools=[tool("a"), tool("a")]), "tools[1].function.name"),
    "null parameters": (request(tools=[tool(parameters=None)]), "tools[0].function.parameters"),
    "parameters of a string": (request(tools=[tool(parameters={"type": "string"})]), "tools[0].function.parameters"),
    "parameters without type": (request(tools=[tool(parameters={"properties": {}})]), "tools[0].function.parameters"),
    "required but undeclared": (
        request(tools=[tool(parameters={"type": "object", "required": ["x"]})]),
        "tools[0].function.parameters",
    ),
}


@pytest.mark.parametrize("body", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_a_correct_request_is_accepted(body: Body):
    with model_server_thread(script(says("fine"))) as server:
        reply = ask(server.base_url, body)
        assert server.violations == []
    assert (reply.status, reply.text) == (200, "fine")


@pytest.mark.parametrize(("body", "param"), REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_request_is_refused_and_remembered(body: Body, param: str):
    with model_server_thread(script(says("fine"))) as server:
        reply = ask(server.base_url, body)
        [violation] = server.violations
        assert reply.status == 400
        assert reply.json["error"] == {
            "message": violation.message,
            "type": "invalid_request_error",
            "param": param,
            "code": None,
        }
        assert violation.param == param
        assert ask(server.base_url).text == "fine"  # the answer was not spent on the wrong request


@pytest.mark.parametrize(
    ("status", "how"),
    [
        (401, {"headers": {}}),
        (401, {"headers": {"Authorization": "Basic k"}}),
        (401, {"headers": {}, "path": "/v1/models", "method": "GET"}),
        (404, {"path": "/v1/completions"}),
        (405, {"method": "PUT"}),
        (405, {"path": "/v1/models"}),
        (400, {"body": b"{"}),
        (400, {"body": b"[]"}),
        (400, {"body": b'{"model": "\xff"}'}),
        (400, {"body": b'{"a":' * 100_000}),
    ],
)
def test_what_is_no_chat_request_is_refused(status: int, how: dict[str, Any]):
    with model_server_thread(script()) as server:
        reply = ask(server.base_url, **how)
        assert (reply.status, [v.status for v in server.violations]) == (status, [status])
        assert set(reply.json["error"]) == {"message", "type", "param", "code"}
        assert server.requests == []


def test_models_are_listed():
    with model_server_thread(script()) as server:
        reply = ask(server.base_url, b"", path="/v1/models", method="GET")
        assert [model["id"] for model in reply.json["data"]] == ["scripted"]
        assert server.violations == []


def test_a_request_after_the_end_of_the_script_is_a_violation():
    with model_server_thread(script()) as server:
        reply = ask(server.base_url)
        assert (reply.status, reply.json["error"]["message"]) == (500, "script exhausted")
        assert server.violations == [Violation("script exhausted", status=500)]


def test_a_scripted_error_is_no_violation():
    reply = told(http_error(429, "slow down", {"retry-after": "1"}, code="slow"))
    assert (reply.status, reply.headers["retry-after"]) == (429, "1")
    error = {"message": "slow down", "type": "rate_limit_error", "param": None, "code": "slow"}
    assert reply.json == {"error": error}
    assert told(http_error(529, "overloaded")).json["error"]["type"] == "server_error"


@pytest.mark.parametrize("pieces", [0, 1, 3])
def test_a_cut_off_answer_ends_in_mid_stream(pieces: int):
    with model_server_thread(script(cut_off(says("one two three"), after_pieces=pieces), says("again"))) as server:
        with pytest.raises(IncompleteRead) as cut:
            ask(server.base_url)
        assert cut.value.partial.count(b"\n\n") == pieces
        assert ask(server.base_url).text == "again"
        assert server.violations == []


def test_a_cut_off_among_many_tokens_is_exact():
    with (
        model_server_thread(script(cut_off(tokens(9_000), after_pieces=5_001))) as server,
        pytest.raises(IncompleteRead) as cut,
    ):
        ask(server.base_url)
    assert cut.value.partial.count(b"\n\n") == 5_001


@pytest.mark.parametrize("pieces", [0, 1])
def test_an_answer_in_one_object_can_be_cut_off_too(pieces: int):
    with (
        model_server_thread(script(cut_off(says("one"), after_pieces=pieces))) as server,
        pytest.raises(IncompleteRead),
    ):
        ask(server.base_url, request(stream=False))


def test_garbage_comes_between_good_events():
    events = told(garbage(says("one two"), after_pieces=2)).events
    with pytest.raises(json.JSONDecodeError):
        json.loads(events[2])
    assert [json.loads(event)["choices"][0]["delta"] for event in (events[1], events[3])] == [
        {"content": "one"},
        {"content": " two"},
    ]
    assert events[-1] == "[DONE]"


def test_an_answer_made_from_the_request():
    def shout(body: Body) -> Answer:
        return says(body["messages"][-1]["content"].upper())

    with model_server_thread(script(replies(shout), says("then"))) as server:
        assert [ask(server.base_url).text, ask(server.base_url).text] == ["HI", "then"]


def test_a_mistake_in_an_answering_function_is_shown():
    def mistake(body: Body) -> Answer:
        raise KeyError("oops")

    with model_server_thread(script(replies(mistake))) as server:
        assert ask(server.base_url).status == 500
        assert [v.message for v in server.violations] == ["the script failed: KeyError('oops')"]


def test_by_history_repeats_the_answer_of_a_repeated_request():
    def one_step_per_result(history: History) -> Answer:
        results = sum(said.role == "tool" for said in history)
        return proposes(bash(f"step {results}")) if results < 2 else says("done")

    with model_server_thread(by_history(one_step_per_result)) as server:
        first = request(SYSTEM, USER)
        second = request(SYSTEM, USER, proposed("call_1"), result("call_1"))
        third = request(SYSTEM, USER, proposed("call_1"), result("call_1"), proposed("call_2"), result("call_2"))
        answers = [ask(server.base_url, body) for body in (first, second, third, second, first)]
        assert [answer.calls for answer in answers[:2]] == [
            [("call_1", "bash", '{"command":"step 0"}')],
            [("call_2", "bash", '{"command":"step 1"}')],
        ]
        assert answers[2].text == "done"
        assert [answers[3].body, answers[4].body] == [answers[1].body, answers[0].body]
        assert server.violations == []


def test_the_history_a_function_sees():
    seen: list[Said] = []

    def look(history: History) -> Answer:
        seen.extend(history)
        return says("ok")

    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    with model_server_thread(by_history(look)) as server:
        ask(server.base_url, request(SYSTEM, USER | {"content": parts}, proposed("x"), result("x")))
    assert [(said.role, said.text, said.call_id) for said in seen] == [
        ("system", "be brief", ""),
        ("user", "a\nb", ""),
        ("assistant", "", ""),
        ("tool", "ok", "x"),
    ]
    assert seen[2].calls == (Call("bash", {}, "x"),)


def test_call_ids_are_new_to_a_session_that_an_earlier_server_began():
    with model_server_thread(script(proposes(bash("make")))) as server:
        reply = ask(server.base_url, request(USER, proposed("call_7"), result("call_7")))
        assert reply.calls == [("call_8", "bash", '{"command":"make"}')]


def test_call_ids_are_unique_over_the_sessions_of_a_server():
    with model_server_thread(script(proposes(bash("a")), proposes(bash("b")))) as server:
        assert [ask(server.base_url).calls[0][0] for _ in range(2)] == ["call_1", "call_2"]


def test_requests_are_recorded_with_time_and_size():
    with model_server_thread(script(says("a"), says("b"))) as server:
        bodies = [json.dumps(request(USER | {"content": text})) for text in ("first", "second")]
        for body in bodies:
            ask(server.base_url, body)
        server.wait_for_requests(2)
        assert server.requests == [json.loads(body) for body in bodies]
        assert [received.size for received in server.received] == [len(body) for body in bodies]
        assert server.received[0].arrived < server.received[1].arrived
        with pytest.raises(TimeoutError):
            server.wait_for_requests(3, timeout=0.001)


def test_one_connection_carries_many_requests():
    with model_server_thread(script(says("a"), http_error(500, "no"), proposes(bash("b")))) as server:
        connection = connect(server.base_url)
        told = [exchange(connection, request())]
        socket = connection.sock
        told += [exchange(connection, body) for body in (request(), request(USER, USER), request())]
        assert [reply.status for reply in told] == [200, 500, 400, 200]
        assert connection.sock is socket
        connection.close()


def test_a_connection_closes_when_the_client_says_so():
    with model_server_thread(script(says("a"))) as server:
        address = ("127.0.0.1", urlsplit(server.base_url).port)
        with create_connection(address, timeout=30) as socket:
            socket.sendall(raw(RAW_BODY, f"Content-Length: {len(RAW_BODY)}", "Connection: close"))
            assert b"".join(iter(lambda: socket.recv(4096), b"")).endswith(b"0\r\n\r\n")


class Wire:
    """A bare connection to a server, for what no HTTP client would do."""

    def __init__(self, server: ModelServer, reader: StreamReader, writer: StreamWriter) -> None:
        self.server, self.reader, self.writer = server, reader, writer


@asynccontextmanager
async def wire(plan: Script) -> AsyncGenerator[Wire]:
    """Nothing may be left of the server when it has stopped: no task, no complaint."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    async with model_server(plan) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(server.base_url).port)
        yield Wire(server, reader, writer)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert complaints == []
    writer.close()


def in_a_loop(story: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    @wraps(story)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(story(*args, **kwargs))

    return run


def raw(body: bytes, *headers: str) -> bytes:
    lines = ["POST /v1/chat/completions HTTP/1.1", "Authorization: Bearer k", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


RAW_BODY = json.dumps(request()).encode()
PLAIN = raw(RAW_BODY, f"Content-Length: {len(RAW_BODY)}")
CHUNKED = raw(
    b"5;ext=1\r\n%b\r\n%x\r\n%b\r\n0\r\nTrailer: x\r\n\r\n" % (RAW_BODY[:5], len(RAW_BODY) - 5, RAW_BODY[5:]),
    "Transfer-Encoding: chunked",
)


@pytest.mark.parametrize("sent", [PLAIN, CHUNKED], ids=["content-length", "chunked"])
@in_a_loop
async def test_a_request_may_arrive_byte_by_byte(sent: bytes):
    async with wire(script(says("a"))) as client:
        for byte in sent:
            client.writer.write(bytes([byte]))
            await asyncio.sleep(0)  # lets the server see this byte alone
        await client.reader.readuntil(b"0\r\n\r\n")
        assert client.server.requests == [request()]
        assert client.server.violations == []


@in_a_loop
async def test_requests_may_be_sent_ahead():
    async with wire(script(says("a"), says("b"))) as client:
        client.writer.write(PLAIN + PLAIN)
        await client.reader.readuntil(b'"content":"a"')
        await client.reader.readuntil(b'"content":"b"')


@in_a_loop
async def test_a_client_may_wait_for_100_continue():
    async with wire(script(says("a"))) as client:
        client.writer.write(raw(b"", f"Content-Length: {len(RAW_BODY)}", "Expect: 100-continue"))
        assert await client.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.writer.write(RAW_BODY)
        await client.reader.readuntil(b"0\r\n\r\n")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (raw(b"", "Content-Length: 67108865"), 413),
        (raw(b"4000001\r\n", "Transfer-Encoding: chunked"), 413),
        (raw(b"", "X: " + "x" * 70_000), 431),
        (raw(b"", "Content-Length: many"), 400),
        (raw(b"", "Content-Length: 1", "Transfer-Encoding: chunked"), 400),
        (raw(b"2\r\n{}xx", "Transfer-Encoding: chunked"), 400),
        (raw(b"", "no header"), 400),
        (b"hello\r\n\r\n", 400),
    ],
)
@in_a_loop
async def test_what_is_no_http_is_refused(sent: bytes, status: int):
    async with wire(script()) as client:
        client.writer.write(sent)
        assert (await client.reader.readline()).split()[1] == str(status).encode()
        assert [violation.status for violation in client.server.violations] == [status]


@in_a_loop
async def test_a_hanging_answer_is_silent_until_the_server_stops():
    async with wire(script(hangs(says("one two three"), after_pieces=3), says("meanwhile"))) as client:
        client.writer.write(PLAIN)
        await client.reader.readuntil(b'"content":" two"')
        await client.reader.readuntil(b"\n\n\r\n")
        assert (await asyncio.to_thread(ask, client.server.base_url)).text == "meanwhile"
        assert not client.reader.at_eof()
    assert await client.reader.read() == b""


@pytest.mark.parametrize(
    "answer", [hangs(says("one two"), 2), tokens(5_000_000), says("word " * 999, token_delay=0.001)]
)
@in_a_loop
async def test_a_client_that_leaves_in_mid_answer_is_forgotten(answer: Answer):
    async with wire(script(answer)) as client:
        client.writer.write(PLAIN)
        await client.reader.readuntil(b"\n\n")
        client.writer.transport.abort()
        [serving] = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.wait([serving])
        assert client.server.violations == []


@in_a_loop
async def test_a_client_that_leaves_in_mid_request_is_forgotten():
    async with wire(script()) as client:
        client.writer.write(PLAIN[:-3])
        client.writer.write_eof()
        assert await client.reader.read() == b""
        assert client.server.violations == []


@in_a_loop
async def test_stopping_ends_an_answer_that_nobody_reads():
    async with wire(script(tokens(5_000_000))) as client:
        client.writer.write(PLAIN)
        await client.server.wait_for_requests(1)


@in_a_loop
async def test_an_answer_may_be_held_back():
    gate = asyncio.Event()

    async def when_opened(_: Body) -> Answer:
        await gate.wait()
        return says("open")

    async with wire(script(replies(when_opened))) as client:
        client.writer.write(PLAIN)
        await client.server.wait_for_requests(1)
        gate.set()
        await client.reader.readuntil(b'"content":"open"')
