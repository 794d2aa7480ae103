"""Answers queries about a session's surroundings: models, agents, past turns, files, where it is stored and run."""

from collections.abc import Sequence
from typing import Literal, Protocol

from coderelay.host.can_run import folder_exists
from coderelay.host.context import HostContext
from coderelay.host.mcp_servers import Servers
from coderelay.protocol.errors import CannotRun, CoderError
from coderelay.protocol.queries import ListAgents, ListFiles, ListModels, ListTurns, ShowHost
from coderelay.protocol.session_info import AgentShown, FilesShown, HostShown, ModelShown, TurnShown
from coderelay.protocol.translatable import say
from coderelay.session.state import PastTurn, State

Around = ListModels | ListAgents | ListTurns | ListFiles | ShowHost


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


class Lookout:
    """Answers these queries for one host. It is not the look-out of `wakeups`, which polls."""

    def __init__(self, context: HostContext) -> None:
        self._machine = context.machine
        self._agents = context.agents
        self._ownership = context.ownership
        self._files = context.turn_files

    async def look(self, query: Around, state: State) -> object:
        settings = state.settings
        assert settings is not None
        match query:
            case ListModels():
                return await self._machine.offered_models(settings.cwd)
            case ListAgents():
                return self._agents_for(state)
            case ListTurns():
                return [await self._turn(each) for each in reversed(state.past[-query.limit :])]
            case ListFiles():
                if not folder_exists(settings.cwd):
                    raise CannotRun(say("the folder {folder} is not here", folder=settings.cwd))
                return await self._machine.files_in(settings.cwd)
            case ShowHost():
                return HostShown(self._machine.log_name, await self._owner(state))

    def _agents_for(self, state: State) -> list[AgentShown]:
        settings = state.settings
        assert settings is not None
        programs = self._machine.programs()
        ours = [
            AgentShown(name, _DESCRIPTIONS.get(name, ""), agent.cannot_run(settings) or "")
            for name, agent in self._agents.items()
        ]
        theirs = [AgentShown(name, _INSTALLED, _NOT_YET) for name in programs if name not in self._agents]
        return [*ours, *theirs]

    async def _turn(self, past: PastTurn) -> TurnShown:
        try:
            changes = await self._files().changes_of(past) if past.before and past.after else ()
            problem = past.problem
        except CoderError as error:
            changes, problem = (), error.message
        return TurnShown(past.turn_id, past.prompt, past.at, changes, problem)

    async def _owner(self, state: State) -> Literal["nobody", "here", "another process"]:
        if state.owner is None:
            return "nobody"
        if await self._ownership.is_elsewhere(state.owner):
            return "another process"
        return "here" if state.owner == await self._ownership.me() else "nobody"


_DESCRIPTIONS = {"native": "coder's own loop, with any model", "guide": "follows fixed rules, needs no model"}
_INSTALLED = "a program that is installed here"
_NOT_YET = "this version cannot drive it yet"
