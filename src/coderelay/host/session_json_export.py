"""Writes the session file, `.coder/sessions/<id>.json`, for people to read offline."""

import asyncio
import os
from collections.abc import Mapping
from typing import Any

import msgspec

from coderelay.agents.agent import Agent, Description
from coderelay.host.loaded_session import LoadedSession, carried_out
from coderelay.protocol.errors import BadInput
from coderelay.protocol.live_updates import Notice
from coderelay.protocol.translatable import say
from coderelay.session.openai_chat_format import copy_for_reading, snapshot
from coderelay.session.state import State
from coderelay.workspace.files.atomic_write import write_whole


def export_state(state: State, agents: Mapping[str, Agent]) -> dict[str, Any]:
    description = _describe(state, agents)
    return snapshot(state, description.tools, description.system)


def _describe(state: State, agents: Mapping[str, Agent]) -> Description:
    settings = state.settings
    assert settings is not None
    agent = agents.get(settings.agent)
    return Description("", ()) if agent is None else agent.describe(settings)


async def write_session_file(loaded: LoadedSession, agents: Mapping[str, Agent]) -> None:
    """Write the session file, in a thread: a long session makes a large one. Of two writes for a session, the later
    one writes the later state. The log is the truth, so people only get a notice if the file cannot be written."""
    await carried_out(_write_in_turn(loaded, agents))


async def _write_in_turn(loaded: LoadedSession, agents: Mapping[str, Agent]) -> None:
    async with loaded.writes_snapshot:
        if loaded.state.deleted:
            return
        try:
            description = _describe(loaded.state, agents)
        except BadInput as refused:  # wrong configuration; the person's own commands still run
            problem = say("the session file is not written: {problem}", problem=refused)
        else:
            problem = await asyncio.to_thread(_write, copy_for_reading(loaded.state), description)
    if problem is not None:
        loaded.show(Notice(problem))


def _write(state: State, description: Description) -> str | None:
    """Returns what went wrong, if anything."""
    assert state.settings is not None
    folder = os.path.join(state.settings.cwd, ".coder")
    exported = snapshot(state, description.tools, description.system)
    content = msgspec.json.format(msgspec.json.encode(exported), indent=1)
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
