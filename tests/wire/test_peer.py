"""The JSON-RPC peer, over real pipes."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from coderelay.wire.messages_and_errors import INVALID_PARAMS, PeerLost, PeerTimeout, RpcError
from coderelay.wire.peer import Peer, PeerRequest, Reply
from coderelay.wire.stream_transport import MessageLineBuffer, StreamTransport
from coderelay.wire.transport import Oversized
from tests.house import story
from tests.patience import PATIENCE

LIMIT = 4096


class Recorder:
    """Answers `echo`, `wait` (until it is cancelled), `stop` (ends by itself when cancelled), `then` and `broken`."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, Any]] = []
        self.peer: Peer | None = None

    def find(self, method: str) -> Callable[[PeerRequest], Awaitable[Any]] | None:
        return getattr(self, f"_{method}", None)

    def notice(self, method: str, params: dict[str, Any]) -> None:
        if method == "wrong":
            raise RpcError(INVALID_PARAMS, "wrong")
        self.heard.append((method, params.get("n")))

    async def _echo(self, request: PeerRequest) -> Any:
        return request.params

    async def _wait(self, request: PeerRequest) -> Any:
        await asyncio.Event().wait()

    async def _stop(self, request: PeerRequest) -> Any:
        stopped = asyncio.Event()
        request.on_cancel = stopped.set
        await stopped.wait()
        return "stopped"

    async def _then(self, request: PeerRequest) -> Any:
        assert self.peer is not None
        peer = self.peer
        return Reply("made", lambda: peer.send_notification("update", {}))

    async def _broken(self, request: PeerRequest) -> Any:
        raise ZeroDivisionError


class Line:
    """The other end: raw lines in and out."""

    def __init__(self, writes: int, reads: int, peer: Peer, handler: Recorder) -> None:
        self._writes = writes
        self._out = os.fdopen(reads, "rb")
        self.peer = peer
        self.handler = handler

    def write(self, data: bytes) -> None:
        os.write(self._writes, data)

    def send(self, *messages: dict[str, Any]) -> None:
        """All in one write."""
        self.write(b"".join(json.dumps({"jsonrpc": "2.0", **each}).encode() + b"\n" for each in messages))

    async def read(self) -> Any:
        async with asyncio.timeout(PATIENCE):
            said = json.loads(await asyncio.to_thread(self._out.readline))
        assert said.pop("jsonrpc") == "2.0"
        return said

    def hang_up(self) -> None:
        if self._writes >= 0:
            os.close(self._writes)
            self._writes = -1

    def close(self) -> None:
        self.hang_up()
        self._out.close()


@asynccontextmanager
async def line() -> AsyncGenerator[Line]:
    (theirs, writes), (reads, ours) = os.pipe(), os.pipe()
    handler = Recorder()
    peer = handler.peer = Peer(StreamTransport(theirs, ours, LIMIT), handler)
    serving = asyncio.create_task(peer.serve())
    end = Line(writes, reads, peer, handler)
    try:
        yield end
        end.hang_up()
        async with asyncio.timeout(PATIENCE):
            await serving
    finally:
        serving.cancel()
        end.close()
        os.close(theirs)
        os.close(ours)


@story
async def test_a46_fifty_messages_in_one_write_are_all_taken_in_order() -> None:
    async with line() as end:
        numbers = list(range(50))
        end.send(*({"method": "told", "params": {"n": n}} for n in numbers))
        end.send(*({"id": n, "method": "echo", "params": {"n": n}} for n in numbers))
        assert [await end.read() for _ in numbers] == [{"id": n, "result": {"n": n}} for n in numbers]
        assert end.handler.heard == [("told", n) for n in numbers]


WRONG: list[tuple[bytes, int, object]] = [
    (b"{", -32700, None),
    (b"hello", -32700, None),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"n": NaN}}', -32700, None),
    (b"\xff\xfe", -32700, None),
    (b"[" * 3000, -32700, None),
    (b"x" * (LIMIT + 1), -32600, None),
    (b"[]", -32600, None),
    (b"3", -32600, None),
    (b'{"id": 1, "method": "echo"}', -32600, 1),
    (b'{"jsonrpc": "1.0", "id": "a", "method": "echo"}', -32600, "a"),
    (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600, 1),
    (b'{"jsonrpc": "2.0", "id": 1}', -32600, 1),
    (b'{"jsonrpc": "2.0", "id": [1], "method": "echo"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": true, "method": "echo"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": "' + b"i" * 300 + b'", "method": "echo"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "nothing"}', -32601, 1),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "echo", "params": [1]}', -32602, 1),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "broken"}', -32603, 1),
]


@pytest.mark.parametrize(("data", "code", "key"), WRONG)
def test_what_arrives_wrong_gets_its_code_and_the_connection_stays(data: bytes, code: int, key: object) -> None:
    @story
    async def run() -> None:
        async with line() as end:
            end.write(data + b"\n")
            said = await end.read()
            assert (said["id"], said["error"]["code"]) == (key, code)
            assert set(said["error"]) == {"code", "message"}
            end.send({"id": 2, "method": "echo"})
            assert await end.read() == {"id": 2, "result": {}}

    run()


@story
async def test_a_notification_is_never_answered() -> None:
    async with line() as end:
        end.send({"method": "wrong"}, {"method": "told", "params": [1]}, {"method": "$/cancel_request", "params": 3})
        end.send({"id": 99, "result": {}}, {"id": 1, "method": "echo"})
        assert await end.read() == {"id": 1, "result": {}}


@story
async def test_half_a_character_of_a_javascript_program_is_no_parse_error() -> None:
    async with line() as end:
        end.write(b'{"jsonrpc": "2.0", "id": 1, "method": "echo", "params": {"n": "a\\ud83d"}}\n')
        assert await end.read() == {"id": 1, "result": {"n": "a\ufffd"}}


@story
async def test_two_open_requests_cannot_have_one_id() -> None:
    async with line() as end:
        end.send({"id": 1, "method": "stop"}, {"id": 1, "method": "echo"})
        assert (await end.read())["error"]["code"] == -32600
        end.send({"method": "$/cancel_request", "params": {"requestId": 1}})
        assert await end.read() == {"id": 1, "result": "stopped"}


@story
async def test_a_request_that_is_given_up_in_the_same_write_is_still_answered() -> None:
    async with line() as end:
        cancel = {"method": "$/cancel_request", "params": {"requestId": 1}}
        end.send({"id": 1, "method": "wait"}, cancel)
        assert (await end.read())["error"]["code"] == -32800
        end.send({"id": 1, "method": "stop"}, cancel)
        assert await end.read() == {"id": 1, "result": "stopped"}


@story
async def test_requests_without_an_id_of_their_own_are_limited_too() -> None:
    """A request with the id null cannot be told from another, but each of them takes memory."""
    async with line() as end:
        end.send(*({"id": None, "method": "wait"} for _ in range(1001)))
        assert await end.read() == {
            "id": None,
            "error": {"code": -32603, "message": "more than 1000 requests are not answered yet"},
        }


@story
async def test_what_follows_a_reply_is_sent_after_it() -> None:
    async with line() as end:
        end.send({"id": 1, "method": "then"})
        assert await end.read() == {"id": 1, "result": "made"}
        assert await end.read() == {"method": "update", "params": {}}


@story
async def test_an_answer_to_a_request_that_was_given_up_is_ignored() -> None:
    async with line() as end:
        asking = asyncio.create_task(end.peer.send_request("permit", {}))
        assert await end.read() == {"id": 1, "method": "permit", "params": {}}
        asking.cancel()
        assert await end.read() == {"method": "$/cancel_request", "params": {"requestId": 1}}
        again = asyncio.create_task(end.peer.send_request("permit", {}))
        assert (await end.read())["id"] == 2
        end.send({"id": 1, "result": "late"}, {"id": True, "result": "odd"}, {"id": 2, "result": "in time"})
        assert await again == "in time"


@story
async def test_an_error_and_a_silence_of_the_other_side() -> None:
    async with line() as end:
        asking = asyncio.create_task(end.peer.send_request("permit", {}))
        await end.read()
        end.send({"id": 1, "error": {"code": -32601, "message": "no", "data": None}})
        with pytest.raises(RpcError) as refused:
            await asking
        assert refused.value.fields == {"code": -32601, "message": "no"}
        with pytest.raises(PeerTimeout):
            await end.peer.send_request("permit", {}, asyncio.timeout(0.01))
        assert (await end.read(), await end.read())[1]["method"] == "$/cancel_request"


@story
async def test_who_waits_is_told_when_the_other_side_leaves() -> None:
    async with line() as end:
        asking = asyncio.create_task(end.peer.send_request("permit", {}))
        await end.read()
        end.send({"id": 1, "method": "wait"})
        end.hang_up()
        with pytest.raises(PeerLost):
            await asking
        with pytest.raises(PeerLost):
            await end.peer.send_request("permit", {})


@settings(max_examples=200)
@given(some.lists(some.binary(max_size=40)))
def test_lines_are_the_same_in_whatever_pieces_they_arrive(pieces: list[bytes]) -> None:
    buffer = MessageLineBuffer(60)
    found = [each for piece in pieces for each in buffer.take(piece)] + buffer.finish()
    lines = [each for each in b"".join(pieces).split(b"\n") if each.strip() or len(each) > 60]
    assert found == [each if len(each) <= 60 else Oversized() for each in lines]
