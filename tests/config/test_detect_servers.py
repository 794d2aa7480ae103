"""Local model servers, over real sockets: only a list of models is taken for one."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest

from coderelay.models.local.running_servers import PROVIDERS, RunningServer, find_servers
from coderelay.models.model_registry import ModelRegistry
from coderelay.models.providers import ProviderSettings
from tests.guide.no_model_servers import nobody_listens
from tests.models.raw_server import RawConnection, Talk, answers, in_loop, raw_server
from tests.patience import PATIENCE

PATIENT = PATIENCE  # where an answer is expected
HASTY = 0.05  # where none is


def _http(body: bytes | Any, status: bytes = b"200 OK") -> Talk:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return answers(b"HTTP/1.1 %s\r\ncontent-length: %d\r\n\r\n%s" % (status, len(content), content))


def _models(*names: str) -> Talk:
    return _http({"object": "list", "data": [{"id": name, "object": "model", "owned_by": "me"} for name in names]})


def _tags(*names: str) -> Talk:
    return _http({"models": [{"name": name, "model": name, "size": 1} for name in names]})


async def _says_nothing(connection: RawConnection) -> None:
    await connection.left()


async def _trickles(connection: RawConnection) -> None:
    await connection.request()
    await connection.send(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
    while not connection.writer.is_closing():
        await connection.send(b" ")
        await asyncio.sleep(0.005)


async def _trickles_headers(connection: RawConnection) -> None:
    await connection.request()
    await connection.send(b"HTTP/1.1 200 OK\r\n")
    while not connection.writer.is_closing():
        await connection.send(b"x: y\r\n")
        await asyncio.sleep(0.005)


async def _hangs_up(connection: RawConnection) -> None:
    await connection.request()


def _settings(addresses: Mapping[str, str]) -> dict[str, ProviderSettings]:
    return {name: ProviderSettings(base_url=address) for name, address in addresses.items()}


async def _find(*talks: Talk, seconds: float = PATIENT) -> list[tuple[str, tuple[str, ...]]]:
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(raw_server(talk)) for talk in talks]
        addresses = stack.enter_context(nobody_listens())
        addresses |= {name: server.url for name, server in zip(PROVIDERS, servers, strict=False)}
        found = await find_servers(ModelRegistry({}, _settings(addresses)), {}, silence_seconds=seconds)
        assert [each.host for each in found] == [
            f"127.0.0.1:{servers[PROVIDERS.index(each.provider)].port}" for each in found
        ]
        for server in servers:
            await server.all_left()
        return [(each.provider, each.names) for each in found]


@pytest.mark.quick
@in_loop
async def test_all_four_are_found_in_their_order() -> None:
    found = await _find(_tags("a:7b"), _models("b", "c"), _models("d"), _models("e"))
    assert found == [("ollama", ("a:7b",)), ("lmstudio", ("b", "c")), ("llamacpp", ("d",)), ("vllm", ("e",))]


@in_loop
async def test_what_is_asked_is_a_list_and_nothing_else() -> None:
    asked: list[bytes] = []

    async def listens(connection: RawConnection) -> None:
        asked.append((await connection.request()).partition(b"\r\n")[0])

    await _find(listens, listens)
    assert sorted(asked) == [b"GET /api/tags HTTP/1.1", b"GET /v1/models HTTP/1.1"]


@pytest.mark.parametrize(
    "talk",
    [
        _http(b"<!doctype html><title>My router</title>"),
        _http({"status": "ok"}),
        _http([]),
        _http({"object": "list", "data": "none"}),
        _http({"object": "list", "data": []}),
        _http({"data": [{"id": "x", "object": "model"}]}),
        _http({"object": "list", "data": [{"id": "x", "object": "file"}]}),
        _http({"object": "list", "data": [{"id": 7, "object": "model"}]}),
        _http({"object": "list", "data": [{"id": "a\x1b[31mb", "object": "model"}]}),
        _http({"object": "list", "data": [{"id": "", "object": "model"}]}),
        _http({"models": [{"name": "x"}]}),
        _http({"object": "list", "data": [{"id": "x", "object": "model"}]}, b"401 Unauthorized"),
        _http({"object": "list", "data": [{"id": "x", "object": "model"}]}, b"302 Found"),
        _http(b"[" * 100_000),
        _http(b"\xff\xfe"),
        _http({"object": "list", "data": [{"id": "x" * 2_000_000, "object": "model"}]}),
        _hangs_up,
        answers(b"SSH-2.0-OpenSSH_9.2\r\n"),
    ],
)
@in_loop
async def test_anything_but_a_list_of_models_is_not_taken_for_one(talk: Talk) -> None:
    assert await _find(_tags("still-there"), talk) == [("ollama", ("still-there",))]


@pytest.mark.parametrize("talk", [_says_nothing, _trickles, _trickles_headers])
@in_loop
async def test_a_server_that_keeps_us_waiting_is_left_alone(talk: Talk) -> None:
    assert await _find(talk, talk, talk, talk, seconds=HASTY) == []


@in_loop
async def test_no_model_server_is_detected_if_none_answers() -> None:
    assert await _find() == []


@in_loop
async def test_ollama_is_asked_where_its_own_variable_says() -> None:
    with nobody_listens() as addresses:
        del addresses["ollama"]
        async with raw_server(_tags("a")) as server:
            env = {"OLLAMA_HOST": f"127.0.0.1:{server.port}"}
            found = await find_servers(ModelRegistry(env, _settings(addresses)), env, silence_seconds=PATIENT)
        assert found == [RunningServer("ollama", f"127.0.0.1:{server.port}", ("a",))]


@pytest.mark.parametrize("host", ["::::", "http://", "not a host"])
@in_loop
async def test_a_variable_that_makes_no_sense_is_nobody_there(host: str) -> None:
    with nobody_listens() as addresses:
        del addresses["ollama"]
        providers = ModelRegistry({"OLLAMA_HOST": host}, _settings(addresses))
        assert await find_servers(providers, {}, silence_seconds=PATIENT) == []


@pytest.mark.parametrize(
    ("names", "model"),
    [
        (("a", "b"), "vllm:a"),
        (("nomic-embed-text", "bge-reranker", "b"), "vllm:b"),
        (("text-EMBEDDING-3",), None),
        (("org/name with blanks:7b",), "vllm:org/name with blanks:7b"),
    ],
)
def test_the_first_one_can_talk_to_is_taken(names: tuple[str, ...], model: str | None) -> None:
    assert RunningServer("vllm", "127.0.0.1:8000", names).model == model
