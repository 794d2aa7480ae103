"""Answers queries about what a session finds on this machine: models, agents, files, where it is stored and run."""

from collections.abc import Sequence
from typing import Literal, Protocol

from coderelay.host.can_run import folder_exists
from coderelay.host.context import HostContext
from coderelay.host.mcp_servers import Servers
from coderelay.host.ownership import Ownership
from coderelay.protocol.errors import CannotRun
from coderelay.protocol.queries import ListAgents, ListFiles, ListModels, ShowHost
from coderelay.protocol.session_info import AgentShown, FilesShown, HostShown, ModelShown
from coderelay.protocol.translatable import say
from coderelay.session.state import SessionSettings, State

MachineQuery = ListModels | ListAgents | ListFiles | ShowHost


class Machine(Protocol):
    """What the machine offers besides sessions. `log_name` says where the log is, without any secret in it."""

    @property
    def log_name(self) -> str: ...

    async def offered_models(self, cwd: str) -> list[ModelShown]:
        """The models that can be used in a folder. Raises BadInput if its configuration is wrong."""
        ...

    def servers(self, cwd: str) -> Servers:
        """The MCP servers of a folder. Raises BadInput if its configuration is wrong."""
        ...

    async def files_in(self, folder: str) -> FilesShown: ...

    def programs(self) -> Sequence[str]:
        """The names of third-party agent programs that are installed."""
        ...


async def answer_machine_query(query: MachineQuery, state: State, context: HostContext) -> object:
    settings = state.settings
    assert settings is not None
    match query:
        case ListModels():
            return await context.machine.offered_models(settings.cwd)
        case ListAgents():
            return _agents(settings, context)
        case ListFiles():
            if not folder_exists(settings.cwd):
                raise CannotRun(say("the folder {folder} does not exist on this machine", folder=settings.cwd))
            return await context.machine.files_in(settings.cwd)
        case ShowHost():
            return HostShown(context.machine.log_name, await _owner(state, context.ownership))


def _agents(settings: SessionSettings, context: HostContext) -> list[AgentShown]:
    ours = [
        AgentShown(name, _DESCRIPTIONS.get(name, ""), agent.cannot_run(settings) or "")
        for name, agent in context.agents.items()
    ]
    programs = [name for name in context.machine.programs() if name not in context.agents]
    return [*ours, *(AgentShown(name, _INSTALLED, _NOT_YET) for name in programs)]


_DESCRIPTIONS = {"native": "coder's built-in agent, for any model", "guide": "follows fixed rules, needs no model"}
_INSTALLED = "installed on this machine"
_NOT_YET = "not supported by this version yet"


async def _owner(state: State, ownership: Ownership) -> Literal["nobody", "here", "another process"]:
    if state.owner is None:
        return "nobody"
    if await ownership.is_elsewhere(state.owner):
        return "another process"
    return "here" if state.owner == await ownership.me() else "nobody"
