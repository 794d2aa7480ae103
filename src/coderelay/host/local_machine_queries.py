"""Answers queries about what this machine offers: models, agents, files and folders, with or without a session."""

import os
from typing import Literal

from msgspec.structs import replace

from coderelay.client.typed_model_name import agent_for
from coderelay.host.can_run import (
    check_folder,
    existing_folder,
    folder_exists,
    require_machine,
    why_cannot_run_with,
    why_folder_unavailable,
)
from coderelay.host.host_context import HostContext
from coderelay.host.session_ownership import SessionOwnership
from coderelay.protocol.errors import BadInput, CannotRun, ToolFailed
from coderelay.protocol.queries import (
    ListAgents,
    ListFiles,
    ListFolders,
    ListModels,
    ListRecentFolders,
    ListServedModels,
    ReadFile,
    ShowDefaults,
    ShowDiff,
    ShowHost,
    SuggestTitle,
    WhyNotRun,
)
from coderelay.protocol.query_results import (
    AgentShown,
    FilesDiff,
    FileShown,
    HostShown,
)
from coderelay.protocol.translatable import say
from coderelay.session.children import running_calls
from coderelay.session.state import SessionSettings, State
from coderelay.store.store import Store
from coderelay.workspace.files.confined_files import ConfinedFiles

MachineQuery = (
    ListModels
    | ListServedModels
    | ListAgents
    | ShowDefaults
    | SuggestTitle
    | ShowDiff
    | ListFiles
    | ListFolders
    | ListRecentFolders
    | ReadFile
    | ShowHost
    | WhyNotRun
)
_MOST_RECENT = 20
_FOLDERS = 100
_MOST_BYTES = 4 * 1024 * 1024


async def answer_machine_query(query: MachineQuery, state: State | None, context: HostContext) -> object:
    """`state` is that of the session that the query names, if it names one. Raises BadInput."""
    machine = context.machine
    match query:
        case ListModels():
            return await machine.offered_models(_folder(query.cwd, state, context))
        case ListServedModels():
            assert state is not None
            assert state.settings is not None
            require_machine(state.settings, context)
            return await machine.served_models(state.settings.cwd, state.settings.model)
        case ListAgents():
            return _agents(await _settings(query.cwd, state, context), context)
        case ShowDefaults():
            return await machine.defaults(_folder(query.cwd, None, context))
        case SuggestTitle():
            return await _title(query.text.strip(), await _settings(query.cwd, state, context), context)
        case ShowDiff():
            return await _diff(query, state, context)
        case ListFiles():
            return await machine.files_in(existing_folder(_folder(query.cwd, state, context)))
        case ListFolders():
            return await machine.folders_in(query.path, query.roots, hidden=query.hidden)
        case ListRecentFolders():
            return await _recent_folders(context.store, min(max(1, query.limit), _MOST_RECENT))
        case ReadFile():
            assert state is not None
            assert state.settings is not None
            existing_folder(_folder(None, state, context))
            return await read_file(query, state.settings, context)
        case ShowHost():
            assert state is not None
            owner = await _owner(state, context.takeover)
            calls = len(running_calls(state)) if owner == "here" else 0
            return HostShown(machine.log_name, owner, calls, await context.takeover.me())
        case WhyNotRun():
            return await _why_not_new(query, context)


def _folder(cwd: str | None, state: State | None, context: HostContext) -> str:
    """The folder that a query is about: that of its session, or the one it names. Raises CannotRun if the session is
    on another machine: neither its files nor its configuration are here."""
    if (cwd is None) == (state is None):
        raise BadInput("name either a session or a folder")
    if state is not None:
        assert state.settings is not None
        require_machine(state.settings, context)
        return state.settings.cwd
    assert cwd is not None
    return check_folder(cwd)


async def _settings(cwd: str | None, state: State | None, context: HostContext) -> SessionSettings:
    """The settings of the session, or those that a new one in the folder would get."""
    folder = _folder(cwd, state, context)
    if state is not None and state.settings is not None:
        return state.settings
    found = await context.machine.defaults(folder)
    return SessionSettings(cwd=folder, agent=found.agent, model=found.model, mode=found.mode)


async def _why_not_new(query: WhyNotRun, context: HostContext) -> str | None:
    """Why this process cannot run a session that does not exist yet, in the words for one that does."""
    if query.cwd is None:
        raise BadInput("name either a session or a folder")
    settings = SessionSettings(cwd=query.cwd, agent=query.agent or "", model=query.model or "", mode="default")
    if (problem := why_folder_unavailable(settings, context)) is not None:
        return problem
    try:
        check_folder(query.cwd)
        if not (settings.model and settings.agent):
            found = await context.machine.defaults(query.cwd)
            model = query.model or found.model
            settings = replace(settings, model=model, agent=query.agent or agent_for(model, found.agent))
    except BadInput as refused:
        return str(refused)
    return why_cannot_run_with(settings, context)


async def _title(text: str, settings: SessionSettings, context: HostContext) -> str:
    agent = context.agents.get(settings.agent)
    if agent is None:
        raise CannotRun(say("the agent {name} is not available here", name=repr(settings.agent)))
    if (problem := agent.cannot_run(settings)) is not None:
        raise CannotRun(problem)
    if not text:
        raise BadInput("a session without a prompt has no title yet")
    return await agent.suggest_title(settings, text)


async def _diff(query: ShowDiff, state: State | None, context: HostContext) -> FilesDiff:
    folder = _folder(query.cwd, state, context)
    if query.turn is not None:
        past = next((each for each in state.past if each.turn_id == query.turn), None) if state is not None else None
        if past is None:
            raise BadInput(say("no turn {turn} to undo", turn=query.turn))
        return await context.turn_files().diff_of_turn(past)
    if query.by_turns and state is not None:
        return await context.turn_files().diff_of(state)
    return await context.turn_files().diff_of_folder(folder)


async def _recent_folders(store: Store, wanted: int) -> list[str]:
    """Reads as many folders as it takes: some of them may be gone, or on another machine."""
    limit = _FOLDERS
    while True:
        found = await store.recent_folders(limit)
        folders = [each for each in found if folder_exists(each)]
        if len(found) < limit or len(folders) >= wanted:
            return folders[:wanted]
        limit *= 4


def _agents(settings: SessionSettings, context: HostContext) -> list[AgentShown]:
    ours = [
        AgentShown(name, _DESCRIPTIONS.get(name, ""), agent.cannot_run(settings) or "")
        for name, agent in context.agents.items()
    ]
    programs = [name for name in context.machine.programs() if name not in context.agents]
    return [*ours, *(AgentShown(name, _INSTALLED, _NOT_YET) for name in programs)]


_DESCRIPTIONS = {"native": "coder's built-in agent, for any model", "guide": "built-in guide; needs no model"}
_INSTALLED = "installed on this machine"
_NOT_YET = "not supported by this version yet"


async def _owner(state: State, takeover: SessionOwnership) -> Literal["nobody", "here", "another process"]:
    if state.owner is None:
        return "nobody"
    if await takeover.is_owned_elsewhere(state.owner):
        return "another process"
    return "here" if state.owner == await takeover.me() else "nobody"


async def read_file(query: ReadFile, settings: SessionSettings, context: HostContext) -> FileShown:
    """Whoever asks may be far away, so the rules of mode default count, whatever mode the session is in. Raises
    BadInput."""
    named = (settings.cwd, *settings.folders)
    try:
        full = ConfinedFiles(named).locate(query.path)
        folders = tuple(dict.fromkeys([*named, *map(os.path.realpath, named)]))
        if context.folders.of(settings.cwd).hidden({full, os.path.realpath(full)}, "default", folders):
            raise BadInput(say("{path} may hold secrets and is not shown", path=query.path))
        shown = await context.machine.file_text(named, query.path, min(max(1, query.most_bytes), _MOST_BYTES))
    except ToolFailed as refused:
        raise BadInput(refused.message) from refused
    return replace(shown, text=context.secrets.hide(shown.text))
