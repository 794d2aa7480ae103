"""A message while it is written (B-57)."""

from typing import Any

import pytest

from coderelay.client.views.cowork_stream_events import Partials
from coderelay.protocol.ids import MessageId, SessionId
from coderelay.protocol.live_updates import TextDelta, ThinkingDelta

pytestmark = pytest.mark.quick

ONE, TWO = MessageId("m1"), MessageId("m2")


def start(index: int, kind: str) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, kind: ""}}


def delta(index: int, kind: str, text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": f"{kind}_delta", kind: text}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def events(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [message["event"] for message in messages]


def test_b57_a_block_starts_grows_and_stops() -> None:
    partials = Partials(SessionId("s"))
    assert events(partials.grow(TextDelta(ONE, "he"))) == [start(0, "text"), delta(0, "text", "he")]
    assert events(partials.grow(TextDelta(ONE, "llo"))) == [delta(0, "text", "llo")]
    assert events(partials.finish()) == [stop(0)]
    assert partials.finish() == []


def test_b57_thinking_and_text_are_two_blocks() -> None:
    partials = Partials(SessionId("s"))
    partials.grow(ThinkingDelta(ONE, "hm"))
    assert events(partials.grow(TextDelta(ONE, "so"))) == [stop(0), start(1, "text"), delta(1, "text", "so")]
    assert events(partials.finish()) == [stop(1)]


def test_b57_blocks_are_counted_anew_in_every_message() -> None:
    partials = Partials(SessionId("s"))
    partials.grow(TextDelta(ONE, "one"))
    partials.finish()
    assert events(partials.grow(ThinkingDelta(TWO, "two"))) == [start(0, "thinking"), delta(0, "thinking", "two")]


def test_b57_a_message_that_broke_off_does_not_run_into_the_next() -> None:
    """Symptom: after a crash in mid-answer, the next owner's words were appended to the half ones."""
    partials = Partials(SessionId("s"))
    partials.grow(TextDelta(ONE, "half an ans"))
    assert events(partials.grow(TextDelta(TWO, "whole"))) == [stop(0), start(0, "text"), delta(0, "text", "whole")]


def test_b55_every_partial_names_its_session() -> None:
    partials = Partials(SessionId("s"))
    every = [*partials.grow(TextDelta(ONE, "a")), *partials.finish()]
    shells = [{name: value for name, value in each.items() if name not in ("event", "uuid")} for each in every]
    assert shells == [{"type": "stream_event", "session_id": "s", "parent_tool_use_id": None}] * 3
    assert len({each["uuid"] for each in every}) == 3


def test_b57_what_a_front_end_builds_from_them_is_the_text() -> None:
    """The algorithm of B-57, as a page runs it."""
    partials, shown, built = Partials(SessionId("s")), "", list[str]()
    pieces = [ThinkingDelta(ONE, "h"), ThinkingDelta(ONE, "m"), TextDelta(ONE, "he"), TextDelta(ONE, "llo")]
    messages = [each for piece in pieces for each in partials.grow(piece)] + partials.finish()
    for event in events(messages):
        match event["type"]:
            case "content_block_start":
                shown = ""
            case "content_block_delta":
                prefix = event["delta"]["type"].removesuffix("_delta")
                shown += event["delta"][prefix]
            case _:
                built.append(shown)
                shown = ""
    assert built == ["hm", "hello"]
