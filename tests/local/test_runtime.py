"""`local:NAME` through the product, with a double in the place of the library that runs the weights."""

import asyncio
import json
import os
import select
import signal
import sys
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from coderelay.models.json_schema_chat.model import SchemaChat
from coderelay.models.local.installed_weights_registry import Weights, WeightsFolder
from coderelay.models.local.model import LocalModels
from coderelay.models.model import Completion, Piece, Request
from coderelay.models.model_card import Card
from coderelay.models.model_registry import ModelRegistry
from coderelay.models.openai_chat.model import OpenAIChat
from coderelay.models.providers import ProviderSettings
from coderelay.protocol.errors import CannotRun, ModelFailed
from coderelay.protocol.message_content import Text
from coderelay.session.model_messages import UserMessage
from coderelay.tools.bash import Bash
from tests.coder_process import Coder
from tests.models.raw_server import in_loop

DOUBLE = str(Path(__file__).with_name("double"))
SRC = str(Path(__file__).parents[2] / "src")
HELLO = Request("be brief", [UserMessage("hello")], (Bash.spec,))

Home = Callable[[str], dict[str, str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An environment with one installed model, which behaves as told."""
    monkeypatch.setattr(sys, "path", [DOUBLE, *sys.path])

    def build(behaviour: str) -> dict[str, str]:
        weights = tmp_path / "weights.gguf"
        weights.write_text(f"GGUF {behaviour}")
        folder = WeightsFolder(str(tmp_path / "home" / "models"))
        folder.add(Weights("tiny", str(weights), 20, "a test"))
        paths = os.pathsep.join([DOUBLE, SRC, str(Path(__file__).parents[2])])
        return {"CODER_HOME": str(tmp_path / "home"), "PYTHONPATH": paths, "PATH": os.environ["PATH"]}

    return build


def told(tmp_path: Path) -> dict[str, Any]:
    """What the library was told, and by which process. If it is a pipe, waits until it was."""
    return json.loads((tmp_path / "weights.json").read_text())


def has_ended(pid: int, seconds: float = 10.0) -> bool:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


async def heard(model: Any, request: Request = HELLO) -> list[Piece]:
    async with aclosing(model.stream(request)) as pieces:
        return [piece async for piece in pieces]


@in_loop
async def test_a_server_is_started_by_the_first_request_and_shared(home: Home, tmp_path: Path) -> None:
    providers = ModelRegistry(home("echo") | {"OPENAI_API_KEY": "sk-secret", "LD_LIBRARY_PATH": "/nowhere"})
    first, second = providers.open("local:tiny"), providers.open("local:tiny")
    assert first.card == providers.card("local:tiny") == Card(context=8192, output=1024, calls="schema")
    assert not (tmp_path / "weights.json").exists()
    answers = await asyncio.gather(heard(first), heard(second))
    assert [each.blocks for *_, each in answers if isinstance(each, Completion)] == [(Text("heard: hello"),)] * 2
    was = told(tmp_path)
    (key,) = was["keys"]
    assert (was["hosts"], was["context"], len(key)) == (["127.0.0.1"], 8192, 32)
    assert {"OPENAI_API_KEY", "CODER_HOME"}.isdisjoint(was["environment"])
    assert "LD_LIBRARY_PATH" in was["environment"]
    await providers.close()
    assert has_ended(was["pid"], 0)


@in_loop
async def test_a_server_that_died_is_started_anew(home: Home, tmp_path: Path) -> None:
    models = LocalModels(home("echo"))
    model = models.open("local:tiny")
    await heard(model)
    before = told(tmp_path)
    os.kill(before["pid"], signal.SIGKILL)
    assert has_ended(before["pid"])
    *_, last = await heard(model)
    assert isinstance(last, Completion)
    after = told(tmp_path)
    assert (before["pid"] != after["pid"], before["keys"] != after["keys"]) == (True, True)
    await models.close()


@in_loop
async def test_weights_that_cannot_be_run_say_why(home: Home, tmp_path: Path) -> None:
    models = LocalModels(home("broken"))
    with pytest.raises(ModelFailed) as failed:
        await heard(models.open("local:tiny"))
    assert failed.value.message == f"{tmp_path}/weights.gguf could not be run: gguf_init: the tensors are missing"
    assert has_ended(told(tmp_path)["pid"], 0)
    await models.close()


@in_loop
async def test_a_stop_while_the_weights_are_loaded_ends_the_server(home: Home, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "weights.json")
    models = LocalModels(home("never"))
    hearing = asyncio.create_task(heard(models.open("local:tiny")))
    was = await asyncio.to_thread(told, tmp_path)
    hearing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hearing
    assert has_ended(was["pid"])
    await models.close()


def test_a_turn_runs_on_local_weights_and_leaves_nothing_behind(home: Home, tmp_path: Path, folder: Path) -> None:
    coder = Coder(tmp_path / "home", folder, None)
    ran = coder.run("-p", "hello", "--model", "local:tiny", env=home("echo"))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("heard: ")
    assert "hello" in ran.out
    assert has_ended(told(tmp_path)["pid"], 0)


def test_a_server_dies_with_the_process_that_started_it(home: Home, tmp_path: Path, folder: Path) -> None:
    started = Coder(tmp_path / "home", folder, None).start(
        "-p", "hello", "--model", "local:tiny", "--output", "stream-json", env=home("hangs")
    )
    assert started.process.stdout is not None
    assert any('"text":"one' in line for line in started.process.stdout)  # it answers, and will not end
    server = told(tmp_path)["pid"]
    assert not has_ended(server, 0)
    started.kill()
    assert has_ended(server)


def test_a_server_dies_with_its_parent_even_while_it_loads(home: Home, tmp_path: Path, folder: Path) -> None:
    os.mkfifo(tmp_path / "weights.json")
    started = Coder(tmp_path / "home", folder, None).start("-p", "hi", "--model", "local:tiny", env=home("never"))
    server = told(tmp_path)["pid"]
    started.kill()
    assert has_ended(server)


def test_without_the_library_it_says_how_to_get_it(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    env = home("echo")
    monkeypatch.setattr(sys, "path", [SRC])
    assert ModelRegistry(env).why_not("local:tiny") == (
        f"local:tiny needs xllamacpp to run\nInstall it: uv pip install --python {sys.executable} xllamacpp"
    )


def test_a_model_that_is_not_there_says_what_is(home: Home, tmp_path: Path) -> None:
    none = ModelRegistry({"CODER_HOME": str(tmp_path / "empty")})
    hint = "Get one with: coder model install"
    assert none.why_not("local:tiny") == f"no local model 'tiny'; none installed\n{hint}"
    some = ModelRegistry(home("echo"))
    assert some.why_not("local:other") == f"no local model 'other'; available: tiny\n{hint}"
    (tmp_path / "weights.gguf").unlink()
    with pytest.raises(CannotRun, match=r"the file of local:tiny does not exist any more: .*/weights\.gguf"):
        some.open("local:tiny")


def test_a_card_that_says_so_is_spoken_to_by_schema() -> None:
    own = {"small": Card(calls="schema"), "large": Card()}
    settings = {"mine": ProviderSettings(base_url="http://127.0.0.1:1/v1", models=own)}
    providers = ModelRegistry({}, settings)
    assert isinstance(providers.open("mine:small"), SchemaChat)
    assert isinstance(providers.open("mine:large"), OpenAIChat)


def test_a_server_of_the_persons_own_may_be_called_local() -> None:
    providers = ModelRegistry({}, {"local": ProviderSettings(base_url="http://127.0.0.1:1/v1")})
    assert isinstance(providers.open("local:m"), OpenAIChat)
    assert providers.address("local:m") == "http://127.0.0.1:1/v1"
    assert ModelRegistry({}).address("local:m") == "this machine"
