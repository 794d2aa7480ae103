"""A client that does not read is dropped with the place to go on from, and stalls nobody else."""

import asyncio
import base64
import json
import os
import socket
from pathlib import Path

import pytest

from coderelay.protocol.ids import SessionId
from coderelay.surfaces.web.client_send_queue import LAGGING, MOST_UNSENT, ClientSendQueue
from coderelay.surfaces.web.session_frames import Frame
from tests.house import story
from tests.model_server import by_history, says
from tests.patience import PATIENCE
from tests.web.browser import TOKEN, Site, web

ONE = SessionId("one")


class Socket:
    """Takes what is sent once `open` is set."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.closed: list[tuple[int, str | None]] = []
        self.open = asyncio.Event()
        self.begun = asyncio.Event()

    async def send_text(self, data: str) -> None:
        self.begun.set()
        await self.open.wait()
        self.sent.append(data)

    async def close(self, code: int = 1000, reason: str | None = None) -> None:
        self.closed.append((code, reason))


def frame(seq: int, size: int, *, live: bool = False) -> Frame:
    return Frame(f"{seq} ".ljust(size, "x"), ONE, seq, live=live)


@story
async def test_live_pieces_are_dropped_first() -> None:
    taken = Socket()
    connection = ClientSendQueue(taken, batched=False)
    for number in range(20):
        connection.put(frame(1, MOST_UNSENT // 10, live=True))
        connection.put(frame(number + 1, MOST_UNSENT // 50))
    assert not connection.lagging.is_set()
    taken.open.set()
    sending = asyncio.create_task(connection.send_all())
    await connection.drained()
    sending.cancel()
    durable = [text for text in taken.sent if len(text) == MOST_UNSENT // 50]
    assert [text.split()[0] for text in durable] == [str(number + 1) for number in range(20)]


@story
async def test_what_is_too_much_names_where_to_go_on() -> None:
    taken = Socket()
    connection = ClientSendQueue(taken, batched=False)
    connection.put(frame(7, 10))
    taken.open.set()
    sending = asyncio.create_task(connection.send_all())
    await connection.drained()
    taken.open.clear()
    for number in range(8, 40):
        connection.put(frame(number, MOST_UNSENT // 10))
    assert connection.lagging.is_set()
    sending.cancel()
    await connection.close_lagging()
    assert taken.closed == [(LAGGING, '{"one":7}')]


@story
async def test_a_large_frame_alone_is_not_too_much() -> None:
    connection = ClientSendQueue(Socket(), batched=False)
    connection.put(frame(1, MOST_UNSENT * 3))
    assert not connection.lagging.is_set()


@story
async def test_what_a_client_asked_for_is_not_too_much() -> None:
    """A long replay must not end the connection with the next event that happens."""
    connection = ClientSendQueue(Socket(), batched=False)
    connection.pause_session(ONE)
    connection.release(ONE, [frame(number, MOST_UNSENT // 2) for number in range(1, 9)], 8)
    connection.put(frame(9, 100))
    assert not connection.lagging.is_set()


@story
async def test_dropped_pieces_do_not_let_more_pile_up_later() -> None:
    """Also if they are dropped while something is on its way."""
    taken = Socket()
    connection = ClientSendQueue(taken, batched=False)
    sending = asyncio.create_task(connection.send_all())
    for _ in range(5):
        taken.open.clear()
        connection.put(frame(1, MOST_UNSENT // 2))
        await asyncio.sleep(0)  # it is on its way
        connection.put(frame(1, MOST_UNSENT // 4, live=True))
        connection.put(frame(2, MOST_UNSENT // 3))  # drops the piece
        taken.open.set()
        await connection.drained()
    taken.open.clear()
    for _ in range(3):
        connection.put(frame(3, MOST_UNSENT // 2))
    assert connection.lagging.is_set()
    sending.cancel()


@story
async def test_every_session_that_lost_something_is_named() -> None:
    """What was on its way in one batch, what waited, and what came too late to wait."""
    taken = Socket()
    connection = ClientSendQueue(taken, batched=True)
    names = [SessionId(name) for name in ("a", "b", "c", "d")]
    sending = asyncio.create_task(connection.send_all())
    connection.put(Frame("1", names[0], 5))
    connection.put(Frame("2", names[1], 7))
    await taken.begun.wait()
    connection.put(Frame("x" * MOST_UNSENT, names[2], 9))
    connection.put(Frame("x" * MOST_UNSENT, names[1], 8))
    connection.put(Frame("3", names[3], 3))
    assert connection.lagging.is_set()
    sending.cancel()
    await connection.close_lagging()
    assert taken.closed == [(LAGGING, '{"a":4,"b":6,"c":8,"d":2}')]


@pytest.mark.parametrize("reads_again", [True, False])
@story
async def test_a_client_that_does_not_read_stalls_nobody(tmp_path: Path, reads_again: bool) -> None:
    """Over a real socket: its buffers fill up, it is dropped, and another client sees everything."""
    text = "x" * 400_000
    async with web(tmp_path, by_history(lambda _: says(text))) as site, site.client() as page:
        reader, writer = await _deaf(site)
        await page.send("session.start", title="t", prompt="talk", mode="default")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        while len(site.broadcast.connections) == 2:
            await page.send("session.continue", sessionId=session, prompt="more")
            await page.until("session.status", status="completed")
        if reads_again:
            assert list(await _resume_points(reader)) == [session]
        writer.close()
        listed = await page.ask("session.list", "session.list")
        assert listed["sessions"][0]["status"] == "completed"


async def _resume_points(reader: asyncio.StreamReader) -> dict[str, int]:
    """The reason that the last frame closes the connection with."""
    read = b""
    async with asyncio.timeout(PATIENCE):
        while LAGGING.to_bytes(2, "big") + b"{" not in read or not read.endswith(b"}"):
            read = read[-1024:] + await reader.read(65536)
    return json.loads(read[read.rindex(LAGGING.to_bytes(2, "big")) + 2 :])


async def _deaf(site: Site) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A WebSocket whose other end does not read."""
    connected = socket.create_connection(("127.0.0.1", site.port))
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    reader, writer = await asyncio.open_connection(sock=connected, limit=1024)
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [
        "GET /events HTTP/1.1",
        f"Host: 127.0.0.1:{site.port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key}",
        "Sec-WebSocket-Version: 13",
        f"Authorization: Bearer {TOKEN}",
    ]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    await writer.drain()
    assert b"101" in await reader.readuntil(b"\r\n\r\n")
    return reader, writer


@story
async def test_a_client_that_leaves_is_forgotten(tmp_path: Path) -> None:
    async with web(tmp_path, by_history(lambda _: says("hello"))) as site, site.client() as page:
        async with site.client() as other:
            await other.send("session.list")
            await other.until("session.list")
        _, torn = await _deaf(site)
        torn.transport.abort()
        await page.send("session.start", title="t", prompt="hi")
        await page.until("session.status", status="completed")
        while len(site.broadcast.connections) > 1:
            await page.ask("session.list", "session.list")
