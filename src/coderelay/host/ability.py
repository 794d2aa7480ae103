"""What this process can run: the folder must be here, the agent installed, its model reachable."""

import os
from collections.abc import Mapping

from msgspec.structs import replace

from coderelay.agents.agent import Agent
from coderelay.session.state import State


def why_not(state: State, agents: Mapping[str, Agent], model: str | None = None) -> str | None:
    """Why this process cannot run the session, with another model if one is named, or None."""
    settings = state.settings
    if settings is None:
        return "the session is gone"
    if not folder_exists(settings.cwd):
        return f"its folder {settings.cwd} is not there"
    agent = agents.get(settings.agent)
    if agent is None:
        return f"there is no agent {settings.agent!r} here"
    return agent.cannot_run(settings if model is None else replace(settings, model=model))


def folder_exists(path: str) -> bool:
    return os.path.isdir(path)
