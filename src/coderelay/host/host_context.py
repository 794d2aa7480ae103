"""The shared context of a host: its store, agents, folders, processes and other services."""

from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from coderelay.agents.agent import Agent
from coderelay.host.call_judge import CallJudge
from coderelay.host.cross_process_live_relay import LiveRelay
from coderelay.host.folder_config import FolderConfigs
from coderelay.host.loaded_session_cache import LoadedSessionCache
from coderelay.host.machine_interface import Machine
from coderelay.host.resources_lent_by_clients import ResourcesLentByClients
from coderelay.host.session_ownership import SessionOwnership
from coderelay.host.spending_limits import Spending
from coderelay.host.turn_snapshots_interface import OpenTurnFiles
from coderelay.policy.secrets.masking import Secrets
from coderelay.protocol.commands import Command, Outcome
from coderelay.protocol.ids import SessionId
from coderelay.store.store import Store
from coderelay.workspace.processes.command_runner import Processes

if TYPE_CHECKING:
    from coderelay.host.background_command_processes import BackgroundCommands


Send = Callable[[Command], Awaitable[Outcome]]
"""The type of `Host.send`, for code behind the host that sends commands to sessions other than its own."""


class HostContext(Struct, frozen=True, dict=True):
    """Made once by `app`; the host passes it on to its workers, and they to their turns."""

    sessions: LoadedSessionCache
    takeover: SessionOwnership
    live_relay: LiveRelay
    agents: Mapping[str, Agent]
    folders: FolderConfigs
    processes: Processes
    secrets: Secrets
    turn_files: OpenTurnFiles
    machine: Machine
    lending: ResourcesLentByClients

    @property
    def store(self) -> Store:
        return self.sessions.store

    @cached_property
    def judging(self) -> CallJudge:
        return CallJudge(self.sessions, self.folders)

    @cached_property
    def spending(self) -> Spending:
        return Spending(self.sessions, self.folders)

    @cached_property
    def background_commands(self) -> "BackgroundCommands":
        from coderelay.host.background_command_processes import (
            BackgroundCommands,  # imported late: most processes have none
        )

        return BackgroundCommands(self.takeover)

    def runs_background(self, session: SessionId) -> bool:
        """Whether background commands of a session run in this process."""
        return "background_commands" in vars(self) and self.background_commands.runs_any(session)

    async def close(self) -> None:
        if "background_commands" in vars(self):
            await self.background_commands.close()
        for agent in self.agents.values():
            await agent.close()
        await self.takeover.close()
        await self.store.close()
