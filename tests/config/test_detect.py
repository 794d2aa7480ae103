"""Which model is taken when nobody said which: a table for the order, and what is told about it."""

import asyncio
import json
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from coderelay.config.detect.model_detection import DetectedModel, detect
from coderelay.config.detect.other_agents_and_their_settings import ImportedVariables
from coderelay.config.loaded_config import Config
from coderelay.models.local.installed_weights_registry import Weights, WeightsFolder
from coderelay.models.providers import KNOWN, ProviderSettings
from tests.guide.no_model_servers import nobody_listens
from tests.models.raw_server import answers, in_loop, raw_server

KEY = "sk-very-secret-0123456789"
TAGS = b'{"models":[{"name":"nomic-embed-text:latest"},{"name":"qwen2.5-coder:7b","size":4}]}'


class Scene:
    """A person's home and their PATH, where every local server refuses."""

    def __init__(self, root: Path, addresses: dict[str, str]) -> None:
        self.home = root / "person"
        self.bin = root / "bin"
        self.coder_home = root / "coder"
        for path in (self.home, self.bin, self.coder_home):
            path.mkdir()
        self.settings = {name: ProviderSettings(base_url=address) for name, address in addresses.items()}

    def write(self, name: str, content: Any) -> None:
        path = self.home / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))

    def install(self, *programs: str) -> None:
        for name in programs:
            (self.bin / name).touch(0o755)

    def add_weights(self, name: str) -> None:
        WeightsFolder(str(self.coder_home / "models")).add(Weights(name, "weights.gguf", 4, "here"))

    async def detect(
        self, env: Mapping[str, str], flag: str | None = None, model: str | None = None
    ) -> DetectedModel:
        mine = {"HOME": str(self.home), "PATH": str(self.bin)}
        config = Config(home=str(self.coder_home), model=model)
        return await detect(config, {**mine, **env}, flag=flag, settings=self.settings, silence_seconds=5.0)

    def find(self, env: Mapping[str, str], flag: str | None = None, model: str | None = None) -> DetectedModel:
        return asyncio.run(self.detect(env, flag, model))


@pytest.fixture
def scene(tmp_path: Path) -> Generator[Scene]:
    with nobody_listens() as addresses:
        yield Scene(tmp_path, addresses)


class Row(Struct, frozen=True):
    """What there is, and what comes of it. Each row has more than the next, so that the order is seen."""

    model: str
    source: str
    flag: str | None = None
    config: str | None = None
    env: dict[str, str] = {}
    claude: dict[str, Any] = {}
    iflow: dict[str, Any] = {}
    weights: bool = False


CLAUDE = {"env": {"ANTHROPIC_AUTH_TOKEN": KEY}}
IFLOW = {"selectedAuthType": "iflow", "apiKey": KEY, "modelName": "kimi-k2"}
OPENAI, GEMINI, ANTHROPIC = {"OPENAI_API_KEY": KEY}, {"GEMINI_API_KEY": KEY}, {"ANTHROPIC_API_KEY": KEY}
ALL = {**ANTHROPIC, **OPENAI, **GEMINI}


def _example(provider: str) -> str:
    return f"{provider}:{KNOWN[provider].example}"


ORDER = [
    Row("a:b", "--model", flag="a:b", config="x:y", env={**ALL, "CODER_MODEL": "c:d"}, claude=CLAUDE),
    Row("c:d", "CODER_MODEL", config="x:y", env={**ALL, "CODER_MODEL": "c:d"}, claude=CLAUDE),
    Row("x:y", "config", config="x:y", env=ALL, claude=CLAUDE),
    Row(_example("anthropic"), "ANTHROPIC_API_KEY", env=ALL, iflow=IFLOW),
    Row("anthropic:mine", "ANTHROPIC_API_KEY", env={**ALL, "ANTHROPIC_MODEL": "mine"}),
    Row(
        _example("anthropic"),
        "ANTHROPIC_AUTH_TOKEN in ~/.claude/settings.json",
        env={**OPENAI, **GEMINI},
        claude=CLAUDE,
        iflow=IFLOW,
    ),
    Row(_example("openai"), "OPENAI_API_KEY", env={**OPENAI, **GEMINI}, iflow=IFLOW, weights=True),
    Row("openai:mine", "OPENAI_API_KEY", env={**OPENAI, "OPENAI_MODEL": " mine "}, iflow=IFLOW),
    Row(_example("gemini"), "GEMINI_API_KEY", env=GEMINI, weights=True),
    Row(_example("deepseek"), "DEEPSEEK_API_KEY", env={"DEEPSEEK_API_KEY": KEY}, weights=True),
    Row("local:small", "installed model", weights=True, env={"OPENAI_API_KEY": "  "}),
    Row("guide", ""),
]


@pytest.mark.quick
@pytest.mark.parametrize("row", ORDER, ids=lambda row: f"{row.model} {row.source}")
def test_b36_the_order(scene: Scene, row: Row) -> None:
    scene.write(".claude/settings.json", row.claude)
    scene.write(".iflow/settings.json", row.iflow)
    if row.weights:
        scene.add_weights("small")
    found = scene.find(row.env, row.flag, row.config)
    assert (found.model, found.source) == (row.model, row.source)
    assert KEY not in found.line


def test_iflow_counts_before_gemini(scene: Scene) -> None:
    scene.write(".iflow/settings.json", IFLOW)
    found = scene.find(GEMINI)
    assert found.model.startswith("iflow:")
    assert found.source == "IFLOW_API_KEY in ~/.iflow/settings.json"


@in_loop
async def test_a_server_here_counts_before_weights(tmp_path: Path) -> None:
    body = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(TAGS), TAGS)
    with nobody_listens() as addresses:
        async with raw_server(answers(body)) as server:
            scene = Scene(tmp_path, addresses | {"ollama": server.url})
            scene.add_weights("small")
            found = await scene.detect({})
    expected = DetectedModel("ollama:qwen2.5-coder:7b", f"ollama at 127.0.0.1:{server.port}", ImportedVariables())
    assert found == expected
    assert found.agent == "native"
    assert found.line == (
        f"model: ollama:qwen2.5-coder:7b (ollama at 127.0.0.1:{server.port}); change with --model or /model"
    )


def test_the_persons_own_provider_counts_before_other_keys(scene: Scene) -> None:
    scene.settings["corp"] = ProviderSettings(
        base_url="http://127.0.0.1:9/v1", api_key_env="CORP_KEY", models=("big", "small")
    )
    assert scene.find({**ALL, "CORP_KEY": KEY}).model == "corp:big"
    assert scene.find(ALL).model == _example("anthropic")


def test_what_is_said_costs_no_look_at_path_or_ports(scene: Scene) -> None:
    """A program on PATH is seen only when there is nothing better."""
    scene.install("claude", "iflow", "vim")
    assert scene.find(OPENAI).agents == ()
    assert scene.find({}, flag="guide").agents == ()
    assert scene.find({}).agents == ("claude", "iflow")


@pytest.mark.parametrize(
    ("env", "flag", "line"),
    [
        (
            {},
            None,
            "No model found. A built-in guide answers simple requests. `coder doctor` shows how to connect a model.",
        ),
        ({}, "guide", "model: guide (--model); change with --model or /model"),
        (
            ANTHROPIC,
            None,
            f"model: {_example('anthropic')} (ANTHROPIC_API_KEY); change with --model or /model",
        ),
    ],
)
def test_the_line_for_people(scene: Scene, env: dict[str, str], flag: str | None, line: str) -> None:
    assert scene.find(env, flag).line == line


def test_the_line_names_installed_agents(scene: Scene) -> None:
    scene.install("codex", "claude")
    found = scene.find({})
    assert found.agent == "guide"
    assert "claude, codex: installed, but not supported by this version" in found.line


def test_a_key_that_would_go_where_a_file_says_is_told(scene: Scene) -> None:
    scene.write(".claude/settings.json", {"env": {"ANTHROPIC_BASE_URL": f"https://me:{KEY}@relay.example"}})
    found = scene.find(ANTHROPIC)
    assert found.source == "ANTHROPIC_API_KEY; address from ~/.claude/settings.json"
    assert KEY not in found.line


def test_a_damaged_list_of_weights_is_no_weights(scene: Scene) -> None:
    (scene.coder_home / "models").mkdir()
    (scene.coder_home / "models" / "models.json").write_bytes(b"\xff")
    assert scene.find({}).model == "guide"
