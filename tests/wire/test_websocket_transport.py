"""The transport over a WebSocket, with a socket that a test holds in its hands."""

import asyncio

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedOK
from websockets.utils import accept_key

from coderelay.surfaces.editor.websocket_transport import READY, WebSocketTransport
from coderelay.wire.transport import Oversized
from tests.house import story
from tests.patience import PATIENCE


class Socket:
    """`sent` are the frames that have left; each waits for `gate`."""

    def __init__(self, *frames: str | bytes) -> None:
        self.frames: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        for each in frames:
            self.frames.put_nowait(each)
        self.sent: asyncio.Queue[str] = asyncio.Queue()
        self.pings: asyncio.Queue[asyncio.Future[float]] = asyncio.Queue()
        self.gate = asyncio.Event()
        self.gate.set()
        self.is_closed = False

    async def recv(self) -> str | bytes:
        frame = await self.frames.get()
        if frame is None:
            raise ConnectionClosedOK(None, None)
        return frame

    async def send(self, message: str) -> None:
        await self.gate.wait()
        self.sent.put_nowait(message)

    async def ping(self) -> asyncio.Future[float]:
        self.pings.put_nowait(pong := asyncio.get_running_loop().create_future())
        return pong

    async def close(self) -> None:
        self.is_closed = True


def never(one: bytes, other: bytes) -> bytes | None:
    return None


def joined(one: bytes, other: bytes) -> bytes | None:
    return one + other if one[:1] == other[:1] else None


@story
async def test_a_client_that_says_nothing_is_told_that_we_are_ready() -> None:
    socket = Socket()
    transport = WebSocketTransport(socket, silence=0.0, pause=0.0, join=never)
    reading = asyncio.ensure_future(transport.receive())
    async with asyncio.timeout(PATIENCE):
        assert await socket.sent.get() == "//ready"
        assert transport.was_told_ready
        socket.frames.put_nowait('{"a":1}')
        assert await reading == b'{"a":1}'
    await transport.close()
    assert socket.is_closed


@story
async def test_a_client_that_speaks_first_is_told_nothing() -> None:
    socket = Socket("//hello", b"binary", "  ", "one", "two")
    transport = WebSocketTransport(socket, silence=PATIENCE, pause=0.0, join=never)
    assert [await transport.receive(), await transport.receive()] == [b"one", b"two"]
    socket.frames.put_nowait(None)
    assert await transport.receive() is None
    assert not transport.was_told_ready
    await transport.close()
    assert socket.sent.empty()


@story
async def test_what_waits_is_joined_and_arrives_in_order() -> None:
    socket = Socket()
    transport = WebSocketTransport(socket, silence=PATIENCE, pause=0.0, join=joined)
    socket.gate.clear()
    for each in (b"a1", b"b1", b"b2", b"c1", b"b3"):
        transport.send(each)
    socket.gate.set()
    await transport.close()
    assert [socket.sent.get_nowait() for _ in range(socket.sent.qsize())] == ["a1", "b1b2", "c1", "b3"]


@story
async def test_a_client_that_loses_frames_gets_the_next_one_when_it_has_read_the_last() -> None:
    """A-46: its pong says so."""
    socket = Socket()
    transport = WebSocketTransport(socket, silence=PATIENCE, pause=0.001, join=never)
    transport.send(b"one")
    transport.send(b"two")
    async with asyncio.timeout(PATIENCE):
        pong = await socket.pings.get()
        assert socket.sent.get_nowait() == "one"
        assert socket.sent.empty()
        pong.set_result(0.0)
        (await socket.pings.get()).set_result(0.0)
        assert socket.sent.get_nowait() == "two"
        await transport.close()


@story
async def test_a_client_that_does_not_read_is_waited_for() -> None:
    socket = Socket()
    transport = WebSocketTransport(socket, silence=PATIENCE, pause=0.0, join=never)
    socket.gate.clear()
    for _ in range(3):
        transport.send(b"x" * (1 << 20))
    waiting = asyncio.ensure_future(transport.drained())
    done, _ = await asyncio.wait([waiting], timeout=0.01)
    assert not done
    socket.gate.set()
    async with asyncio.timeout(PATIENCE):
        await waiting
    await transport.close()


@story
async def test_a46_no_frame_is_lost_that_arrives_together_with_the_handshake() -> None:
    """The ready line and fifty messages are in the same write as the answer to the handshake."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        key = next(line.split(": ")[1] for line in request.splitlines() if line.startswith("Sec-WebSocket-Key"))
        lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
        head = "\r\n".join([*lines, f"Sec-WebSocket-Accept: {accept_key(key)}", "", ""])
        frames = [READY, *(f'{{"n":{n}}}' for n in range(50))]
        writer.write(head.encode() + b"".join(b"\x81" + bytes([len(each)]) + each.encode() for each in frames))
        writer.write(b"\x88\x00")
        await writer.drain()
        await reader.read(100)  # the frame that closes it from the other end
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with asyncio.timeout(PATIENCE), connect(f"ws://127.0.0.1:{port}") as socket:
            transport = WebSocketTransport(socket, silence=PATIENCE, pause=0.0, join=never)
            taken: list[bytes | Oversized] = []
            assert await transport.deliver(taken.append) == "closed the connection"
            await transport.close()
    assert taken == [f'{{"n":{n}}}'.encode() for n in range(50)]
