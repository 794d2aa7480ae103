"""The contract between surfaces and sessions: commands in, values and events out."""

from collections.abc import AsyncGenerator
from typing import Any, Protocol, overload

from coderelay.protocol.asks import Approval
from coderelay.protocol.background import BackgroundRow
from coderelay.protocol.commands import Command, Outcome
from coderelay.protocol.events import PromptAdmitted, Recorded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.live import Live
from coderelay.protocol.overview import (
    AgentShown,
    CommandsShown,
    ContextShown,
    FilesShown,
    HostShown,
    ModelShown,
    SkillsShown,
    ToolShown,
    TurnShown,
)
from coderelay.protocol.permissions import PermissionsShown
from coderelay.protocol.queries import (
    ExpandCommand,
    ExportSession,
    FindAsk,
    ListAgents,
    ListApprovals,
    ListAsks,
    ListBackground,
    ListChildren,
    ListCommands,
    ListFiles,
    ListModels,
    ListPrompts,
    ListServers,
    ListSessions,
    ListSkills,
    ListTodos,
    ListTools,
    ListTurns,
    ReadFromServer,
    ReadMessages,
    ShowContext,
    ShowDiff,
    ShowHost,
    ShowPermissions,
    ShowSession,
    SuggestTitle,
    WhyNotRun,
    WhyWaiting,
)
from coderelay.protocol.servers import ServerRow
from coderelay.protocol.summary import AskRow, DiffShown, MessageRow, Summary
from coderelay.protocol.todos import Item


class Client(Protocol):
    async def send(self, command: Command) -> Outcome:
        """On disk when it returns. Raises a Refusal, and then nothing has changed."""
        ...

    @overload
    async def get(self, query: ListSessions | ListChildren) -> list[Summary]: ...
    @overload
    async def get(self, query: ShowSession) -> Summary: ...
    @overload
    async def get(self, query: ReadMessages) -> list[MessageRow]: ...
    @overload
    async def get(self, query: ExportSession) -> dict[str, Any]: ...
    @overload
    async def get(self, query: ListPrompts) -> list[PromptAdmitted]: ...
    @overload
    async def get(self, query: ListTodos) -> list[Item]: ...
    @overload
    async def get(self, query: ListBackground) -> list[BackgroundRow]: ...
    @overload
    async def get(self, query: ShowDiff) -> DiffShown: ...
    @overload
    async def get(self, query: ListAsks) -> list[AskRow]: ...
    @overload
    async def get(self, query: FindAsk) -> AskRow: ...
    @overload
    async def get(self, query: ListApprovals) -> list[Approval]: ...
    @overload
    async def get(self, query: ShowPermissions) -> PermissionsShown: ...
    @overload
    async def get(self, query: SuggestTitle | ReadFromServer) -> str: ...
    @overload
    async def get(self, query: ListServers) -> list[ServerRow]: ...
    @overload
    async def get(self, query: ListTools) -> list[ToolShown]: ...
    @overload
    async def get(self, query: ListSkills) -> SkillsShown: ...
    @overload
    async def get(self, query: ListCommands) -> CommandsShown: ...
    @overload
    async def get(self, query: ExpandCommand) -> str: ...
    @overload
    async def get(self, query: ShowContext) -> ContextShown: ...
    @overload
    async def get(self, query: ListModels) -> list[ModelShown]: ...
    @overload
    async def get(self, query: ListAgents) -> list[AgentShown]: ...
    @overload
    async def get(self, query: ListTurns) -> list[TurnShown]: ...
    @overload
    async def get(self, query: ListFiles) -> FilesShown: ...
    @overload
    async def get(self, query: ShowHost) -> HostShown: ...
    @overload
    async def get(self, query: WhyNotRun | WhyWaiting) -> str | None: ...

    def follow(self, session: SessionId, after: int = 0) -> AsyncGenerator[Recorded | Live, None]:
        """Everything after a cursor, then whatever comes: no gap, no repeat. Live pieces in between are
        for showing only. Ends when the session is deleted."""
        ...
