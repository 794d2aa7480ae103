"""Answers queries about a session: its tools, skills and commands, and how full the context window is."""

from coderelay.agents.agent import Agent, Description
from coderelay.client.tool_specs import tool_specs
from coderelay.host.context import HostContext
from coderelay.protocol.calls import ToolSpec
from coderelay.protocol.queries import ExpandCommand, ListCommands, ListSkills, ListTools, ShowContext
from coderelay.protocol.session_info import CommandsShown, ContextShown, ToolShown
from coderelay.session.context_usage import context_of
from coderelay.session.state import SessionSettings, State

Look = ListTools | ListSkills | ListCommands | ExpandCommand | ShowContext


def look(query: Look, state: State, context: HostContext) -> object:
    """Raises BadInput."""
    settings = state.settings
    assert settings is not None
    agent, texts = context.agents.get(settings.agent), context.folders.texts(settings.cwd)
    match query:
        case ListTools():
            return _tools(_describe(agent, settings), settings)
        case ShowContext():
            return _context(state, _describe(agent, settings), settings)
        case ListSkills():
            return texts.skills()
        case ListCommands():
            found = texts.commands()
            return CommandsShown((*_describe(agent, settings).commands, *found.found), found.notes)
        case ExpandCommand():
            return texts.expand(query.name, query.arguments)


def _describe(agent: Agent | None, settings: SessionSettings) -> Description:
    return Description("", ()) if agent is None else agent.describe(settings)


def _tools(described: Description, settings: SessionSettings) -> list[ToolShown]:
    return [
        *(
            _tool(each, "" if tool_specs().is_allowed(each.name, settings.allowed_tools) else _NOT_HERE)
            for each in described.tools
        ),
        *(_tool(each, _DISABLED) for each in described.disabled),
    ]


_NOT_HERE = "not among the tools allowed in this session"
_DISABLED = "disabled in the configuration"


def _tool(spec: ToolSpec, off: str) -> ToolShown:
    return ToolShown(spec.name, spec.kind, spec.description, off)


def _context(state: State, described: Description, settings: SessionSettings) -> ContextShown:
    return context_of(state, settings.model, described.system, described.tools, described.window)
