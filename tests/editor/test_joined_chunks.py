"""Pieces of a message that wait for a slow client become one update."""

import json
from typing import Any

import pytest

from coderelay.surfaces.editor.iflow_dialect import joined_chunks


def message(text: str, kind: str = "agent_message_chunk", session: str = "s", **fields: Any) -> bytes:
    update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **fields}
    params = {"sessionId": session, "update": update}
    said = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    return json.dumps(said, separators=(",", ":")).encode()


@pytest.mark.parametrize("kind", ["agent_message_chunk", "agent_thought_chunk"])
def test_pieces_of_one_message_are_joined(kind: str) -> None:
    joined = joined_chunks(message("one ", kind, messageId="m"), message("zwei", kind, messageId="m"))
    assert joined == message("one zwei", kind, messageId="m")
    assert joined is not None
    assert joined_chunks(joined, message("!", kind, messageId="m")) == message("one zwei!", kind, messageId="m")


@pytest.mark.parametrize(
    "other",
    [
        message("x", messageId="other"),
        message("x"),
        message("x", session="other", messageId="m"),
        message("x", "agent_thought_chunk", messageId="m"),
        message("x", "user_message_chunk", messageId="m"),
        b'{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}',
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan"}}}',
    ],
)
def test_nothing_else_is_joined(other: bytes) -> None:
    one = message("one", messageId="m")
    assert joined_chunks(one, other) is None
    assert joined_chunks(other, one) is None
    assert joined_chunks(message("x" * 40_000, messageId="m"), one) is None
