"""What is taken from files of other programs, and what is not, however hostile they are."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from coderelay.config.detect.other_agents_and_their_settings import CLAUDE, IFLOW, ImportedVariables, import_variables

KEY = "sk-very-secret-0123456789"


def _home(tmp_path: Path, claude: Any = None, iflow: Any = None) -> dict[str, str]:
    for name, content in ((".claude", claude), (".iflow", iflow)):
        if content is not None:
            (tmp_path / name).mkdir()
            written = content if isinstance(content, bytes) else json.dumps(content).encode()
            (tmp_path / name / "settings.json").write_bytes(written)
    return {"HOME": str(tmp_path)}


@pytest.mark.quick
def test_b02_b36_what_is_not_set_is_taken_and_what_is_set_stays(tmp_path: Path) -> None:
    wanted = {
        "ANTHROPIC_AUTH_TOKEN": KEY,
        "ANTHROPIC_BASE_URL": "https://relay.example",
        "ANTHROPIC_MODEL": "opus",
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": "haiku",
        "API_TIMEOUT_MS": 600000,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": True,
    }
    env = _home(tmp_path, claude={"env": wanted, "permissions": {}}) | {"ANTHROPIC_MODEL": "sonnet"}
    imported = import_variables(env)
    assert imported.added_to(env) == env | {
        "ANTHROPIC_AUTH_TOKEN": KEY,
        "ANTHROPIC_BASE_URL": "https://relay.example",
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": "haiku",
        "API_TIMEOUT_MS": "600000",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "true",
    }
    assert set(imported.files.values()) == {CLAUDE}
    assert set(imported.files) == set(imported.values)


def test_b36_a_variable_that_is_set_to_nothing_is_set(tmp_path: Path) -> None:
    env = _home(tmp_path, claude={"env": {"ANTHROPIC_MODEL": "opus"}}) | {"ANTHROPIC_MODEL": ""}
    assert import_variables(env) == ImportedVariables()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json",
        b"\xff\xfe\x00",
        b"[" * 200_000,
        b"null",
        b'"text"',
        b"[1, 2]",
        b'{"env": null}',
        b'{"env": ["ANTHROPIC_API_KEY=x"]}',
        b'{"env": {"ANTHROPIC_API_KEY": null, "ANTHROPIC_MODEL": {"a": 1}, "ANTHROPIC_BASE_URL": ["x"]}}',
        b'{"env": {"ANTHROPIC_API_KEY": "   "}}',
        b'{"env": {"ANTHROPIC_API_KEY": "a\\u0000b"}}',
        b'{"env": {"A B": "x", "": "x", "A=B": "x", "1A": "x", "CODER_HOME": "/elsewhere"}}',
        b'{"env": {"ANTHROPIC_API_KEY": "\\ud800"}}',
        b'{"env": {"ANTHROPIC_API_KEY": "' + b"x" * 2_000_000 + b'"}}',
    ],
    ids=lambda content: repr(content[:40]),
)
def test_b36_a_file_that_makes_no_sense_says_nothing(tmp_path: Path, content: bytes) -> None:
    assert import_variables(_home(tmp_path, claude=content, iflow=content)) == ImportedVariables()


def test_b36_neither_a_fifo_nor_a_folder_nor_a_device_holds_anyone_up(tmp_path: Path) -> None:
    for name in (".claude", ".iflow"):
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / ".claude" / "settings.json")
    (tmp_path / ".iflow" / "settings.json").mkdir()
    assert import_variables({"HOME": str(tmp_path)}) == ImportedVariables()
    (tmp_path / ".claude" / "settings.json").unlink()
    (tmp_path / ".claude" / "settings.json").symlink_to("/dev/zero")
    assert import_variables({"HOME": str(tmp_path)}) == ImportedVariables()


@pytest.mark.parametrize("env", [{}, {"HOME": ""}, {"HOME": "/nowhere/at/all"}, {"HOME": "a\0b"}])
def test_b36_without_a_home_there_is_nothing(env: dict[str, str]) -> None:
    assert import_variables(env) == ImportedVariables()


def test_the_key_a_person_gave_iflow_is_taken_with_its_address(tmp_path: Path) -> None:
    settings = {
        "selectedAuthType": "iflow",
        "apiKey": KEY,
        "baseUrl": "https://relay.example/v1",
        "modelName": "kimi",
    }
    values = {"IFLOW_API_KEY": KEY, "IFLOW_BASE_URL": "https://relay.example/v1", "IFLOW_MODEL_NAME": "kimi"}
    env = _home(tmp_path, iflow=settings)
    assert import_variables(env) == ImportedVariables(values, dict.fromkeys(values, IFLOW))
    assert import_variables(env | {"IFLOW_API_KEY": "mine"}) == ImportedVariables()


@pytest.mark.parametrize(
    "settings",
    [
        {"selectedAuthType": "oauth-iflow", "apiKey": KEY, "baseUrl": "https://relay.example/v1"},
        {"selectedAuthType": "iflow", "baseUrl": "https://relay.example/v1", "modelName": "kimi"},
        {"selectedAuthType": "iflow", "apiKey": 0, "modelName": ["kimi"]} | {"apiKey": {"key": KEY}},
    ],
)
def test_a_login_of_iflow_itself_is_never_lifted(tmp_path: Path, settings: dict[str, Any]) -> None:
    assert import_variables(_home(tmp_path, iflow=settings)) == ImportedVariables()
