"""Whatever arrives on a line, whoever waits is told something."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from coderelay.tools.mcp.client import McpClient
from coderelay.tools.mcp.server_transport_interface import ServerFailed, ServerRefused
from coderelay.wire.transport import Exchange, Take
from tests.models.raw_server import settle

GREETING: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": {"resources": {}}}


class LoopLine:
    """In this process: whatever is asked after the greeting is answered with `answers`, in as many messages as they
    are. The request has the id 2. Answers of ours are never read."""

    last_error_output = ""

    def __init__(self, answers: list[bytes]) -> None:
        self._answers = answers
        self._take: Take = lambda message: None
        self.closed = False

    async def open(self) -> None:
        return

    async def deliver(self, take: Take) -> str:
        self._take = take
        return await asyncio.get_running_loop().create_future()

    def send(self, message: bytes) -> Exchange:
        return asyncio.ensure_future(self._exchange(json.loads(message)))

    async def drained(self) -> None:
        return

    def set_protocol_version(self, version: str) -> None:
        return

    async def close(self) -> None:
        self.closed = True

    async def _exchange(self, sent: dict[str, Any]) -> None:
        await asyncio.sleep(0)  # as if it took a way
        if "method" not in sent:
            await asyncio.get_running_loop().create_future()
        if sent.get("method") == "initialize":
            self._take(json.dumps({"id": sent["id"], "result": GREETING}).encode())
        for answer in self._answers if sent.get("method") == "resources/read" else []:
            self._take(answer)
            await settle()


async def asked(answers: list[bytes]) -> list[str | None]:
    """The texts of the resource that was asked for."""
    client = McpClient(LoopLine(answers), [], lambda: None)
    await client.open(60)
    try:
        return [each.text for each in await client.read("x://", 60)]
    finally:
        await client.close()


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
    rubbish = [each for each in rubbish if not _is_answer(each)]
    answer = b'{"jsonrpc":"2.0","id":2,"result":{"contents":[{"text":"a"}]}}'
    assert asyncio.run(asked([*rubbish, answer])) == ["a"]


@settings(max_examples=100, deadline=None)
@given(some.lists(ODD | MESSAGE, max_size=6))
def test_rubbish_alone_ends_with_words(rubbish: list[bytes]) -> None:
    rubbish = [each for each in rubbish if not _is_answer(each)]
    with pytest.raises(ServerFailed, match="ended its answer before the result"):
        asyncio.run(asked(rubbish))


def _is_answer(message: bytes) -> bool:
    return b'"id": 2' in message or b'"id": "2"' in message


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"code": -32000, "message": "no"}, "refused: no (-32000)"),
        ({"code": "E1"}, "refused: it does not say why (0)"),
        ("plain words", "refused: plain words (0)"),
        ({"code": 1, "message": {"odd": True}}, "refused: {'odd': True} (1)"),
    ],
)
def test_mcp_errors_of_any_shape_are_reported(error: Any, told: str) -> None:
    with pytest.raises(ServerRefused) as refused:
        asyncio.run(asked([json.dumps({"id": 2, "error": error}).encode()]))
    assert refused.value.what == told


def test_answers_in_one_batch() -> None:
    text = {"contents": [{"text": "a"}]}
    batch: list[Any] = [{"id": 7, "result": {}}, {"method": "notifications/x"}, {"id": "2", "result": text}]
    assert asyncio.run(asked([json.dumps(batch).encode()])) == ["a"]


def test_an_answer_without_a_result_is_no_answer() -> None:
    with pytest.raises(ServerFailed, match="sent an answer without a result") as failed:
        asyncio.run(asked([b'{"jsonrpc":"2.0","id":2}']))
    assert failed.value.sent


@pytest.mark.parametrize("rubbish", [b"rubbish", b"[]", b"7", b"[null]"])
def test_a_line_that_is_lost_is_closed_without_being_asked(rubbish: bytes) -> None:
    async def flooded() -> tuple[str, bool]:
        line = LoopLine([rubbish] * 200)
        client = McpClient(line, [], lambda: None)
        await client.open(60)
        with pytest.raises(ServerFailed):
            await client.read("x://", 60)
        await settle()
        return client.connection_lost_reason, line.closed

    assert asyncio.run(flooded()) == ("sends what are no messages", True)


@pytest.mark.parametrize("method", ["ping", "sampling/createMessage"])
def test_a_server_that_asks_and_does_not_read_the_answers_is_lost(method: str) -> None:
    asks = [json.dumps({"jsonrpc": "2.0", "id": f"s{number}", "method": method}).encode() for number in range(17)]
    answer = b'{"jsonrpc":"2.0","id":2,"result":{"contents":[{"text":"a"}]}}'
    with pytest.raises(ServerFailed, match="sent more than 16 requests without reading the answers"):
        asyncio.run(asked([*asks, answer]))
    assert asyncio.run(asked([*asks[1:], answer])) == ["a"]
