"""What this process can run: the folder must be here, the agent installed, its model reachable."""

import os
from collections.abc import Mapping

from coderelay.agents.agent import Agent
from coderelay.session.state import Settings, State


def why_not(state: State, agents: Mapping[str, Agent]) -> str | None:
    """Why this process cannot run the session, or None."""
    settings = state.settings
    return "the session is gone" if settings is None else why_not_so(settings, agents)


def why_not_so(settings: Settings, agents: Mapping[str, Agent]) -> str | None:
    """Why this process cannot run a session with these settings, or None."""
    if not folder_exists(settings.cwd):
        return f"its folder {settings.cwd} is not there"
    agent = agents.get(settings.agent)
    return f"there is no agent {settings.agent!r} here" if agent is None else agent.cannot_run(settings)


def folder_exists(path: str) -> bool:
    return os.path.isdir(path)
