"""Other coding agents: which are installed, and the API keys and settings in their files, so that nobody has to set
up the same thing twice.

The files are only read, and only for keys that a person wrote there: never for the login that a program keeps for
itself.
"""

import os
import stat
from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec import Struct, field

from coderelay.workspace.processes.find_program import find_program

CLAUDE = "~/.claude/settings.json"
IFLOW = "~/.iflow/settings.json"
_FILE_BYTES = 1024 * 1024


class ImportedVariables(Struct, frozen=True):
    """Variables that the environment does not set already, and the file that each of them comes from."""

    values: dict[str, str] = field(default_factory=dict[str, str])
    files: dict[str, str] = field(default_factory=dict[str, str])

    def added_to(self, env: Mapping[str, str]) -> dict[str, str]:
        return {**self.values, **env}


def import_variables(env: Mapping[str, str]) -> ImportedVariables:
    """Read the variables. A file that is missing or cannot be parsed adds nothing."""
    home = env.get("HOME", "")
    if not home:
        return ImportedVariables()
    found = [(name, value, CLAUDE) for name, value in _claude(_read(home, CLAUDE)).items() if name not in env]
    if "IFLOW_API_KEY" not in env:
        found += [(name, value, IFLOW) for name, value in _iflow(_read(home, IFLOW)).items()]
    return ImportedVariables({name: value for name, value, _ in found}, {name: file for name, _, file in found})


def _claude(settings: dict[str, Any]) -> dict[str, str]:
    pairs = _object(settings.get("env"))
    texts = {name: _text(value) for name, value in pairs.items() if _is_variable(name)}
    return {name: text for name, text in texts.items() if text}


def _iflow(settings: dict[str, Any]) -> dict[str, str]:
    """The settings are taken together or not at all: a key is valid for one address only."""
    if settings.get("selectedAuthType") == "oauth-iflow":
        return {}
    named = {"IFLOW_API_KEY": "apiKey", "IFLOW_BASE_URL": "baseUrl", "IFLOW_MODEL_NAME": "modelName"}
    texts = {variable: _text(settings.get(name)) for variable, name in named.items()}
    return {variable: text for variable, text in texts.items() if text} if texts["IFLOW_API_KEY"] else {}


def _is_variable(name: str) -> bool:
    """Whether the name may be taken over. Another program's file must not configure coder itself (`CODER_…`)."""
    return name.isascii() and name.isidentifier() and not name.startswith("CODER_")


def _text(value: object) -> str:
    """The value as text, as other programs turn settings into variables: numbers and booleans too, nothing nested."""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value).strip() if isinstance(value, str | int | float) else ""
    return "" if "\0" in text else text


def _read(home: str, path: str) -> dict[str, Any]:
    try:
        return _object(msgspec.json.decode(_content(os.path.join(home, path.removeprefix("~/")))))
    except (OSError, ValueError, RecursionError):
        return {}


def _object(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _content(path: str) -> bytes:
    # Non-blocking, so that opening a FIFO returns at once.
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _FILE_BYTES:
            return b""
        return os.read(file, _FILE_BYTES)
    finally:
        os.close(file)


PROGRAMS = ("claude", "codex", "gemini", "qwen", "opencode", "goose", "kimi", "iflow")


def agents_on_path(env: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name in PROGRAMS if find_program(name, env.get("PATH", ""), ()))
