"""Whether this process can run a session: its folder exists here, its agent is installed, its model reachable."""

import os
from collections.abc import Mapping

from coderelay.agents.agent import Agent
from coderelay.protocol.errors import BadInput
from coderelay.protocol.translatable import say
from coderelay.session import shell
from coderelay.session.state import SessionSettings, State


def why_not(state: State, agents: Mapping[str, Agent]) -> str | None:
    """Why this process cannot run the session, or None."""
    settings = state.settings
    if settings is None:
        return "the session no longer exists"
    return _why_not_there(settings) if shell.is_next(state) else why_not_so(settings, agents)


def why_not_so(settings: SessionSettings, agents: Mapping[str, Agent]) -> str | None:
    """Why this process cannot run a session with these settings, or None."""
    if (problem := _why_not_there(settings)) is not None:
        return problem
    agent = agents.get(settings.agent)
    return (
        say("the agent {name} is not available here", name=repr(settings.agent))
        if agent is None
        else agent.cannot_run(settings)
    )


def _why_not_there(settings: SessionSettings) -> str | None:
    return None if folder_exists(settings.cwd) else say("its folder {folder} does not exist", folder=settings.cwd)


def check_folder(folder: str) -> str:
    """The folder itself. Raises BadInput if there is none."""
    if not os.path.isabs(folder):
        raise BadInput(say("{folder} is not an absolute path", folder=folder))
    if not folder_exists(folder):
        raise BadInput(say("there is no folder {folder}", folder=folder))
    return folder


def folder_exists(path: str) -> bool:
    return os.path.isdir(path)
