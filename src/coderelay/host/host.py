"""The host: the in-process Client, which carries out commands, answers queries and follows sessions."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from coderelay.client.client import NO_CAPABILITIES, Capabilities, Lent
from coderelay.host import can_run
from coderelay.host.ask_queries import answer_ask_query, permissions_open
from coderelay.host.client_with_capabilities import Connection
from coderelay.host.host_context import HostContext
from coderelay.host.loaded_session import LoadedSession
from coderelay.host.session_command_dispatch import answer, carry_out
from coderelay.host.session_feed import Feed
from coderelay.host.session_json_export import write_session_file
from coderelay.host.session_lists_and_families import children_of, waits_for, without_children
from coderelay.host.worker_supervisor import WorkerSupervisor
from coderelay.policy.remembered_approvals import ANY_MACHINE, approval_of
from coderelay.protocol.asks import Allow, Approval, DenyAndStop, PermissionAsk
from coderelay.protocol.commands import (
    Accepted,
    AnswerAsk,
    ClearHistory,
    Command,
    ConfigureSession,
    CreateSession,
    DeleteSession,
    ForkSession,
    MoveSession,
    Outcome,
    RevokeApproval,
    SetSetting,
    StopBackground,
    StopTurn,
    TrustFolder,
    Unchanged,
    Undone,
    UndoTurn,
    WriteSnapshot,
)
from coderelay.protocol.errors import CannotRun, StoreFailed, UnknownSession
from coderelay.protocol.events import ApprovalGranted, Recorded
from coderelay.protocol.ids import APPROVALS, AskId, SessionId
from coderelay.protocol.key_value_store import KeyValueStore
from coderelay.protocol.live_updates import Live
from coderelay.protocol.queries import (
    AnyQuery,
    ExpandCommand,
    ExportSession,
    FindAsk,
    ListAgents,
    ListApprovals,
    ListAsks,
    ListBackground,
    ListChildren,
    ListCommands,
    ListDecisions,
    ListFiles,
    ListFolders,
    ListModels,
    ListPrompts,
    ListRecentFolders,
    ListServedModels,
    ListServers,
    ListSessions,
    ListSettings,
    ListSkills,
    ListSubagents,
    ListTodos,
    ListTools,
    ListTurns,
    Query,
    ReadFile,
    ReadFromServer,
    ReadImage,
    ReadMessages,
    ShowContext,
    ShowDefaults,
    ShowDiff,
    ShowHost,
    ShowPermissions,
    ShowSession,
    ShowTrust,
    SuggestTitle,
    Value,
    WhyNotRun,
    WhyWaiting,
)
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.wall_clock import now
from coderelay.session import decide
from coderelay.session.children import open_tasks, tasks
from coderelay.session.next_action import needs_owner
from coderelay.session.state import State

if TYPE_CHECKING:
    from coderelay.host.child_sessions import ChildSessions
    from coderelay.host.local_machine_queries import MachineQuery
    from coderelay.host.session_queries import SessionQuery


class Host:
    """A Client on the log, in this process. By itself it has no capabilities; `connect` gives them."""

    capabilities = NO_CAPABILITIES
    language = ""

    def __init__(self, context: HostContext) -> None:
        self.context = context
        self.store = context.store
        self.load = context.sessions.load
        self._sessions = context.sessions
        self._supervisor = WorkerSupervisor(context, lambda command: self.send(command))  # tests replace `send`
        self._is_closed = False

    async def check(self) -> None:
        """Raises StoreFailed if this process could own no session. Checked before a prompt is admitted, this costs
        nobody anything."""
        await self.context.takeover.me()

    def connect(self, capabilities: Capabilities, language: str = "") -> Connection:
        """A Client for one surface, or for one person at it."""
        return Connection(self, capabilities, language)

    async def send(self, command: Command, capabilities: Capabilities = NO_CAPABILITIES) -> Outcome:
        self._refuse_when_closed()
        loaded = await self.load(command.session)
        if isinstance(command, UndoTurn):
            return await self._undo(loaded, command)
        if isinstance(command, StopBackground):
            return await self.context.background_commands.carry_out(loaded, command)
        if isinstance(command, WriteSnapshot):
            if not can_run.is_on_other_machine(decide.require(loaded.state), self.context):
                await write_session_file(loaded, self.context.agents)
            return Unchanged(loaded.state.head)
        if isinstance(command, ForkSession):
            from coderelay.host.session_fork_and_move import fork_session  # imported late: sessions are seldom forked

            return await fork_session(loaded, command, self.context)
        if isinstance(command, SetSetting | TrustFolder):
            from coderelay.host.change_settings_and_trust import (
                change_person_file,  # imported late: people seldom do this
            )

            return change_person_file(loaded, command, self.context, capabilities)
        if isinstance(command, MoveSession):
            return await self._move(loaded, command)
        if isinstance(command, DeleteSession) and tasks(loaded.state):
            await carry_out(loaded, StopTurn(session=command.session, by=command.by), self.context)
            await self._children().delete(loaded.state, command.by)
        if isinstance(command, AnswerAsk) and _reaches_further(loaded.state, command):
            outcome = await self._answer_for_more(loaded, command)
        else:
            own_ids = self._has_own_ids(loaded.state, command)
            outcome = await carry_out(loaded, command, self.context, capabilities, has_own_session_ids=own_ids)
        if isinstance(command, ConfigureSession | RevokeApproval) and open_tasks(loaded.state):
            await self._children().tighten(loaded.state, command.by)
        if isinstance(command, AnswerAsk) and isinstance(outcome, Accepted):
            loaded.answered_here = True
            if isinstance(command.decision, DenyAndStop) and (
                parent := await waits_for(self._sessions, loaded.state)
            ):
                await self.send(StopTurn(session=parent.session, by=command.by))  # its whole turn
            at_rest = loaded.state.turn is None and not loaded.state.deleted
            if at_rest and not can_run.is_on_other_machine(loaded.state.settings, self.context):
                await write_session_file(loaded, self.context.agents)  # the decision on a plan has ended the turn
        cleared = isinstance(command, ClearHistory) and isinstance(outcome, Accepted)
        if cleared and not can_run.is_on_other_machine(loaded.state.settings, self.context):
            await write_session_file(loaded, self.context.agents)
        self._supervisor.wake(loaded)
        return outcome

    async def get(self, query: Query[Value], capabilities: Capabilities = NO_CAPABILITIES) -> Value:
        self._refuse_when_closed()
        answer = await self._answer(cast("AnyQuery", query), capabilities)
        return cast("Value", answer)  # the query's type says what its answer is

    async def _answer(self, query: AnyQuery, capabilities: Capabilities) -> object:
        match query:
            case ListSettings():
                folder = query.cwd if query.session is None else await self._folder(query.session)
                return self.context.folders.settings_shown(can_run.existing_folder(folder or ""))
            case ShowTrust():
                from coderelay.host.change_settings_and_trust import (
                    untrusted_in,  # imported late: people seldom ask for this
                )

                return untrusted_in(await self.load(query.session), self.context, capabilities)
            case ListSessions():
                here = self.context.machine.identity if query.here else None
                return await without_children(self.store, query, None if here is None else here.id)
            case ListChildren():
                return await children_of(self._sessions, query.session)
            case ShowSession():
                return await self._sessions.summary(query.session)
            case ReadMessages():
                await self._sessions.summary(query.session)
                return await self.store.messages(query.session)
            case ListPrompts():
                await self._sessions.summary(query.session)
                return list((await self.load(query.session)).state.queue)
            case ListBackground():
                return await self.context.background_commands.rows((await self.load(query.session)).state)
            case SuggestTitle(session=str() as session, text=""):
                summary = await self._sessions.summary(session)
                return await self._answer_about_machine(SuggestTitle(session, text=summary.last_prompt))
            case ListAsks() | ListDecisions() | FindAsk():
                return await answer_ask_query(query, self._sessions)
            case ListApprovals():
                return await self._approvals_in(query)
            case ListTools() | ListSkills() | ListSubagents() | ListCommands() | ExpandCommand():
                return await self._answer_about_session(query)
            case ShowPermissions() | ShowContext() | ListTurns() | ReadImage() | ListServers() | ReadFromServer():
                return await self._answer_about_session(query)
            case ExportSession() | ListTodos():
                return await self._answer_about_session(query)
            case ListModels() | ListServedModels() | ListAgents() | ShowDefaults() | SuggestTitle():
                return await self._answer_about_machine(query)
            case ShowDiff() | ShowHost() | ListFiles() | ListFolders() | ListRecentFolders() | ReadFile():
                return await self._answer_about_machine(query)
            case WhyNotRun():
                if query.session is None:
                    return await self._answer_about_machine(query)
                await self._sessions.summary(query.session)
                settings = decide.require((await self.load(query.session)).state)
                wanted = replace(settings, model=query.model or settings.model, agent=query.agent or settings.agent)
                return can_run.why_cannot_run_with(wanted, self.context)
            case WhyWaiting():
                return await self._why_waiting((await self.load(query.session)).state)

    async def follow(self, session: SessionId, after: int = 0) -> AsyncGenerator[Recorded | Live, None]:
        self._refuse_when_closed()
        loaded = await self.load(session)
        if loaded.state.head == 0:
            raise UnknownSession(session)
        with self._supervisor.following(loaded):
            async with aclosing(Feed(loaded, after).events()) as events:
                async for event in events:
                    yield event

    async def follow_all(
        self, after: Mapping[SessionId, int] | None = None
    ) -> AsyncGenerator[tuple[SessionId, Recorded | Live], None]:
        self._refuse_when_closed()
        from coderelay.host.all_sessions_feed import AllSessionsFeed  # imported late: most follow one session

        feed = AllSessionsFeed(self._sessions, self._supervisor.unattended_deadlines)
        await feed.begin(after or {})
        with self._supervisor.following_all(feed):
            async with aclosing(feed.events()) as events:
                async for event in events:
                    yield event

    def lend(self, session: SessionId, lent: Lent) -> Callable[[], None]:
        return self.context.lending.lend(session, lent)

    def key_value_store(self, name: str) -> KeyValueStore:
        return self.store.key_value_store(name)

    def supervised(self) -> int:
        """How many sessions this process follows, works on or waits for."""
        return self._supervisor.supervised_count

    async def close(self) -> None:
        self.store.limit_lock_waits()  # a worker may wait for a lock
        await self._supervisor.close()
        self._is_closed = True
        await self.context.close()

    def _refuse_when_closed(self) -> None:
        """A late request would register this process as an owner again, and nothing would ever unregister it."""
        if self._is_closed:
            raise StoreFailed("coder is shutting down", "Nothing was changed.")

    def _has_own_ids(self, state: State, command: Command) -> bool:
        """Whether the agent of the session that a command is for has sessions of its own."""
        chosen = command.agent if isinstance(command, CreateSession | ConfigureSession) else None
        chosen = chosen or (state.settings and state.settings.agent)
        agent = self.context.agents.get(chosen or "")
        return agent is not None and agent.has_own_session_ids

    async def _undo(self, loaded: LoadedSession, command: UndoTurn) -> Outcome:
        """Undo the last turn. The files are restored before the event is written: if this process dies in between,
        the same undo finds them done."""
        past = decide.undoable(loaded.state)
        can_run.require_machine(decide.require(loaded.state), self.context)
        can_run.existing_folder(past.cwd)
        event = await self.context.turn_files().undo(past, command.by)
        if not await loaded.append(lambda state: decide.undone(state, event)):
            decide.require(loaded.state)
            raise CannotRun(decide.why_not_undone(loaded.state, event))
        await write_session_file(loaded, self.context.agents)
        return Undone(event.restored, event.removed, event.conflicts, loaded.state.head)

    async def _move(self, loaded: LoadedSession, command: MoveSession) -> Outcome:
        from coderelay.host.session_fork_and_move import move_here  # imported late: sessions seldom move

        outcome = await move_here(loaded, command, self.context)
        self._supervisor.wake(loaded)
        return outcome

    def _children(self) -> "ChildSessions":
        from coderelay.host.child_sessions import ChildSessions  # imported late: most processes have none

        return ChildSessions(self.context, self.send)

    async def _folder(self, session: SessionId) -> str:
        return can_run.require_folder(decide.require((await self.load(session)).state), self.context)

    async def _answer_about_session(self, query: "SessionQuery") -> object:
        from coderelay.host.session_queries import answer_session_query  # imported late: only people ask for this

        state = (await self.load(query.session)).state
        decide.require(state)
        return await answer_session_query(query, state, self.context)

    async def _answer_about_machine(self, query: "MachineQuery") -> object:
        from coderelay.host.local_machine_queries import (
            answer_machine_query,  # imported late: only people ask for this
        )

        session = None if isinstance(query, ShowDefaults | ListFolders | ListRecentFolders) else query.session
        state = None if session is None else (await self.load(session)).state
        if state is not None:
            decide.require(state)
        return await answer_machine_query(query, state, self.context)

    async def _why_waiting(self, state: State) -> str | None:
        if not needs_owner(state) or (
            state.owner is not None and not await self.context.takeover.may_take_over(state.owner)
        ):
            return None
        return can_run.why_cannot_run(state, self.context) or "coder resume continues it"

    async def _approvals_in(self, query: ListApprovals) -> list[Approval]:
        own = [] if query.session is None else list((await self.load(query.session)).state.approvals.values())
        beyond = await self._sessions.approvals()
        if query.person is not None:
            beyond = [each for each in beyond if each.scope != "person" or each.person in ("", query.person)]
        return [*own, *beyond]

    async def _answer_for_more(self, loaded: LoadedSession, command: AnswerAsk) -> Outcome:
        """Answer an ask, and with it the open asks of the same session that would not be asked after the new
        approval or in the new mode. An approval beyond the session is stored after that: if this process dies in
        between, the person is asked once more. Asks that were opened meanwhile are answered last."""
        granted, settings = _granted(loaded.state, command), decide.require(loaded.state)
        assert isinstance(command.decision, Allow)
        approval = None if granted is None else granted.approval
        in_session = approval is not None and approval.scope == "session"
        covered = await self._covered(loaded.state, approval, settings.mode, command.decision.mode)
        outcome = await answer(loaded, command, [granted] if granted is not None and in_session else [], covered)
        if not isinstance(outcome, Accepted):
            return outcome
        if granted is not None and not in_session:
            await (await self.load(APPROVALS)).append(lambda state: [granted])
        for ask in await self._covered(loaded.state, approval, settings.mode):
            await answer(loaded, replace(command, ask=ask, decision=Allow()))
        return outcome

    async def _covered(
        self, state: State, approval: Approval | None, before: Mode, mode: Mode | None = None
    ) -> list[AskId]:
        """The open asks that this answer covers too, by the configuration of this machine: so none of a session that
        another machine has."""
        if can_run.is_on_other_machine(state.settings, self.context):
            return []
        asks = permissions_open(state)
        allowed = await self.context.judging.now_allowed(state, asks, approval, before, mode) if asks else []
        return [each.id for each in allowed]


def _reaches_further(state: State, command: AnswerAsk) -> bool:
    """Whether an answer allows more than one call."""
    changes_mode = isinstance(command.decision, Allow) and command.decision.mode is not None
    return state.settings is not None and (changes_mode or _granted(state, command) is not None)


def _granted(state: State, command: AnswerAsk) -> ApprovalGranted | None:
    """The approval that an answer gives, where the next call will be judged; None if it counts for one call only."""
    asked, decision, settings = state.asks.get(command.ask), command.decision, state.settings
    if not isinstance(decision, Allow) or decision.scope == "once" or settings is None:
        return None
    if asked is None or not isinstance(asked.ask, PermissionAsk):
        return None
    machine = ANY_MACHINE if settings.machine is None else settings.machine.id
    approval = approval_of(asked.ask, decision.scope, settings.cwd, now(), person=command.by.who, machine=machine)
    return ApprovalGranted(approval=approval, by=command.by)
