"""Whatever arrives on a line, whoever waits is told something."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from coderelay.tools.mcp.json_rpc import Peer
from coderelay.tools.mcp.transport import OnLost, OnMessage, ServerFailed, ServerRefused


class LoopLine:
    """In this process: what is sent is answered by `answers`, in as many messages as it likes."""

    last_words = ""

    def __init__(self, answers: Callable[[dict[str, Any]], list[bytes]]) -> None:
        self._answers = answers
        self.sent: list[dict[str, Any]] = []
        self.closed = False

    async def open(self, hear: OnMessage, lose: OnLost) -> None:
        self._hear = hear

    async def send(self, message: bytes) -> bool:
        self.sent.append(json.loads(message))
        for answer in self._answers(self.sent[-1]):
            self._hear(answer)
        return False

    def settle(self, version: str) -> None:
        return

    async def close(self) -> None:
        self.closed = True


async def asked(answers: list[bytes]) -> bytes:
    """The result of the one request, which has the id 1."""
    peer = Peer(LoopLine(lambda sent: answers if "method" in sent else []), {}, lambda method: None)
    await peer.open()
    try:
        return bytes(await peer.ask("tools/call", {}, 60))
    finally:
        await peer.close()


JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(max_size=8),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
ODD = some.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode())
FIELDS = some.fixed_dictionaries({}, optional=dict.fromkeys(("id", "method", "params", "result", "error"), JSON))
MESSAGE = FIELDS.map(lambda fields: json.dumps({"jsonrpc": "2.0", **fields}).encode())


@settings(max_examples=200, deadline=None)
@given(some.lists(ODD | MESSAGE, max_size=6))
def test_rubbish_before_an_answer_does_not_hide_it(rubbish: list[bytes]) -> None:
    rubbish = [each for each in rubbish if not _answers_one(each)]
    assert asyncio.run(asked([*rubbish, b'{"jsonrpc":"2.0","id":1,"result":{"a": 1}}'])) == b'{"a": 1}'


@settings(max_examples=100, deadline=None)
@given(some.lists(ODD | MESSAGE, max_size=6))
def test_rubbish_alone_ends_with_words(rubbish: list[bytes]) -> None:
    rubbish = [each for each in rubbish if not _answers_one(each)]
    with pytest.raises(ServerFailed, match="ended its answer before the result"):
        asyncio.run(asked(rubbish))


def _answers_one(message: bytes) -> bool:
    return b'"id": 1' in message or b'"id": "1"' in message


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"code": -32000, "message": "no"}, "refused: no (-32000)"),
        ({"code": "E1"}, "refused: it does not say why (0)"),
        ("plain words", "refused: plain words (0)"),
        ({"code": 1, "message": {"odd": True}}, "refused: {'odd': True} (1)"),
    ],
)
def test_errors_in_whatever_form(error: Any, told: str) -> None:
    with pytest.raises(ServerRefused) as refused:
        asyncio.run(asked([json.dumps({"id": 1, "error": error}).encode()]))
    assert refused.value.what == told


def test_answers_in_one_batch() -> None:
    batch: list[Any] = [{"id": 7, "result": {}}, {"method": "notifications/x"}, {"id": "1", "result": [True]}]
    assert asyncio.run(asked([json.dumps(batch).encode()])) == b"[true]"


def test_a_line_that_is_lost_is_closed_at_once() -> None:
    async def flooded() -> tuple[str, bool]:
        line = LoopLine(lambda sent: [b"rubbish"] * 200)
        peer = Peer(line, {}, lambda method: None)
        await peer.open()
        with pytest.raises(ServerFailed):
            await peer.ask("tools/call", {}, 60)
        return peer.lost, line.closed

    assert asyncio.run(flooded()) == ("sends what are no messages", True)
