"""Proxies named by the environment. The servers behind them have names that only the proxy knows."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from ssl import SSLContext

import pytest

from coderelay.http.dial import proxy_for
from coderelay.http.server_url import parse_address
from coderelay.protocol.errors import ModelFailed
from tests.models.certificates import Certificate
from tests.models.raw_server import (
    RawConnection,
    RawServer,
    client,
    fetch,
    fetch_from,
    in_loop,
    keeps_answering,
    raw_server,
)

BASIC = b"proxy-authorization: Basic bWU6cEBzcw=="  # me:p@ss


@asynccontextmanager
async def proxy(refusal: bytes = b"", tls: SSLContext | None = None) -> AsyncGenerator[RawServer]:
    """Forwards to a port of this machine, whatever the host is called. `requests` has what it was asked."""

    async def talk(connection: RawConnection) -> None:
        head = await connection.reader.readuntil(b"\r\n\r\n")
        server.requests.append(head)
        if refusal:
            await connection.send(refusal)
        else:
            await _forward(head, connection)

    async with raw_server(talk, tls=tls) as server:
        yield server


async def _forward(head: bytes, connection: RawConnection) -> None:
    method, target, _ = head.split(b" ", 2)
    host = target if method == b"CONNECT" else target.split(b"/")[2]
    reader, writer = await asyncio.open_connection("127.0.0.1", int(host.rpartition(b":")[2]))
    try:
        if method == b"CONNECT":
            await connection.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            writer.write(head)
        async with asyncio.TaskGroup() as both:
            both.create_task(_copy(connection.reader, writer))
            both.create_task(_copy(reader, connection.writer))
    finally:
        writer.transport.abort()


async def _copy(reader: StreamReader, writer: StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def model(tls: SSLContext | None = None) -> AsyncGenerator[RawServer]:
    async def talk(connection: RawConnection) -> None:
        while request := await connection.request():
            server.requests.append(request)
            await connection.send(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")

    async with raw_server(talk, tls=tls) as server:
        yield server


@pytest.mark.quick
@in_loop
async def test_a_plain_request_goes_through_the_proxy_in_full_form() -> None:
    async with model() as server, proxy() as between:
        env = {"HTTP_PROXY": f"http://me:p%40ss@127.0.0.1:{between.port}"}
        async with client(f"http://model.test:{server.port}/v1", env=env) as opened:
            assert [await fetch(opened), await fetch(opened)] == [b"ok", b"ok"]
            assert (between.connections, server.connections) == (1, 1)
        line, host, *fields = between.requests[0].splitlines()
        assert line == b"POST http://model.test:%d/v1/chat HTTP/1.1" % server.port
        assert host == b"host: model.test:%d" % server.port
        assert BASIC in fields


@pytest.mark.quick
@in_loop
async def test_an_encrypted_request_goes_through_a_tunnel(certificate: Certificate) -> None:
    async with model(certificate.server) as server, proxy() as between:
        env = certificate.trusted | {"HTTPS_PROXY": f"http://me:p%40ss@127.0.0.1:{between.port}"}
        async with client(f"https://model.test:{server.port}/v1", env=env) as opened:
            assert [await fetch(opened), await fetch(opened)] == [b"ok", b"ok"]
        target = b"model.test:%d" % server.port
        assert between.requests == [b"CONNECT %b HTTP/1.1\r\nhost: %b\r\n%b\r\n\r\n" % (target, target, BASIC)]
        assert server.requests[0].startswith(b"POST /v1/chat HTTP/1.1\r\nhost: %b\r\n" % target)
        assert b"proxy-authorization" not in server.requests[0]
        await between.all_left()


@in_loop
async def test_the_proxy_itself_may_be_encrypted(certificate: Certificate) -> None:
    async with model(certificate.server) as server, proxy(tls=certificate.server) as between:
        env = certificate.trusted | {"https_proxy": f"https://127.0.0.1:{between.port}"}
        assert await fetch_from(f"https://model.test:{server.port}/v1", env=env) == b"ok"
        assert len(between.requests) == 1


@in_loop
async def test_an_encrypted_proxy_must_be_trusted_itself(certificate: Certificate) -> None:
    async with proxy(tls=certificate.server) as between:
        env = {"HTTP_PROXY": f"https://127.0.0.1:{between.port}"}
        with pytest.raises(ModelFailed, match=r"the proxy at .* \(HTTP_PROXY\) shows a certificate"):
            await fetch_from("http://model.test/v1", env=env)
        assert between.requests == []


@in_loop
async def test_a_server_behind_a_tunnel_must_be_trusted_too(certificate: Certificate) -> None:
    async with model(certificate.server) as server, proxy() as between:
        env = {"HTTPS_PROXY": f"http://127.0.0.1:{between.port}"}
        with pytest.raises(ModelFailed, match=rf"at model\.test:{server.port} shows a certificate"):
            await fetch_from(f"https://model.test:{server.port}/v1", env=env)
        assert server.requests == []


@pytest.mark.parametrize(
    ("answer", "what", "hint", "retryable"),
    [
        (b"HTTP/1.1 407 No\r\n\r\n", "it answered 407", "Check the user name and password in HTTPS_PROXY.", False),
        (b"HTTP/1.1 403 No\r\n\r\n", "it answered 403", "", False),
        (b"HTTP/1.1 502 No\r\n\r\n", "it answered 502", "", True),
        (b"SOCKS?", "does not speak HTTP/1.1", "Check the address, and whether it is http or https.", True),
    ],
)
@in_loop
async def test_a_proxy_that_refuses_is_blamed_and_not_the_server(
    answer: bytes, what: str, hint: str, retryable: bool
) -> None:
    async with proxy(refusal=answer) as between:
        env = {"HTTPS_PROXY": f"http://me:secret@127.0.0.1:{between.port}"}
        with pytest.raises(ModelFailed, match=what) as failure:
            await fetch_from("https://model.test/v1", env=env)
        assert failure.value.message.startswith(f"the proxy at 127.0.0.1:{between.port} (HTTPS_PROXY) ")
        assert "secret" not in str(failure.value)
        assert (failure.value.hint, failure.value.retryable) == (hint, retryable)
        await between.all_left()


@pytest.mark.parametrize("scheme", ["http", "https"])
@in_loop
async def test_a_proxy_that_is_not_there_is_blamed(scheme: str) -> None:
    async with proxy() as between:
        pass
    env = {"ALL_PROXY": f"me:secret@127.0.0.1:{between.port}"}
    with pytest.raises(ModelFailed) as failure:
        await fetch_from(f"{scheme}://model.test/v1", env=env)
    assert failure.value.message == (
        f"the proxy at 127.0.0.1:{between.port} (ALL_PROXY) cannot be reached: Connection refused"
    )
    assert failure.value.retryable


@in_loop
async def test_a_proxy_that_never_opens_the_tunnel_is_given_up() -> None:
    async with raw_server(RawConnection.left) as between:
        env = {"HTTPS_PROXY": f"http://127.0.0.1:{between.port}"}
        with pytest.raises(ModelFailed, match=r"within 0\.05 s through the proxy at 127\.0\.0\.1"):
            await fetch_from("https://model.test/v1", env=env, connect_seconds=0.05)
        await between.all_left()


@in_loop
async def test_cancelling_closes_the_connection_to_the_proxy() -> None:
    asked = asyncio.Event()

    async def talk(connection: RawConnection) -> None:
        await connection.request()
        asked.set()
        await connection.left()

    async with raw_server(talk) as between:
        env = {"HTTPS_PROXY": f"http://127.0.0.1:{between.port}"}
        asking = asyncio.create_task(fetch_from("https://model.test", env=env))
        await asked.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await between.all_left()


@in_loop
async def test_this_machine_is_reached_without_a_proxy() -> None:
    env = {"HTTP_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9"}
    async with raw_server(keeps_answering()) as server:
        assert await fetch_from(f"http://127.0.0.1:{server.port}", env=env) == b"ok"
        assert await fetch_from(f"http://localhost:{server.port}", env=env) == b"ok"


@pytest.mark.parametrize(
    ("url", "no_proxy", "proxied"),
    [
        ("http://model.test", "", True),
        ("http://model.test", "*", False),
        ("http://model.test", "model.test", False),
        ("http://model.test", "MODEL.Test", False),
        ("http://a.model.test", "model.test", False),
        ("http://a.model.test", ".model.test", False),
        ("http://a.model.test", "*.model.test", False),
        ("http://mymodel.test", "model.test", True),
        ("http://model.test.evil", "model.test", True),
        ("http://model.test", "other.test, model.test", False),
        ("http://model.test", "other.test model.test", False),
        ("http://model.test", "other.test,,", True),
        ("http://model.test:81", "model.test:81", False),
        ("http://model.test:82", "model.test:81", True),
        ("https://model.test", "model.test:443", False),
        ("http://10.1.2.3", "10.0.0.0/8", False),
        ("http://11.1.2.3", "10.0.0.0/8", True),
        ("http://10.1.2.3", "10.1.2.3", False),
        ("http://10.1.2.3:81", "10.1.2.3:81", False),
        ("http://10.1.2.3", "2", True),
        ("http://[fd00::1]", "fd00::/8", False),
        ("http://[fd00::1]", "[fd00::1]", False),
        ("http://[fd00::1]:81", "[fd00::1]:81", False),
        ("http://[fd00::1]", "10.0.0.0/8", True),
        ("http://localhost", "", False),
        ("http://api.localhost", "", False),
        ("http://127.0.0.1", "", False),
        ("http://127.8.8.8", "", False),
        ("http://[::1]", "", False),
        ("http://notlocalhost", "", True),
    ],
)
def test_no_proxy_covers_what_it_names(url: str, no_proxy: str, proxied: bool) -> None:
    address = parse_address(url)
    assert address is not None
    for name in ("NO_PROXY", "no_proxy"):
        env = {"ALL_PROXY": "http://p.test:3128", name: no_proxy}
        assert (proxy_for(address, env) is not None) is proxied


@pytest.mark.parametrize(
    ("url", "env", "found"),
    [
        ("http://model.test", {}, None),
        ("http://model.test", {"HTTPS_PROXY": "http://s.test"}, None),
        ("https://model.test", {"HTTP_PROXY": "http://h.test"}, None),
        ("https://model.test", {"HTTPS_PROXY": "http://s.test", "ALL_PROXY": "http://a.test"}, "s.test"),
        ("https://model.test", {"https_proxy": "http://l.test", "HTTPS_PROXY": "http://s.test"}, "l.test"),
        ("https://model.test", {"HTTPS_PROXY": "", "all_proxy": "http://a.test:3128/"}, "a.test:3128"),
        ("https://model.test", {"HTTPS_PROXY": "plain.test:3128"}, "plain.test:3128"),
    ],
)
def test_the_proxy_is_the_one_named_for_the_address(url: str, env: dict[str, str], found: str | None) -> None:
    address = parse_address(url)
    assert address is not None
    proxy = proxy_for(address, env)
    assert (proxy and proxy.address.netloc) == found


@pytest.mark.parametrize("url", ["socks5://me:secret@p.test:1080", "http://me:secret@:3128", "http://p.test:port"])
def test_a_proxy_that_cannot_be_used_is_refused_without_showing_a_password(url: str) -> None:
    address = parse_address("https://model.test")
    assert address is not None
    with pytest.raises(ModelFailed, match="HTTPS_PROXY names a proxy that cannot be used") as failure:
        proxy_for(address, {"HTTPS_PROXY": url})
    assert "SOCKS is not spoken here" in failure.value.hint
    assert "secret" not in str(failure.value)
