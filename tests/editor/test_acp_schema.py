"""The check against the schema finds what is wrong, so that stories that pass say something."""

from typing import Any

import pytest

from tests.editor.acp_schema import Message, SchemaTap, Side

UPDATE = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}}
ASKED: Message = {"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}


def _told(**update: Any) -> Message:
    return {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {"sessionId": "s", "update": {**UPDATE, **update}},
    }


def _answer(**fields: Any) -> Message:
    return {"jsonrpc": "2.0", "id": 1, **fields}


@pytest.mark.parametrize(
    ("sender", "message"),
    [
        ("agent", _told()),
        ("agent", _told(_meta={"coderelay": {"any": 1}})),
        ("agent", {"jsonrpc": "2.0", "method": "_coderelay/anything", "params": {"a": 1}}),
        ("agent", {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}),
        ("agent", _answer(result={"stopReason": "end_turn"})),
        ("agent", _answer(error={"code": -32600, "message": "no"})),
    ],
)
def test_what_the_schema_has_is_right(sender: Side, message: Message) -> None:
    tap = SchemaTap()
    tap.check("client", ASKED)
    tap.check(sender, message)
    assert tap.problems == []


@pytest.mark.parametrize(
    ("sender", "message"),
    [
        ("agent", _told(sessionUpdate="smell")),
        ("agent", _told(colour="red")),
        ("agent", _told(content={"type": "text"})),
        ("agent", {**_told(), "jsonrpc": "1.0"}),
        ("agent", {**_told(), "extra": 1}),
        ("agent", {"jsonrpc": "2.0", "method": "session/prompt", "params": {}}),
        ("agent", {"jsonrpc": "2.0", "id": 5, "method": "session/whatever", "params": {}}),
        ("client", {"jsonrpc": "2.0", "id": 5, "method": "session/new", "params": {"cwd": 7}}),
        ("agent", _answer(result={"stopReason": "tired"})),
        ("agent", _answer(result=None)),
        ("agent", _answer(result={}, error={"code": 1, "message": ""})),
        ("agent", _answer(error={"code": "one", "message": "no"})),
        ("agent", _answer(error={"code": 1, "message": "no", "data": None, "more": 1})),
        ("agent", {"jsonrpc": "2.0", "id": 2, "result": {}}),
    ],
)
def test_what_it_does_not_have_is_found(sender: Side, message: Message) -> None:
    tap = SchemaTap()
    tap.check("client", ASKED)
    tap.check(sender, message)
    assert len(tap.problems) == 1
