"""Which other coding agents are installed."""

from collections.abc import Mapping

from coderelay.workspace.processes.find_program import find_program

PROGRAMS = ("claude", "codex", "gemini", "qwen", "opencode", "goose", "kimi", "iflow")


def agents_on_path(env: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name in PROGRAMS if find_program(name, env.get("PATH", ""), ()))
