"""Encrypted connections: who is believed, and what is said when nobody is."""

import asyncio
from pathlib import Path

import pytest

from coderelay.protocol.errors import ModelFailed
from tests.models.certificates import Certificate
from tests.models.raw_server import (
    OK,
    RawConnection,
    answers,
    client,
    fetch,
    fetch_from,
    in_loop,
    keeps_answering,
    raw_server,
)


@pytest.mark.quick
@in_loop
async def test_a_certificate_that_nobody_signed_is_refused(certificate: Certificate) -> None:
    async with raw_server(answers(OK), tls=certificate.server) as server:
        with pytest.raises(ModelFailed) as failure:
            await fetch_from(f"https://127.0.0.1:{server.port}/v1")
        assert failure.value.message == (
            f"the model server at 127.0.0.1:{server.port} shows a certificate that cannot be trusted: "
            "self-signed certificate"
        )
        assert "SSL_CERT_FILE" in failure.value.hint
        assert not failure.value.retryable
        assert server.requests == []


@pytest.mark.quick
@in_loop
async def test_a_certificate_named_by_ssl_cert_file_is_trusted(certificate: Certificate) -> None:
    async with raw_server(keeps_answering(), tls=certificate.server) as server:
        async with client(f"https://127.0.0.1:{server.port}", env=certificate.trusted) as opened:
            assert [await fetch(opened), await fetch(opened)] == [b"ok", b"ok"]
            assert server.connections == 1
        await server.all_left()


@in_loop
async def test_a_folder_of_certificates_is_trusted_too(certificate: Certificate, tmp_path: Path) -> None:
    await _hash(tmp_path, certificate.file)
    async with raw_server(answers(OK), tls=certificate.server) as server:
        env = {"SSL_CERT_DIR": str(tmp_path)}
        assert await fetch_from(f"https://127.0.0.1:{server.port}", env=env) == b"ok"


@in_loop
async def test_a_certificate_for_another_name_is_refused(tmp_path: Path) -> None:
    other = Certificate(tmp_path, names="DNS:other.test")
    async with raw_server(answers(OK), tls=other.server) as server:
        with pytest.raises(ModelFailed, match="cannot be trusted: IP address mismatch") as failure:
            await fetch_from(f"https://127.0.0.1:{server.port}", env=other.trusted)
        assert not failure.value.retryable


@in_loop
async def test_a_server_without_tls_is_told_apart(certificate: Certificate) -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.reader.read(100)
        await connection.send(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        await connection.left()

    async with raw_server(talk) as server:
        with pytest.raises(ModelFailed, match="does not speak TLS as it should: wrong version number") as failure:
            await fetch_from(f"https://127.0.0.1:{server.port}", env=certificate.trusted)
        assert failure.value.hint == "Is the address really https?"
        await server.all_left()


@in_loop
async def test_a_server_that_hangs_up_in_the_handshake_cannot_be_reached() -> None:
    async def talk(connection: RawConnection) -> None:
        await connection.reader.read(100)

    async with raw_server(talk) as server:
        with pytest.raises(ModelFailed, match="cannot be reached: ") as failure:
            await fetch_from(f"https://127.0.0.1:{server.port}")
        assert failure.value.retryable


@in_loop
async def test_a_handshake_that_does_not_end_is_given_up() -> None:
    async with raw_server(RawConnection.left) as server:
        with pytest.raises(ModelFailed, match=r"did not accept a connection within 0\.05 s"):
            await fetch_from(f"https://127.0.0.1:{server.port}", connect_seconds=0.05)
        await server.all_left()


@in_loop
async def test_a_certificate_file_that_is_not_there_is_named(nowhere: str) -> None:
    async with raw_server(RawConnection.left) as server:
        with pytest.raises(ModelFailed) as failure:
            await fetch_from(f"https://127.0.0.1:{server.port}", env={"SSL_CERT_FILE": nowhere})
        assert failure.value.message == (
            f"the model server at 127.0.0.1:{server.port} cannot be checked: "
            f"SSL_CERT_FILE={nowhere} cannot be read (No such file or directory)"
        )
        assert not failure.value.retryable
        await server.all_left()


@in_loop
async def test_a_file_without_a_certificate_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("nothing here")
    env = {"SSL_CERT_FILE": str(tmp_path / "empty.pem")}
    async with raw_server(RawConnection.left) as server:
        with pytest.raises(ModelFailed, match=r"empty\.pem cannot be read"):
            await fetch_from(f"https://127.0.0.1:{server.port}", env=env)


@in_loop
async def test_a_bad_certificate_file_is_no_matter_if_nobody_answers_anyway(nowhere: str) -> None:
    async with raw_server(answers()) as server:
        pass
    with pytest.raises(ModelFailed, match="cannot be reached: Connection refused"):
        await fetch_from(f"https://127.0.0.1:{server.port}", env={"SSL_CERT_FILE": nowhere})


@in_loop
async def test_a_large_answer_comes_through_encrypted(certificate: Certificate) -> None:
    body = bytes(range(256)) * 40_000
    head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body)
    async with raw_server(answers(head + body), tls=certificate.server) as server:
        assert await fetch_from(f"https://127.0.0.1:{server.port}", env=certificate.trusted) == body


@pytest.mark.parametrize(
    ("begun", "what"),
    [
        (b"", "closed the connection without an answer"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal", "broke off mid-answer"),
    ],
)
@in_loop
async def test_an_encrypted_connection_that_drops_is_a_failure(
    certificate: Certificate, begun: bytes, what: str
) -> None:
    async with raw_server(answers(begun), tls=certificate.server) as server:
        with pytest.raises(ModelFailed, match=what):
            await fetch_from(f"https://127.0.0.1:{server.port}", env=certificate.trusted)


@in_loop
async def test_cancelling_closes_an_encrypted_connection(certificate: Certificate) -> None:
    asked = asyncio.Event()

    async def talk(connection: RawConnection) -> None:
        await connection.request()
        asked.set()
        await connection.left()

    async with raw_server(talk, tls=certificate.server) as server:
        asking = asyncio.create_task(fetch_from(f"https://127.0.0.1:{server.port}", env=certificate.trusted))
        await asked.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await server.all_left()


async def _hash(folder: Path, certificate: Path) -> None:
    """As `openssl rehash` does it: a certificate is found by the hash of its subject."""
    hashed = await asyncio.create_subprocess_exec(
        "openssl", "x509", "-hash", "-noout", "-in", str(certificate), stdout=asyncio.subprocess.PIPE
    )
    out, _ = await hashed.communicate()
    (folder / f"{out.decode().strip()}.0").write_bytes(certificate.read_bytes())
