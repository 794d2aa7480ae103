"""Answers queries about a session: its permissions, tools, skills, commands, MCP servers, todos, past turns, export,
and how full its context window is.

For a session of another machine only what the log knows is answered: the configuration, the skills and the commands
of this machine are others.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from coderelay.agents.agent import Agent, Description
from coderelay.client.builtin_tool_specs_loader import tool_specs
from coderelay.host.can_run import is_on_other_machine, require_folder, require_machine, why_folder_unavailable
from coderelay.host.host_context import HostContext
from coderelay.host.machine_interface import Servers
from coderelay.host.session_json_export import export_state
from coderelay.host.turn_snapshots_interface import TurnSnapshots
from coderelay.protocol.errors import CoderError
from coderelay.protocol.queries import (
    ExpandCommand,
    ExportSession,
    ListCommands,
    ListServers,
    ListSkills,
    ListSubagents,
    ListTodos,
    ListTools,
    ListTurns,
    ReadFromServer,
    ReadImage,
    ShowContext,
    ShowPermissions,
)
from coderelay.protocol.query_results import CommandsShown, ContextShown, ToolShown, TurnShown
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.session.context_usage import context_of
from coderelay.session.state import PastTurn, SessionSettings, State, todos

SessionQuery = (
    ShowPermissions
    | ExportSession
    | ListTodos
    | ListTools
    | ListSkills
    | ListSubagents
    | ListCommands
    | ExpandCommand
    | ListServers
    | ReadFromServer
    | ShowContext
    | ListTurns
    | ReadImage
)


async def answer_session_query(query: SessionQuery, state: State, context: HostContext) -> object:
    """Raises BadInput, and CannotRun if only the machine of the session can answer."""
    settings = state.settings
    assert settings is not None
    elsewhere = why_folder_unavailable(settings, context) if is_on_other_machine(settings, context) else None
    if isinstance(query, ShowPermissions | ListTools | ListSkills | ListSubagents | ExpandCommand):
        require_machine(settings, context)
    agents: Mapping[str, Agent] = context.agents if elsewhere is None else {}
    agent = agents.get(settings.agent)
    match query:
        case ShowPermissions():
            return context.judging.shown(state, await context.sessions.approvals())
        case ExportSession():
            return export_state(state, agents)
        case ListTodos():
            return list(todos(state))
        case ListTools():
            return _tools(_describe(agent, settings), settings)
        case ShowContext():
            return _context(state, _describe(agent, settings), settings)
        case ListSkills():
            return context.folders.texts(settings.cwd).skills()
        case ListSubagents():
            return context.folders.subagents(settings.cwd)
        case ListCommands() if elsewhere is not None:
            return CommandsShown(notes=(elsewhere,))
        case ListCommands():
            found = context.folders.texts(settings.cwd).commands()
            return replace(found, found=(*_describe(agent, settings).commands, *found.found))
        case ExpandCommand():
            return context.folders.texts(settings.cwd).expand(query.name, query.arguments)
        case ListServers():
            return [*await _servers(state, settings, context).rows(), *context.lending.rows(state)]
        case ReadFromServer():
            servers = _servers(state, settings, context)
            return context.secrets.hide(await servers.text(query.server, query.what, query.rest))
        case ReadImage():
            images = state.images.get(query.prompt_id, ())
            return images[query.number] if 0 <= query.number < len(images) else None
        case ListTurns():
            past = reversed(state.past[-query.limit :])
            if elsewhere is not None:
                return [TurnShown(each.turn_id, each.prompt, each.at, (), elsewhere) for each in past]
            return [await _turn(each, context.turn_files()) for each in past]


def _describe(agent: Agent | None, settings: SessionSettings) -> Description:
    return Description("", ()) if agent is None else agent.describe(settings)


def _servers(state: State, settings: SessionSettings, context: HostContext) -> Servers:
    return context.machine.servers(require_folder(settings, context), state)


def _tools(described: Description, settings: SessionSettings) -> list[ToolShown]:
    return [
        *(
            _tool(each, "" if tool_specs().is_allowed(each.name, settings.enforced_tools) else _NOT_HERE)
            for each in described.tools
        ),
        *(_tool(each, _DISABLED) for each in described.disabled),
    ]


_NOT_HERE = "not allowed in this session"
_DISABLED = "disabled in the configuration"


def _tool(spec: ToolSpec, off: str) -> ToolShown:
    return ToolShown(spec.name, spec.kind, spec.description, off)


def _context(state: State, described: Description, settings: SessionSettings) -> ContextShown:
    return context_of(state, settings.model, described.system, described.tools, described.window)


async def _turn(past: PastTurn, files: TurnSnapshots) -> TurnShown:
    try:
        changes = await files.changes_of(past) if past.before and past.after else ()
        problem = past.problem
    except CoderError as error:
        changes, problem = (), error.message
    return TurnShown(past.turn_id, past.prompt, past.at, changes, problem)
