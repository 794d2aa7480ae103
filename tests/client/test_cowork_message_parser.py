"""Messages that other programs made: whatever their form, nobody who reads them crashes (B-55, B-56)."""

import io
import json
from typing import Any

import pytest

from coderelay.client.views.cowork_message_parser import blocks_of, read_message, result_content
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import AnyEvent, MessageKept, Recorded, TurnEnded
from coderelay.protocol.ids import MessageId, SessionId, TurnId
from coderelay.surfaces.headless.exit_codes import RunState
from coderelay.surfaces.headless.json_output import JsonOutput
from coderelay.surfaces.headless.json_result_message import RunResult
from coderelay.surfaces.headless.text_output_and_progress import ProgressLines

pytestmark = pytest.mark.quick

TEXT = {"type": "text", "text": "hello"}
MESSAGES: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
    ({"message": {"content": [TEXT]}}, [TEXT]),
    ({"message": {"content": "hello"}}, [TEXT]),
    ({"message": {"content": [TEXT, "hello", 5, None]}}, [TEXT]),
    ({"message": {"content": 5}}, []),
    ({"message": {}}, []),
    ({"message": "hello"}, []),
    ({}, []),
]


@pytest.mark.parametrize(("message", "blocks"), MESSAGES)
def test_b55_the_blocks_of_any_message(message: dict[str, Any], blocks: list[dict[str, Any]]) -> None:
    assert blocks_of(message) == blocks


@pytest.mark.parametrize(
    ("content", "text"),
    [("ok", "ok"), (None, ""), ([TEXT, {"type": "image"}, 5], "hello\n[image]\n5"), (5, "5"), ([], "")],
)
def test_b55_the_content_of_any_result(content: object, text: str) -> None:
    assert result_content(content) == text


def test_b56_half_a_character_is_readable() -> None:
    assert read_message('{"a": ["\\ud83d x"], "b": {"\\udc00": 1}}') == {"a": ["\ufffd x"], "b": {"\ufffd": 1}}
    for wrong in ("[]", "", '{"a": "\\ud83d", "b": NaN}', '["\\ud83d"]'):
        with pytest.raises(BadInput):
            read_message(wrong)


def test_b56_the_result_of_the_agent_is_the_json_output() -> None:
    turn = TurnId("t1")
    result = '{ "type": "result",\n "uuid": "m1" }'
    kept = MessageKept(turn_id=turn, message_id=MessageId("m1"), data=result, is_last=True)
    events = [recorded(kept), recorded(TurnEnded(turn_id=turn, ending="done", verbatim=True))]
    assert json_output(*events) == b'{ "type": "result",  "uuid": "m1" }\n'
    ended = recorded(TurnEnded(turn_id=turn, ending="done"))
    assert json.loads(json_output(ended))["subtype"] == "success"


def json_output(*events: Recorded) -> bytes:
    written = io.BytesIO()
    out = io.TextIOWrapper(written, encoding="utf-8")
    output = JsonOutput(out, ProgressLines(io.StringIO()), RunResult(SessionId("s"), RunState()))
    for each in events:
        output.event(each)
    output.finish(events[-1])
    return written.getvalue()


def recorded(event: AnyEvent) -> Recorded:
    return Recorded(SessionId("s"), 4, 1, 1000, event)
