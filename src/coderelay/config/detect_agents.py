"""Other coding agents that are installed here."""

import shutil
from collections.abc import Mapping

PROGRAMS = ("claude", "codex", "gemini", "qwen", "opencode", "goose", "kimi", "iflow")


def agents_on_path(env: Mapping[str, str]) -> tuple[str, ...]:
    path = env.get("PATH", "")
    return tuple(name for name in PROGRAMS if path and shutil.which(name, path=path))
