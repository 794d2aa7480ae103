"""The Responses form of the scripted model server, seen by a client on a real socket."""

import json
from contextlib import closing
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.model_server import (
    Answer,
    Body,
    bash,
    by_history,
    empty,
    model_server_thread,
    proposes,
    says,
    script,
    tokens,
)
from tests.model_server.openai_responses_seal import seal
from tests.model_server.wire_form import History

KEY = {"Authorization": "Bearer k", "Content-Type": "application/json"}
USER: Body = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
ASSISTANT: Body = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]}
DEVELOPER: Body = USER | {"role": "developer"}
SEALS: Body = {"store": False, "include": ["reasoning.encrypted_content"], "reasoning": {"summary": "auto"}}


def called(call_id: str, **fields: Any) -> Body:
    return {"type": "function_call", "call_id": call_id, "name": "bash", "arguments": "{}"} | fields


def output(call_id: str, **fields: Any) -> Body:
    return {"type": "function_call_output", "call_id": call_id, "output": "ok"} | fields


def request(*items: Body, **fields: Any) -> Body:
    return {"model": "m", "input": list(items) or [USER], "stream": True, "store": False} | fields


def tool(name: str = "bash", **fields: Any) -> Body:
    return {"type": "function", "name": name, "strict": False} | fields


class Told:
    def __init__(self, status: int, body: bytes) -> None:
        self.status, self.body = status, body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Body]:
        told: list[Body] = []
        for event in filter(None, self.body.decode().split("\n\n")):
            name, data = event.split("\n")
            told.append(json.loads(data.removeprefix("data: ")))
            assert name == f"event: {told[-1]['type']}"
        return told

    @property
    def output(self) -> list[Body]:
        return self.events[-1]["response"]["output"]


def ask(url: str, body: Body | None = None) -> Told:
    with closing(HTTPConnection("127.0.0.1", urlsplit(url).port, timeout=30)) as connection:
        connection.request("POST", "/v1/responses", json.dumps(request() if body is None else body), KEY)
        response = connection.getresponse()
        return Told(response.status, response.read())


def told(answer: Answer, **fields: Any) -> Told:
    with model_server_thread(script(answer)) as server:
        reply = ask(server.base_url, request(**fields))
        assert server.violations == []
    return reply


@pytest.mark.quick
def test_an_answer_is_told_in_the_real_order_of_events() -> None:
    events = told(proposes(bash("ls"), text="I look", thinking="let me"), **SEALS).events
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [event["type"].removeprefix("response.") for event in events] == [
        *("created", "in_progress"),
        *("output_item.added", "reasoning_summary_part.added"),
        *["reasoning_summary_text.delta"] * 2,
        *("reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done"),
        *("output_item.added", "content_part.added"),
        *["output_text.delta"] * 2,
        *("output_text.done", "content_part.done", "output_item.done"),
        "output_item.added",
        *["function_call_arguments.delta"] * 4,
        *("function_call_arguments.done", "output_item.done"),
        "completed",
    ]
    reasoning, message, call = events[-1]["response"]["output"]
    assert reasoning["summary"] == [{"type": "summary_text", "text": "let me"}]
    assert message["content"][0]["text"] == "I look"
    assert (call["call_id"], call["name"], call["arguments"]) == ("call_1", "bash", '{"command":"ls"}')
    usage = events[-1]["response"]["usage"]
    assert (usage["output_tokens"], usage["output_tokens_details"]) == (8, {"reasoning_tokens": 2})


def test_without_streaming_the_answer_is_one_object() -> None:
    reply = told(says("hi"), stream=False).json
    assert (reply["object"], reply["status"], reply["output"][0]["content"][0]["text"]) == (
        "response",
        "completed",
        "hi",
    )


@pytest.mark.parametrize(
    ("answer", "kind", "details"),
    [
        (says("hi"), "completed", None),
        (says("hi", finish_reason="length"), "incomplete", {"reason": "max_output_tokens"}),
        (says("hi", finish_reason="content_filter"), "incomplete", {"reason": "content_filter"}),
        (says("hi", finish_reason="error"), "failed", None),
        (empty(), "completed", None),
        (tokens(3), "completed", None),
    ],
)
def test_how_an_answer_ends(answer: Answer, kind: str, details: Body | None) -> None:
    last = told(answer).events[-1]
    assert (last["type"], last["response"]["incomplete_details"]) == (f"response.{kind}", details)


def test_thoughts_are_told_and_sealed_only_when_asked_for() -> None:
    answer = says("hi", thinking="hm")
    plain = told(answer).output[0]
    assert (plain["summary"], "encrypted_content" in plain) == ([], False)
    summed_up = told(answer, reasoning={"summary": "auto"}).output[0]
    assert (summed_up["summary"], "encrypted_content" in summed_up) == (
        [{"type": "summary_text", "text": "hm"}],
        False,
    )
    assert told(answer, **SEALS).output[0]["encrypted_content"]


def test_a_history_is_read_as_messages() -> None:
    heard: list[History] = []

    def listen(history: History) -> Answer:
        heard.append(history)
        return says("hi")

    items = [USER, ASSISTANT, called("a"), called("b", name="read"), output("a"), output("b"), ASSISTANT, USER]
    with model_server_thread(by_history(listen)) as server:
        ask(server.base_url, request(*items, instructions="be brief"))
        assert server.violations == []
    assert [(said.role, said.text, [call.id for call in said.calls], said.call_id) for said in heard[0]] == [
        ("system", "be brief", [], ""),
        ("user", "hi", [], ""),
        ("assistant", "hello", ["a", "b"], ""),
        ("tool", "ok", [], "a"),
        ("tool", "ok", [], "b"),
        ("assistant", "hello", [], ""),
        ("user", "hi", [], ""),
    ]


def thought(leads_to: str) -> Body:
    summary = [{"type": "summary_text", "text": "hm"}]
    return {
        "type": "reasoning",
        "id": "rs_1",
        "summary": summary,
        "encrypted_content": seal("m", ["hm"], leads_to),
    }


SAID = [thought("hello"), ASSISTANT]
CALLED = [thought("a"), called("a"), called("b")]
OUTPUTS = [output("a"), output("b")]
IMAGE: Body = {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "low"}

ACCEPTED: dict[str, Body] = {
    "user only": request(),
    "instructions": request(instructions="be brief"),
    "instructions as an item": request(DEVELOPER, USER),
    "plain text": request(USER | {"content": "hi"}),
    "alternating": request(USER, ASSISTANT, USER),
    "two assistant items": request(USER, ASSISTANT, ASSISTANT, USER),
    "outputs in order": request(USER, called("a"), called("b"), output("a"), output("b")),
    "steps": request(USER, called("a"), output("a"), called("b"), output("b"), ASSISTANT, USER),
    "text among calls": request(USER, called("a"), ASSISTANT, called("b"), output("a"), output("b")),
    "images": request(USER | {"content": [IMAGE]}, called("a"), output("a", output=[IMAGE])),
    "ids": request(USER, ASSISTANT | {"id": "msg_1", "status": "completed"}, called("a", id="fc_1"), output("a")),
    "a thought before text": request(USER, *SAID, USER, **SEALS),
    "a thought before calls": request(USER, *CALLED, *OUTPUTS, **SEALS),
    "thoughts not asked for again": request(USER, *SAID, USER),
    "tools": request(
        tools=[
            tool("a", description="d", parameters={"type": "object", "properties": {"x": {}}}),
            tool("b", strict=True, parameters={"type": "object", "properties": {}, "additionalProperties": False}),
        ],
        tool_choice={"type": "function", "name": "b"},
        parallel_tool_calls=False,
    ),
    "options": request(reasoning={"effort": "low"}, max_output_tokens=99, prompt_cache_key="k", stream_options={}),
}

REFUSED: dict[str, tuple[Body, str | None]] = {
    "unknown field": (request(messages=[]), "messages"),
    "an answer that is stored": (request(previous_response_id="r"), "previous_response_id"),
    "no input": ({"model": "m"}, "input"),
    "empty input": (request(input=[]), "input"),
    "unknown item": (request({"type": "x"}), "input[0].type"),
    "an item without type": (request({"role": "user", "content": "hi"}), "input[0].type"),
    "unknown item field": (request(USER | {"name": "x"}), "input[0].name"),
    "output_text of a user": (request(USER | {"content": ASSISTANT["content"]}), "input[0].content[0].type"),
    "input_text of an assistant": (
        request(USER, ASSISTANT | {"content": USER["content"]}, USER),
        "input[1].content[0].type",
    ),
    "chat's kind of text": (
        request(USER | {"content": [{"type": "text", "text": "hi"}]}),
        "input[0].content[0].type",
    ),
    "an image that is none": (
        request(USER | {"content": [IMAGE | {"image_url": "a.png"}]}),
        "input[0].content[0].image_url",
    ),
    "an empty assistant": (
        request(USER, ASSISTANT | {"content": [{"type": "output_text", "text": ""}]}, USER),
        "input[1].content",
    ),
    "assistant first": (request(ASSISTANT, USER), "input[0]"),
    "assistant last": (request(USER, ASSISTANT), "input[1]"),
    "two users": (request(USER, USER), "input[1].role"),
    "instructions later": (request(USER, ASSISTANT, DEVELOPER, USER), "input[2].role"),
    "a call without output": (request(USER, called("a"), USER), "input[2]"),
    "a call without output at the end": (request(USER, called("a"), called("b"), output("a")), "input"),
    "outputs out of order": (request(USER, called("a"), called("b"), output("b"), output("a")), "input[3].call_id"),
    "an output too late": (
        request(USER, called("a"), called("b"), output("a"), ASSISTANT, output("b")),
        "input[4]",
    ),
    "an output of no call": (request(USER, output("a")), "input[1].call_id"),
    "an output twice": (request(USER, called("a"), output("a"), output("a")), "input[3].call_id"),
    "a call id twice": (request(USER, called("a"), output("a"), called("a"), output("a")), "input[3].call_id"),
    "a long call id": (request(USER, called("a" * 65), output("a" * 65)), "input[1].call_id"),
    "an item id of another kind": (request(USER, called("a", id="call_1"), output("a")), "input[1].id"),
    "arguments not JSON": (request(USER, called("a", arguments="{"), output("a")), "input[1].arguments"),
    "arguments not an object": (request(USER, called("a", arguments="[]"), output("a")), "input[1].arguments"),
    "impossible name": (request(USER, called("a", name="do it"), output("a")), "input[1].name"),
    "a thought of another model": (request(USER, *SAID, USER, model="x"), "input[1]"),
    "a thought that was changed": (request(USER, SAID[0] | {"summary": []}, SAID[1], USER), "input[1]"),
    "a thought before another text": (request(USER, SAID[0], ASSISTANT | {"content": "x"}, USER), "input[1]"),
    "a thought before another call": (request(USER, CALLED[0], CALLED[2], CALLED[1], *OUTPUTS[::-1]), "input[1]"),
    "a thought alone": (request(USER, SAID[0], USER), "input[1]"),
    "a thought without an id": (
        request(USER, {k: v for k, v in SAID[0].items() if k != "id"}, SAID[1], USER),
        "input[1].id",
    ),
    "a thought and a store": (request(USER, *SAID, USER, store=True), "store"),
    "seals and a store": (request(**(SEALS | {"store": True})), "store"),
    "unknown include": (request(include=["x"]), "include[0]"),
    "unknown effort": (request(reasoning={"effort": "hard"}), "reasoning.effort"),
    "chat's kind of tool": (request(tools=[{"type": "function", "function": {"name": "a"}}]), "tools[0].function"),
    "tool name twice": (request(tools=[tool("a"), tool("a")]), "tools[1].name"),
    "a strict tool with an optional property": (
        request(tools=[tool(strict=True, parameters={"type": "object", "properties": {"x": {}}})]),
        "tools[0].parameters",
    ),
    "a strict tool that takes anything": (
        request(tools=[{"type": "function", "name": "a", "parameters": {"type": "object"}}]),
        "tools[0].parameters",
    ),
    "parameters of a string": (request(tools=[tool(parameters={"type": "string"})]), "tools[0].parameters"),
    "tool_choice of no tool": (
        request(tools=[tool()], tool_choice={"type": "function", "name": "x"}),
        "tool_choice",
    ),
    "tool_choice without tools": (request(tool_choice="auto"), "tool_choice"),
    "parallel_tool_calls without tools": (request(parallel_tool_calls=True), "parallel_tool_calls"),
    "stream_options without stream": (request(stream=False, stream_options={}), "stream_options"),
    "few tokens": (request(max_output_tokens=1), "max_output_tokens"),
}


@pytest.mark.parametrize("body", ACCEPTED.values(), ids=ACCEPTED.keys())
def test_a_correct_request_is_accepted(body: Body) -> None:
    with model_server_thread(script(says("fine"))) as server:
        reply = ask(server.base_url, body)
        assert server.violations == []
    assert (reply.status, reply.output[-1]["content"][0]["text"]) == (200, "fine")


@pytest.mark.parametrize(("body", "param"), REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_request_is_refused_and_remembered(body: Body, param: str | None) -> None:
    with model_server_thread(script(says("fine"))) as server:
        reply = ask(server.base_url, body)
        [violation] = server.violations
        told = {"message": violation.message, "type": "invalid_request_error", "param": param, "code": None}
        assert (reply.status, reply.json["error"]) == (400, told)
        assert ask(server.base_url).status == 200  # the answer was not spent on the wrong request


def test_a_thought_that_only_a_store_would_know_is_not_found() -> None:
    item = {k: v for k, v in SAID[0].items() if k != "encrypted_content"}
    with model_server_thread(script()) as server:
        reply = ask(server.base_url, request(USER, item, SAID[1], USER))
        assert (reply.status, [violation.status for violation in server.violations]) == (404, [404])
