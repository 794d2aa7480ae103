"""The HTTP client against servers that say exactly the bytes given here."""

import asyncio
import socket
from collections.abc import Generator
from contextlib import closing, contextmanager

import pytest

from coderelay.http.model_server_client import HttpClient
from coderelay.protocol.errors import ModelFailed
from tests.model_server import hangs, model_server, says, script
from tests.models.raw_server import (
    OK,
    RawConnection,
    Talk,
    answers,
    client,
    fetch,
    fetch_from,
    in_loop,
    keeps_answering,
    raw_server,
    settle,
)

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        pytest.param(OK, b"ok", id="a length"),
        pytest.param(HEAD + b"Content-LENGTH:2\r\n\r\nok", b"ok", id="a length in odd spelling"),
        pytest.param(HEAD + b"content-length: 2\r\ncontent-length: 2\r\n\r\nok", b"ok", id="a repeated length"),
        pytest.param(HEAD + b"content-length: 0\r\n\r\n", b"", id="nothing"),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\n", b"", id="a status without a body"),
        pytest.param(HEAD + b"\r\nuntil the end", b"until the end", id="until the connection ends"),
        pytest.param(b"HTTP/1.0 200 OK\r\n\r\nold", b"old", id="HTTP/1.0"),
        pytest.param(b"HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok", b"ok", id="a status without words"),
        pytest.param(b"HTTP/1.1 200 OK\ncontent-length: 2\n\nok", b"ok", id="bare line feeds"),
        pytest.param(HEAD + b"nonsense\r\ncontent-length: 2\r\n\r\nok", b"ok", id="a header without a colon"),
        pytest.param(HEAD + b"x-name: J\xfcrgen\r\ncontent-length: 2\r\n\r\nok", b"ok", id="a header in latin-1"),
        pytest.param(CHUNKED + b"2\r\nok\r\n0\r\n\r\n", b"ok", id="a chunk"),
        pytest.param(
            CHUNKED + b"1;a=b\r\no\r\n1 ; c\r\nk\r\n0\r\nx-sum: 1\r\n\r\n", b"ok", id="extensions, trailers"
        ),
        pytest.param(
            HEAD + b"content-length: 9\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            b"ok",
            id="chunks count more than a length",
        ),
        pytest.param(HEAD + b"transfer-encoding: identity\r\ncontent-length: 2\r\n\r\nok", b"ok", id="identity"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n" + OK, b"ok", id="an interim answer"),
        pytest.param(
            b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" + OK,
            b"ok",
            id="several interim answers",
        ),
    ],
)
@in_loop
async def test_an_answer_is_read_whole_and_byte_by_byte(answer: bytes, body: bytes) -> None:
    async with raw_server(answers(answer)) as server:
        assert await fetch_from(server.url) == body
    async with raw_server(byte_by_byte(answer)) as server:
        assert await fetch_from(server.url) == body


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        pytest.param(b"", "closed the connection without an answer", id="nothing"),
        pytest.param(b"HTTP/1.1 2", "broke off in the head", id="half a status"),
        pytest.param(HEAD + b"content-le", "broke off in the head", id="half a head"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n", "broke off in the head", id="only an interim answer"),
        pytest.param(b"HTTP/1.1 102 Processing\r\n\r\n" * 5_000, "more than 64 KiB", id="endless interim answers"),
        pytest.param(HEAD + b"content-length: 9\r\n\r\nhal", "broke off mid-answer", id="half a body"),
        pytest.param(CHUNKED, "broke off mid-answer", id="no chunk"),
        pytest.param(CHUNKED + b"5\r\nhal", "broke off mid-answer", id="half a chunk"),
        pytest.param(CHUNKED + b"2\r\nok\r\n", "broke off mid-answer", id="no last chunk"),
        pytest.param(CHUNKED + b"2\r\nok\r\n0\r\nx-su", "broke off mid-answer", id="half a trailer"),
        pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n", "does not speak HTTP/1.1", id="another protocol"),
        pytest.param(b"HTTP/1.1 OK\r\n\r\n", "does not speak HTTP/1.1", id="no status"),
        pytest.param(b"HTTP/1.1 20 OK\r\n\r\n", "does not speak HTTP/1.1", id="a short status"),
        pytest.param(b"HTTP/2 200\r\n\r\n", "does not speak HTTP/1.1", id="HTTP/2"),
        pytest.param(
            b"HTTP/1.1 101 Switching\r\n\r\n", "changed to another protocol", id="another protocol, politely"
        ),
        pytest.param(HEAD + b"x: y\r\n" * 20_000, "more than 64 KiB of headers", id="an oversized head"),
        pytest.param(HEAD + b"x: " + b"y" * 100_000, "more than 64 KiB of headers", id="an oversized header"),
        pytest.param(CHUNKED + b"-5\r\nhello\r\n", "a chunk without a size", id="a negative chunk"),
        pytest.param(CHUNKED + b"5\r\nhello, world\r\n", "longer than it says", id="a chunk too long"),
        pytest.param(HEAD + b"content-length: -1\r\n\r\n", "without a usable length", id="a negative length"),
        pytest.param(
            HEAD + b"content-length: 1\r\ncontent-length: 2\r\n\r\nok", "without a usable", id="two lengths"
        ),
        pytest.param(HEAD + b"content-encoding: gzip\r\n\r\n\x1f\x8b", "as gzip, which it was asked not", id="gzip"),
        pytest.param(HEAD + b"transfer-encoding: gzip, chunked\r\n\r\n2\r\nok", "as gzip, chunked", id="gzip chunks"),
    ],
)
@in_loop
async def test_a_broken_answer_is_a_failure_that_names_the_server(answer: bytes, what: str) -> None:
    async with raw_server(answers(answer)) as server:
        with pytest.raises(ModelFailed, match=what) as failure:
            await fetch_from(server.url)
        assert failure.value.message.startswith(f"the model server at 127.0.0.1:{server.port} ")
        assert failure.value.retryable is ("gzip" not in what)
        assert failure.value.status is None


@in_loop
async def test_a_server_that_waits_after_a_foreign_greeting_is_found_out_at_once() -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.send(b"SSH-2.0-")
        await connection.left()

    async with raw_server(talk) as server:
        with pytest.raises(ModelFailed, match=r"does not speak HTTP/1\.1"):
            await fetch_from(server.url)
        await server.all_left()


@in_loop
async def test_a_huge_answer_waits_for_its_reader() -> None:
    parts, part = 512, b"10000\r\n" + b"x" * 65536 + b"\r\n"
    sent = 0

    async def talk(connection: RawConnection) -> None:
        nonlocal sent
        await connection.request()
        await connection.send(CHUNKED)
        for _ in range(parts):
            await connection.send(part)
            sent += 1
        await connection.send(b"0\r\n\r\n")

    async with (
        raw_server(talk) as server,
        client(server.url) as opened,
        opened.post("/chat", {}, b"") as response,
    ):
        for _ in range(100):  # as often as would do to take it all in
            await settle()
        assert sent < parts
        assert len(await response.read(1 << 30)) == parts * 65536


@pytest.mark.quick
@in_loop
async def test_one_connection_carries_one_request_after_the_other() -> None:
    async with raw_server(keeps_answering()) as server:
        async with client(server.url) as opened:
            assert [await fetch(opened) for _ in range(3)] == [b"ok"] * 3
            assert server.connections == 1
        await server.all_left()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(HEAD + b"connection: close\r\ncontent-length: 2\r\n\r\nok", id="close"),
        pytest.param(HEAD + b"Connection: keep-alive, Close\r\ncontent-length: 2\r\n\r\nok", id="close in a list"),
        pytest.param(b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok", id="HTTP/1.0"),
        pytest.param(OK + b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n", id="more than the answer"),
        pytest.param(CHUNKED + b"2\r\nok\r\n0\r\n\r\nmore", id="more than the last chunk"),
    ],
)
@in_loop
async def test_a_connection_that_cannot_go_on_is_closed(answer: bytes) -> None:
    async with raw_server(keeps_answering(answer)) as server, client(server.url) as opened:
        assert [await fetch(opened), await fetch(opened)] == [b"ok", b"ok"]
        await server.all_left()
        assert server.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 2\r\n\r\nok", id="HTTP/1.0"),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\n", id="a status without a body"),
        pytest.param(HEAD + b"content-length: 0\r\n\r\n", id="nothing"),
        pytest.param(CHUNKED + b"2\r\nok\r\n0\r\nx-sum: 1\r\n\r\n", id="trailers"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n" + OK, id="an interim answer"),
    ],
)
@in_loop
async def test_a_connection_that_can_go_on_is_kept(answer: bytes) -> None:
    async with raw_server(keeps_answering(answer)) as server, client(server.url) as opened:
        assert await fetch(opened) == await fetch(opened)
        assert server.connections == 1


@in_loop
async def test_an_answer_left_unread_leaves_no_connection_behind() -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.request()
        await connection.send(CHUNKED + b"2\r\nok\r\n")
        await connection.left()

    async with raw_server(talk) as server, client(server.url) as opened:
        async with opened.post("/chat", {}, b"") as response:
            assert response.status == 200
        await server.all_left()
        async with opened.post("/chat", {}, b"") as response:
            assert await response.receive() == b"ok"
        await server.all_left()
        assert server.connections == 2


@in_loop
async def test_two_requests_at_a_time_leave_one_connection() -> None:
    async with raw_server(keeps_answering()) as server, client(server.url) as opened:
        assert await asyncio.gather(fetch(opened), fetch(opened)) == [b"ok", b"ok"]
        await server.all_left(but=1)
        assert await fetch(opened) == b"ok"
        assert server.connections == 2


@in_loop
async def test_a_connection_that_lay_idle_for_long_is_not_trusted() -> None:
    async with raw_server(keeps_answering()) as server, client(server.url, keep_seconds=0.0) as opened:
        assert [await fetch(opened), await fetch(opened)] == [b"ok", b"ok"]
        assert server.connections == 2


@pytest.mark.quick
@in_loop
async def test_a_server_that_closed_an_idle_connection_is_asked_again() -> None:
    async with raw_server(answers(OK)) as server, client(server.url) as opened:
        assert await fetch(opened) == b"ok"
        await server.all_left()  # the client may have noticed, or not yet
        assert await fetch(opened) == b"ok"
        assert server.connections == 2


@in_loop
async def test_a_server_that_closes_as_the_request_comes_is_asked_again_once() -> None:
    async def talk(connection: RawConnection) -> None:
        while await connection.request():
            if connection.number == 2 or server.requests:
                return  # without a byte
            server.requests.append(b"answered")
            await connection.send(OK)

    async with raw_server(talk) as server, client(server.url) as opened:
        assert await fetch(opened) == b"ok"
        with pytest.raises(ModelFailed, match="closed the connection without an answer"):
            await fetch(opened)
        assert server.connections == 2


@pytest.mark.parametrize("begun", [b"HTTP/1.1 2", b"HTTP/1.1 100 Continue\r\n\r\n"])
@in_loop
async def test_a_request_is_not_repeated_once_a_byte_of_its_answer_came(begun: bytes) -> None:
    async with raw_server(answers(OK, begun)) as server, client(server.url) as opened:
        assert await fetch(opened) == b"ok"
        with pytest.raises(ModelFailed, match="broke off in the head"):
            await fetch(opened)
        assert server.connections == 1


@in_loop
async def test_what_a_server_says_on_an_idle_connection_is_not_an_answer() -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.request()
        await connection.send(OK)
        if connection.number == 1:
            await idle.wait()
            await connection.send(b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 4\r\n\r\nlate")
        await connection.left()

    idle = asyncio.Event()
    async with raw_server(talk) as server, client(server.url) as opened:
        assert await fetch(opened) == b"ok"
        idle.set()
        await settle()
        assert await fetch(opened) == b"ok"
        assert server.connections == 2


@in_loop
async def test_an_answer_before_the_request_was_all_sent_is_heard() -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.reader.readuntil(b"\r\n\r\n")
        await connection.send(b"HTTP/1.1 413 Too Large\r\ncontent-length: 4\r\n\r\nlong")
        if connection.number == 1:
            await gone.wait()  # reads no more of it
        await connection.left()

    gone = asyncio.Event()
    async with raw_server(talk) as server, client(server.url) as opened:
        async with opened.post("/chat", {}, b"x" * (32 << 20)) as response:
            assert (response.status, await response.read(100)) == (413, b"long")
        gone.set()
        await server.all_left()
        assert await fetch(opened) == b"long"
        assert server.connections == 2


@in_loop
async def test_a_server_that_has_said_all_may_still_listen_to_the_end() -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.reader.readuntil(b"\r\n\r\n")
        await connection.send(b"HTTP/1.1 413 Too Large\r\ncontent-length: 4\r\n\r\nlong")
        connection.writer.write_eof()
        await connection.left()

    async with (
        raw_server(talk) as server,
        client(server.url) as opened,
        opened.post("/chat", {}, b"x" * (16 << 20)) as response,
    ):
        assert (response.status, await response.read(100)) == (413, b"long")
        await server.all_left()  # the connection has ended by itself, with everything sent
        await settle()


@in_loop
async def test_reading_stops_at_the_limit() -> None:
    async with raw_server(answers(HEAD + b"\r\n" + b"x" * 500_000)) as server, client(server.url) as opened:
        async with opened.post("/chat", {}, b"") as response:
            assert await response.read(1000) == b"x" * 1000
        await server.all_left()


@in_loop
async def test_nobody_listening_is_a_failure_that_says_so() -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(ModelFailed) as failure:
            await fetch_from(f"http://user:secret@127.0.0.1:{port}/v1")
    assert failure.value.message == f"the model server at 127.0.0.1:{port} cannot be reached: Connection refused"
    assert failure.value.retryable
    assert failure.value.is_off


@pytest.mark.parametrize("host", ["nobody.invalid", "x" * 70 + ".invalid", "a..invalid"])
@in_loop
async def test_an_unknown_host_is_a_failure_that_says_so(host: str) -> None:
    with pytest.raises(ModelFailed, match=f"the model server at {host} cannot be reached: ") as failure:
        await fetch_from(f"http://{host}/v1")
    assert failure.value.retryable


@in_loop
async def test_a_name_with_a_dead_address_is_reached_at_its_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def addresses(*_: object, **__: object) -> list[object]:
        return [(0, 0, 0, "", (host, 0)) for host in ("127.0.0.2", "127.0.0.1")]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", addresses)
    async with raw_server(answers(OK)) as server:
        assert await fetch_from(f"http://model.test:{server.port}") == b"ok"
    with pytest.raises(ModelFailed, match="cannot be reached: Connection refused"):
        await fetch_from(f"http://model.test:{server.port}")


@in_loop
async def test_a_connection_that_is_not_accepted_in_time_is_given_up() -> None:
    with _full_queue() as port:
        with pytest.raises(ModelFailed, match=r"did not accept a connection within 0\.05 s") as failure:
            await fetch_from(f"http://127.0.0.1:{port}", connect_seconds=0.05)
        assert failure.value.retryable


@pytest.mark.parametrize("pieces", [0, 2])
@in_loop
async def test_a_server_that_falls_silent_is_given_up(pieces: int) -> None:
    key = {"authorization": "Bearer key"}
    body = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'
    async with model_server(script(hangs(says("one two three"), pieces))) as server:
        async with client(server.base_url, idle_seconds=0.05) as opened:
            with pytest.raises(ModelFailed, match=r"was silent for 0\.05 s") as failure:
                async with opened.post("/chat/completions", key, body) as response:
                    await response.read(1 << 20)
        assert failure.value.retryable
        assert server.violations == []


@in_loop
async def test_a_server_that_never_answers_is_given_up() -> None:
    async with raw_server(RawConnection.left) as server:
        with pytest.raises(ModelFailed, match=r"was silent for 0\.05 s"):
            await fetch_from(server.url, idle_seconds=0.05)
        await server.all_left()


async def _silent(connection: RawConnection) -> None:
    await connection.request()
    await connection.left()


async def _half(connection: RawConnection) -> None:
    await connection.request()
    await connection.send(HEAD + b"content-length: 9\r\n\r\nhal")
    await connection.left()


async def _half_head(connection: RawConnection) -> None:
    await connection.request()
    await connection.send(b"HTTP/1.1 200 O")
    await connection.left()


@pytest.mark.parametrize(
    ("talk", "url"),
    [
        pytest.param(_silent, "http://127.0.0.1:{}", id="before the head"),
        pytest.param(_half_head, "http://127.0.0.1:{}", id="in the head"),
        pytest.param(_half, "http://127.0.0.1:{}", id="in the body"),
        pytest.param(_silent, "https://127.0.0.1:{}", id="in the handshake"),
    ],
)
@in_loop
async def test_cancelling_closes_the_connection(talk: Talk, url: str) -> None:
    arrived = asyncio.Event()

    async def watched(connection: RawConnection) -> None:
        arrived.set()
        await talk(connection)

    async with raw_server(watched) as server, client(url.format(server.port)) as opened:
        asking = asyncio.create_task(fetch(opened))
        await arrived.wait()
        await settle()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await server.all_left()


@in_loop
async def test_cancelling_while_connecting_leaves_nothing_behind() -> None:
    with _full_queue() as port:
        async with client(f"http://127.0.0.1:{port}") as opened:
            asking = asyncio.create_task(fetch(opened))
            await settle()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking


@in_loop
async def test_a_reset_in_the_middle_is_a_failure_like_any_other_end() -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.request()
        await connection.send(HEAD + b"content-length: 9\r\n\r\nhal")
        connection.writer.transport.abort()

    async with raw_server(talk) as server:
        with pytest.raises(ModelFailed, match="broke off mid-answer"):
            await fetch_from(server.url)


@in_loop
async def test_finishing_reads_the_end_or_gives_up() -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.request()
        await connection.send(CHUNKED + b"2\r\nok\r\n")
        if connection.number == 1:
            await connection.send(b"0\r\n\r\n")
        await connection.left()

    async with raw_server(talk) as server, client(server.url, keep_seconds=0.0) as opened:
        async with opened.post("/chat", {}, b"") as response:
            await response.finish(10.0)
            assert response.leaves_wire_usable
        async with opened.post("/chat", {}, b"") as response:
            await response.finish(0.01)
            assert not response.leaves_wire_usable
        await opened.close()
        await server.all_left()


@pytest.mark.parametrize(
    ("base", "line", "host"),
    [
        ("http://127.0.0.1:{}", b"POST /chat HTTP/1.1", b"127.0.0.1:{}"),
        ("http://127.0.0.1:{}/", b"POST /chat HTTP/1.1", b"127.0.0.1:{}"),
        ("http://127.0.0.1:{}/v1", b"POST /v1/chat HTTP/1.1", b"127.0.0.1:{}"),
        ("http://127.0.0.1:{}/a/v1//", b"POST /a/v1/chat HTTP/1.1", b"127.0.0.1:{}"),
        ("HTTP://LOCALHOST:{}/v1", b"POST /v1/chat HTTP/1.1", b"localhost:{}"),
        ("http://user:pass@127.0.0.1:{}/v1", b"POST /v1/chat HTTP/1.1", b"127.0.0.1:{}"),
        ("http://127.0.0.1:{}/v1?api-version=2", b"POST /v1/chat?api-version=2 HTTP/1.1", b"127.0.0.1:{}"),
        ("http://127.0.0.1:{}/ü b", b"POST /%C3%BC%20b/chat HTTP/1.1", b"127.0.0.1:{}"),
    ],
)
@in_loop
async def test_the_address_becomes_a_request(base: str, line: bytes, host: bytes) -> None:
    async def talk(connection: RawConnection) -> None:
        server.requests.append(await connection.request())
        await connection.send(OK)

    async with raw_server(talk) as server:
        assert await fetch_from(base.format(server.port)) == b"ok"
        assert server.requests == [
            b"%b\r\nhost: %b\r\ncontent-length: 2\r\naccept-encoding: identity\r\nauthorization: Bearer key\r\n\r\n{}"
            % (line, host.replace(b"{}", b"%d" % server.port))
        ]


@in_loop
async def test_an_ipv6_address_in_brackets_is_an_address() -> None:
    async def talk(connection: RawConnection) -> None:
        server.requests.append(await connection.request())
        await connection.send(OK)

    if not _has_ipv6():
        pytest.skip("no IPv6 on this machine")
    async with raw_server(talk, host="::1") as server:
        assert await fetch_from(f"http://[::1]:{server.port}/v1") == b"ok"
        assert b"\r\nhost: [::1]:%d\r\n" % server.port in server.requests[0]
    with pytest.raises(ModelFailed, match=rf"the model server at \[::1\]:{server.port} cannot be reached"):
        await fetch_from(f"http://[::1]:{server.port}/v1")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8080/v1",
        "ftp://host/v1",
        "http://",
        "http:///v1",
        "http://host:port/v1",
        "http://host:0/v1",
        "http://host:99999/v1",
        "http://[::1/v1",
        "http://two words/v1",
        "file:///etc/passwd",
        "http://user:secret@/v1",
        "user:secret@host",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_showing_a_password(url: str) -> None:
    with pytest.raises(ModelFailed, match="not a usable address") as failure:
        HttpClient(url, env={})
    assert "secret" not in str(failure.value)
    assert failure.value.hint == "It must look like https://host/v1."
    assert not failure.value.retryable


@pytest.mark.parametrize("value", ["two\r\nlines", "ключ", "“key”", "key\n"])
@in_loop
async def test_a_header_that_cannot_be_sent_is_refused_without_showing_it(value: str) -> None:
    async with client("http://127.0.0.1:9") as opened:
        with pytest.raises(ModelFailed, match="the header authorization has") as failure:
            async with opened.post("/chat", {"authorization": value}, b""):
                raise AssertionError("sent")
        assert value not in str(failure.value)


def byte_by_byte(answer: bytes) -> Talk:
    async def talk(connection: RawConnection) -> None:
        await connection.request()
        for at in range(len(answer)):
            await connection.send(answer[at : at + 1])
            await asyncio.sleep(0)

    return talk


@contextmanager
def _full_queue() -> Generator[int]:
    """A port where no connection is accepted: the only place in the queue is taken."""
    with (
        closing(socket.create_server(("127.0.0.1", 0), backlog=0)) as busy,
        closing(socket.create_connection(busy.getsockname())),
    ):
        yield busy.getsockname()[1]


def _has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True
