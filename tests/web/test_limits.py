"""What nobody who can reach the port may use up: connections, memory, time."""

import asyncio
import json
from pathlib import Path

import psutil
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from coderelay.surfaces.web.guard import MOST_BODY_BYTES
from coderelay.surfaces.web.uvicorn_server import HttpConnection
from tests.coder_process import Coder
from tests.house import story
from tests.patience import PATIENCE
from tests.web.web_server import SECRET, UPGRADE, Served, parsed, web_server


class Hasty(HttpConnection):
    request_seconds = 0.5


class Crowded(HttpConnection):
    most_connections = 5


async def _closed(web: Served, *pieces: bytes) -> bytes:
    """What a client reads until the server closes its connection, if it sends these pieces and then waits."""
    reader, writer = await asyncio.open_connection("127.0.0.1", web.port)
    try:
        for each in pieces:
            writer.write(each)
            await writer.drain()
        async with asyncio.timeout(PATIENCE):
            return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


@story
async def test_a_client_that_does_not_finish_its_request_is_left(tmp_path: Path) -> None:
    async with web_server(tmp_path, connection=Hasty) as web:
        head = web.head("GET", "/healthz", None, {"connection": "keep-alive"})
        whole = b'{"secret": "x"}'
        post = web.head("POST", "/api/login", None, {"content-type": "application/json", "content-length": "99"})
        assert await _closed(web) == b""
        assert await _closed(web, head[:-2]) == b""
        assert await _closed(web, *(head[place : place + 1] for place in range(20))) == b""
        assert await _closed(web, post, whole) == b""
        again = await _closed(web, head, head[:10])
        assert parsed(again).status == 200, "the first request was answered; the second never came"


@story
async def test_a_websocket_outlives_the_deadline_of_its_request(tmp_path: Path) -> None:
    async with web_server(tmp_path, connection=Hasty) as web:
        reader, writer = await asyncio.open_connection("127.0.0.1", web.port)
        writer.write(web.head("GET", "/events", SECRET, UPGRADE))
        await reader.readuntil(b"batched=False")
        assert await _closed(web) == b"", "a connection that began later is over"
        writer.write(b"\x81\x82\0\0\0\0hi")  # a text frame whose mask changes nothing
        assert await reader.readexactly(4) == b"\x81\x02hi"
        writer.close()


@story
async def test_too_many_connections_close_the_oldest_that_asks_nothing(tmp_path: Path) -> None:
    async with web_server(tmp_path, connection=Crowded) as web:
        idle = [await asyncio.open_connection("127.0.0.1", web.port) for _ in range(30)]
        assert (await web.get("/api/machine")).status == 200
        async with asyncio.timeout(PATIENCE):
            for reader, _ in idle[:20]:
                assert await _end(reader) == b""
        for _, writer in idle:
            writer.close()


async def _end(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


@story
async def test_large_requests_are_refused_before_they_are_read(tmp_path: Path) -> None:
    async with web_server(tmp_path) as web:
        told = {"content-type": "application/json", "content-length": str(10**12)}
        assert (await web.send(web.head("POST", "/api/title", SECRET, told))).status == 413
        assert (await web.send(web.head("POST", "/api/login", None, told))).status == 413
        chunked = {"content-type": "application/json", "transfer-encoding": "chunked"}
        chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
        endless = await _closed(web, web.head("POST", "/api/login", None, chunked), *[chunk] * 6)
        assert parsed(endless).status == 413
        most = json.dumps({"secret": "x" * (MOST_BODY_BYTES - 14)}).encode()
        assert len(most) == MOST_BODY_BYTES
        assert (await web.post("/api/login", most, token=None)).status == 403, "as large as allowed, and wrong"
        assert (await web.post("/api/login", most + b" ", token=None)).status == 413
        for head in (web.head("GET", "/" + "x" * 400_000), web.head("GET", "/healthz", None, {"x": "x" * 400_000})):
            told_back = await _closed(web, head)
            assert told_back == b"" or parsed(told_back).status == 400


@story
async def test_what_is_no_http_is_answered_shortly_and_closed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with web_server(tmp_path) as web:
        for data in (
            b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
            b"GET\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
            b"GET / HTTP/1.1\r\nbad\x00name: a\r\n\r\n",
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        ):
            answer = await web.send(data)
            assert (answer.status, answer.json) == (400, {"error": "this is no valid HTTP request"}), data
        assert (await web.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).status in (400, 403, 405)
        smuggled = web.head("POST", "/api/login", None, {"transfer-encoding": "chunked", "content-length": "5"})
        assert (await web.send(smuggled + b"0\r\n\r\n")).status in (400, 413, 415)
        assert (await web.handshake(token=SECRET, sec_websocket_key="")).status == 400
        assert (await web.handshake(token=SECRET, sec_websocket_version="8")).status in (400, 426)
    assert caplog.records == [], "nobody can fill the log"


@pytest.mark.parametrize("kind", ["a handshake without a token", "a handshake from another site", "a wrong login"])
def test_refused_clients_leave_nothing_behind(coder: Coder, kind: str) -> None:
    """A thousand of them, fifty at a time: the memory of the server stays as it is."""
    started = coder.start("web", "--no-open", "--port", "0", env={"CODER_TOKEN": SECRET})
    try:
        assert started.process.stdout is not None
        port = int(started.process.stdout.readline().split("/#")[0].rpartition(":")[2])
        process = psutil.Process(started.pid)
        asyncio.run(_flood(port, kind, 300))
        before = process.memory_info().rss
        asyncio.run(_flood(port, kind, 1000))
        assert process.memory_info().rss - before < 4_000_000
        assert process.num_fds() < 60
    finally:
        told = started.kill()
    assert told.err == ""


async def _flood(port: int, kind: str, times: int) -> None:
    body = b'{"secret": "wrong"}'
    lines = {
        "a handshake without a token": "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: coder.v1, bearer.wrong\r\n",
        "a handshake from another site": "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://evil\r\nAuthorization: Bearer {SECRET}\r\n",
        "a wrong login": f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n",
    }[kind]
    start = "POST /api/login" if kind == "a wrong login" else "GET /events"
    request = f"{start} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{lines}\r\n".encode()
    request += body if kind == "a wrong login" else b""

    async def one() -> None:
        async with limit:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request)
            assert parsed(await reader.read()).status in (401, 403, 429)
            writer.close()

    limit = asyncio.Semaphore(50)
    async with asyncio.TaskGroup() as group:
        for _ in range(times):
            group.create_task(one())


@pytest.fixture
def coder(tmp_path: Path, folder: Path) -> Coder:
    return Coder(tmp_path / "home", folder, None)


@story
async def test_a_server_that_ends_tells_its_clients_to_come_again(tmp_path: Path) -> None:
    async with web_server(tmp_path) as web:
        socket = await connect(f"ws://{web.address}/events", additional_headers={"Authorization": f"Bearer {SECRET}"})
        assert await socket.recv() == "batched=False"
        idle = await asyncio.open_connection("127.0.0.1", web.port)
    with pytest.raises(ConnectionClosed) as closed:
        await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012
    assert await _end(idle[0]) == b""
    idle[1].close()


@story
async def test_a_client_that_reads_nothing_does_not_hold_up_the_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    frame = b"\x81\xff" + (1_000_000).to_bytes(8, "big") + bytes(4) + b"x" * 1_000_000
    async with web_server(tmp_path) as web:
        reader, writer = await asyncio.open_connection("127.0.0.1", web.port)
        writer.write(web.head("GET", "/events", SECRET, UPGRADE))
        await reader.readuntil(b"batched=False")
        assert isinstance(writer.transport, asyncio.Transport)
        writer.transport.pause_reading()
        for _ in range(30):
            writer.write(frame)
        assert (await web.get("/healthz")).status == 200
    assert caplog.records == []
    writer.transport.abort()
