"""Writes the snapshot file of a session, `.coder/sessions/<id>.json`, for people to read offline."""

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from coderelay.agents.agent import Agent, Description
from coderelay.host.record import Record
from coderelay.protocol.errors import BadInput
from coderelay.protocol.live import Notice
from coderelay.session.snapshot import snapshot
from coderelay.session.state import State
from coderelay.workspace.files.atomic_write import write_whole


def export_state(state: State, agents: Mapping[str, Agent]) -> dict[str, Any]:
    settings = state.settings
    assert settings is not None
    agent = agents.get(settings.agent)
    description = Description("", ()) if agent is None else agent.describe(settings)
    return snapshot(state, description.tools, description.system)


def write_snapshot(record: Record, agents: Mapping[str, Agent]) -> None:
    """Write the snapshot file. The log is the truth, so people only get a notice if the file cannot be written."""
    problem = _write(record.state, agents)
    if problem is not None:
        record.show(Notice(problem))


def _write(state: State, agents: Mapping[str, Agent]) -> str | None:
    """Returns what went wrong, if anything."""
    assert state.settings is not None
    folder = os.path.join(state.settings.cwd, ".coder")
    try:
        content = msgspec.json.format(msgspec.json.encode(export_state(state, agents)), indent=1)
    except BadInput as refused:  # wrong configuration; the person's own commands still run
        return f"the session file is not written: {refused}"
    if any(os.path.islink(path) for path in (folder, os.path.join(folder, "sessions"))):
        return f"the session file is not written: {folder} leads elsewhere"
    try:
        os.makedirs(os.path.join(folder, "sessions"), mode=0o700, exist_ok=True)
        _ignore_in_git(os.path.join(folder, "sessions"))
        write_whole(os.path.join(folder, "sessions", f"{state.session}.json"), content + b"\n", 0o600)
    except OSError as error:
        return f"the session file in {folder} could not be written: {error.strerror}"
    return None


def _ignore_in_git(folder: str) -> None:
    path = os.path.join(folder, ".gitignore")
    if not os.path.exists(path):
        write_whole(path, b"*\n", 0o644)
