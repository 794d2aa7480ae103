"""What this process needs to run a session: the session belongs to this machine, its folder exists, its agent is
installed, its model reachable."""

import os

from coderelay.host.host_context import HostContext
from coderelay.protocol.errors import BadInput, CannotRun
from coderelay.protocol.translatable import say
from coderelay.session import shell_turns
from coderelay.session.next_action import EndTurn, next_action
from coderelay.session.state import SessionSettings, State


def why_cannot_run(state: State, context: HostContext) -> str | None:
    """Why this process cannot run the session, or None."""
    settings = state.settings
    if settings is None:
        return "the session no longer exists"
    if shell_turns.is_next(state):
        return why_folder_unavailable(settings, context)
    return why_cannot_run_with(settings, context)


def why_cannot_run_with(settings: SessionSettings, context: HostContext) -> str | None:
    """Why this process cannot run a session with these settings, or None."""
    if (problem := why_folder_unavailable(settings, context)) is not None:
        return problem
    agent = context.agents.get(settings.agent)
    if agent is None:
        return say("the agent {name} is not available here", name=repr(settings.agent))
    return agent.cannot_run(settings) or _what_is_misconfigured(settings, context)


def _what_is_misconfigured(settings: SessionSettings, context: HostContext) -> str | None:
    """What is wrong in the configuration of the folder, which every turn needs, whatever its agent."""
    try:
        context.folders.of(settings.cwd)
    except BadInput as refused:
        return str(refused)
    return None


def may_claim(state: State, context: HostContext) -> bool:
    """Whether this process may claim a session that needs an owner. To end a turn takes no agent; and a turn that was
    stopped may be ended from any machine, because its own may be switched off."""
    action = next_action(state)
    if isinstance(action, EndTurn) and (action.stopped or not is_on_other_machine(state.settings, context)):
        return True
    return why_cannot_run(state, context) is None


def is_on_other_machine(settings: SessionSettings | None, context: HostContext) -> bool:
    """Whether the session belongs to another machine. What is at its folder's path here is then another folder."""
    if settings is None or settings.machine is None:
        return False
    here = context.machine.identity
    return here is not None and settings.machine.id != here.id


def require_machine(settings: SessionSettings, context: HostContext) -> None:
    """Raises CannotRun if the session belongs to another machine."""
    if is_on_other_machine(settings, context):
        raise CannotRun(_another_machine(settings))


def require_folder(settings: SessionSettings, context: HostContext) -> str:
    """The session's folder. Raises CannotRun if it is not on this machine."""
    require_machine(settings, context)
    return existing_folder(settings.cwd)


def existing_folder(folder: str) -> str:
    """The folder itself. Raises CannotRun if it does not exist."""
    if not folder_exists(folder):
        raise CannotRun(say("the folder {folder} does not exist on this machine", folder=folder))
    return folder


def why_folder_unavailable(settings: SessionSettings, context: HostContext) -> str | None:
    """Why this process has not the session's folder, or None."""
    if is_on_other_machine(settings, context):
        return _another_machine(settings)
    return None if folder_exists(settings.cwd) else say("its folder {folder} does not exist", folder=settings.cwd)


def _another_machine(settings: SessionSettings) -> str:
    assert settings.machine is not None
    return say(
        "it belongs to another machine: {machine} (`coder resume --here` moves it to this one)",
        machine=settings.machine.name,
    )


def check_folder(folder: str) -> str:
    """The folder itself. Raises BadInput if there is none."""
    if not os.path.isabs(folder):
        raise BadInput(say("{folder} is not an absolute path", folder=folder))
    if not folder_exists(folder):
        raise BadInput(say("no such folder: {folder}", folder=folder))
    return folder


def folder_exists(path: str) -> bool:
    return os.path.isdir(path)
