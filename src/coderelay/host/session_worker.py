"""The worker of one session: drives it as long as it needs an owner and this process may be that owner."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol

from msgspec.structs import replace

from coderelay.agents.agent import Agent
from coderelay.host.can_run import is_on_other_machine, may_claim, why_cannot_run
from coderelay.host.file_snapshot_timing import files_left, large_repository_prepared
from coderelay.host.host_context import HostContext, Send
from coderelay.host.loaded_session import LoadedSession
from coderelay.host.session_json_export import write_session_file
from coderelay.host.turn_lent_to_agent import AgentTurn
from coderelay.host.turn_snapshots_interface import OpenTurnFiles
from coderelay.protocol.calls import Outcome
from coderelay.protocol.errors import CoderError, Fenced, StoreFailed
from coderelay.protocol.events import AnyEvent, Ending, TurnEnded
from coderelay.protocol.ids import BackgroundId, CallId, OwnerId, TurnId, new_id
from coderelay.protocol.live_updates import Notice
from coderelay.protocol.session_setting_values import Persistence
from coderelay.protocol.wall_clock import now
from coderelay.session import background_command_events, external_agent_calls, shell_turns, turn_event_builder
from coderelay.session.children import open_tasks, stop_orphan
from coderelay.session.next_action import EndTurn, needs_owner, next_action
from coderelay.session.state import State
from coderelay.workspace.processes.orphans import end_orphans

log = logging.getLogger(__name__)

PRECEDENCE_SECONDS = 0.3
FILES_LEFT_SECONDS = 10.0


class Runner(Protocol):
    """Something that carries on a turn until it ends or waits for people. Raises if it cannot."""

    async def run(self, turn: AgentTurn) -> None: ...


class Worker:
    """Claims one session and runs its turns, with the session's agent or the person's shell."""

    def __init__(self, loaded: LoadedSession, context: HostContext, send: Send) -> None:
        self._loaded = loaded
        self._context = context
        self._send = send
        self._agent_task: asyncio.Task[None] | None = None
        self._leaving = False
        self._is_left = False
        self.is_failed = False
        self._is_taken_over = False

    async def run(self) -> None:
        """Run until the session rests, waits for people, or belongs to another process."""
        try:
            while not self._leaving and (epoch := await self._claim()) is not None:
                await self._carry_on(epoch)
        except Fenced:
            self._tell_taken_over()
        except StoreFailed as error:
            self.is_failed = True
            self._loaded.fail(error)

    def leave(self) -> None:
        """Stop driving the session, and leave its turn as it is for the next owner."""
        self._leaving = True
        if self._agent_task is not None:
            self._agent_task.cancel()

    def _tell_taken_over(self) -> None:
        """Tell followers, once, that this process stalled for so long that another one claimed the session."""
        if not self._is_taken_over:
            self._is_taken_over = True
            self._loaded.show(Notice("another process continues this session, because this one did not respond"))

    async def _claim(self) -> int | None:
        """Claim the session if it needs an owner and we may be that; returns the epoch of the claim as it was
        written, since the state may have moved on to another owner's."""
        await self._loaded.sync()
        await self._wait_for_preferred_owner()
        while needs_owner(self._loaded.state):
            owner = self._loaded.state.owner
            if self._is_elsewhere and not may_claim(self._loaded.state, self._context):
                return None
            if not await self._context.takeover.may_take_over(owner):
                return None
            if owner != await self._context.takeover.me():
                if owner is not None:
                    await asyncio.to_thread(end_orphans)  # before anybody is told how its commands ended
                await self._loaded.append(lambda state, owner=owner: stop_orphan(state, owner))
            ends = isinstance(next_action(self._loaded.state), EndTurn)
            if (children := await self._ends_of_children(ends)) is None:
                return None
            tree = await self._files_left() if ends and not self._is_elsewhere else ""
            me, gone = await self._context.takeover.me(), await self._gone()
            rejudge = None if ends else await self._context.judging.rejudge(self._loaded.state)
            decide = partial(
                self._decide_claim, owner=owner, me=me, tree=tree, gone=gone, rejudge=rejudge, children=children
            )
            if written := await self._loaded.append(decide):
                return written[-1].epoch
            if self._loaded.state.owner == owner:
                return None
        return None

    @property
    def _is_elsewhere(self) -> bool:
        return is_on_other_machine(self._loaded.state.settings, self._context)

    async def _wait_for_preferred_owner(self) -> None:
        """Let other processes claim first: after an answer, the previous owner has precedence if it still attends the
        session, then the process in which the answer was given, then any other."""
        state = self._loaded.state
        if state.owner is not None or state.last_owner is None or not needs_owner(state):
            return
        if await self._context.takeover.is_owned_elsewhere(state.last_owner):
            seconds = PRECEDENCE_SECONDS if self._loaded.answered_here else 2 * PRECEDENCE_SECONDS
            self._loaded.answered_here = False
            await self._loaded.moves(state.head, seconds)

    async def _ends_of_children(self, ends: bool) -> Mapping[CallId, Outcome] | None:
        """The outcomes of task calls that a dead owner left open; None while their children are at work. `ends`: the
        turn is only to be ended, so the children are stopped."""
        state = self._loaded.state
        if not open_tasks(state) or (not ends and why_cannot_run(state, self._context) is not None):
            return {}
        from coderelay.host.child_sessions import ChildSessions  # imported late: most sessions give no tasks

        children = ChildSessions(self._context, self._send)
        if ends:
            await children.stop_open(state)
            return {}
        return await children.ends(state)

    async def _gone(self) -> list[BackgroundId]:
        """The background commands that are over because the processes that ran them are dead."""
        running = background_command_events.running(self._loaded.state)
        return [each.id for each in running if await self._context.background_commands.is_gone(each)]

    def _decide_claim(
        self,
        state: State,
        owner: OwnerId | None,
        me: OwnerId,
        tree: str,
        gone: Sequence[BackgroundId],
        rejudge: turn_event_builder.Rejudge | None,
        children: Mapping[CallId, Outcome],
    ) -> list[AnyEvent]:
        """The events of the claim; none if the session has changed since it was looked at. `tree` is the snapshot of
        the files as the turn left them, if it is only to be ended."""
        if not needs_owner(state) or state.owner != owner:
            return []
        if not may_claim(state, self._context):
            return []
        agent, settings = None if shell_turns.is_next(state) else self._agent(state), state.settings
        tools = agent.describe(settings).tools if agent is not None and settings is not None else ()
        events = turn_event_builder.claim(
            state,
            turn_event_builder.Claim(
                owner=me,
                now=now(),
                turn_id=TurnId(new_id()),
                max_steps=self._max_steps(state),
                tools=tuple(tool.name for tool in tools),
                gone=gone,
                rejudge=rejudge,
                ends=children,
                blocking=agent is not None and agent.runs_own_loop,
                verbatim=agent is not None and agent.stores_raw_messages,
                partials=self._partials(state),
            ),
        )
        return [replace(each, tree=tree) if isinstance(each, TurnEnded) else each for each in events]

    def _max_steps(self, state: State) -> int:
        """The step limit of the next turn. Raises BadInput if the folder's configuration is wrong."""
        if state.settings is None or shell_turns.is_next(state):
            return 1
        return self._context.folders.of(state.settings.cwd).settings.max_steps

    def _partials(self, state: State) -> Persistence:
        if state.settings is None or shell_turns.is_next(state):
            return "until_final"
        return self._context.folders.of(state.settings.cwd).settings.persist_partials

    async def _carry_on(self, epoch: int) -> None:
        runner = self._runner(self._loaded.state)
        if self._loaded.state.turn is not None and runner is not None:
            me = await self._context.takeover.me()
            turn = self._turn_type()(self._loaded, epoch, me, self._context, self._send)
            try:
                error = await self._run_agent(runner, turn)
            finally:
                await turn.end_partials()
            if self._is_left and not self._leaving:
                await self._park(epoch)
            elif not self._leaving:
                await self._settle(turn, error)
        if self._loaded.state.turn is None and not self._loaded.state.deleted and not self._is_elsewhere:
            await write_session_file(self._loaded, self._context.agents)

    def _turn_type(self) -> type[AgentTurn]:
        if not self._loaded.state.is_blocking:
            return AgentTurn
        from coderelay.host.turn_lent_to_external_agent import (
            ExternalAgentTurn,  # imported late: most agents do not block
        )

        return ExternalAgentTurn

    async def _run_agent(self, agent: Runner, turn: AgentTurn) -> str | None:
        """Run the agent on the turn. Returns why the turn failed, if it did. A stop, a deletion, a new owner or asks
        that nobody answers in time cancel the agent."""
        self._is_left = False
        if self._leaving:  # said while the session was being claimed
            return None
        task = self._agent_task = asyncio.create_task(_run(agent, turn, self._context.turn_files))

        def watch(state: State) -> None:
            if state.epoch != turn.epoch and not state.deleted:
                self._tell_taken_over()
            is_over = state.epoch != turn.epoch or state.turn is None or state.turn.stop_requested
            self._is_left = not is_over and turn.may_be_left()
            if is_over or self._is_left:
                self._loaded.watchers.discard(watch)  # cancel once: the agent still writes how it was cut short
                task.cancel()

        self._loaded.watchers.add(watch)
        try:
            watch(self._loaded.state)
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        finally:
            self._loaded.watchers.discard(watch)
            self._agent_task = None
        return None if task.cancelled() else _why_failed(task.exception())

    async def _park(self, epoch: int) -> None:
        """Give up the session, whose agent has ended, until the asks of its turn are answered. If they were answered
        meanwhile, the next claim carries the turn on."""
        me = await self._context.takeover.me()
        await self._loaded.append(
            lambda state: external_agent_calls.park(state) if state.owner == me else [], epoch=epoch
        )

    async def _settle(self, turn: AgentTurn, error: str | None) -> None:
        """End a turn that its agent left open. A turn that waits for people has no owner, so it is not ours to
        end."""
        me = await self._context.takeover.me()
        if self._loaded.state.turn is None or self._loaded.state.owner != me:
            return
        tree = await self._files_left()

        def decide(state: State) -> list[AnyEvent]:
            if state.turn is None or state.owner != me:
                return []
            ending, text = _ending(next_action(state), error and self._context.secrets.hide(error))
            never_run, mine = turn.started_but_not_run(), state.is_blocking
            return turn_event_builder.close_turn(
                state, ending, now=now(), error=text, tree=tree, mine=mine, never_run=never_run
            )

        await self._loaded.append(decide, epoch=turn.epoch)

    async def _files_left(self) -> str:
        """The snapshot of the files as the turn leaves them. Whoever stops a turn must not wait long for git: on a
        timeout there is none, and the turn cannot be undone."""
        try:
            async with asyncio.timeout(FILES_LEFT_SECONDS):
                return await files_left(self._loaded.state, self._context.turn_files)
        except TimeoutError:
            return ""

    def _agent(self, state: State) -> Agent | None:
        """The agent of the session. An open turn is ended by the agent that began it, whatever was chosen since."""
        if state.settings is None:
            return None
        return self._context.agents.get(state.turn.started.agent if state.turn is not None else state.settings.agent)

    def _runner(self, state: State) -> Runner | None:
        """What runs the turn: an agent, or for the person's own commands the shell."""
        if not shell_turns.is_next(state):
            return self._agent(state)
        from coderelay.host.person_shell import PersonShell  # imported late, with the first of these commands

        return PersonShell(self._context)


async def _run(agent: Runner, turn: AgentTurn, files: OpenTurnFiles) -> None:
    async with large_repository_prepared(turn.settings.cwd, files):
        await turn.set_up()
        await agent.run(turn)


def _ending(action: object, error: str | None) -> tuple[Ending, str | None]:
    match action:
        case EndTurn(stopped=True):
            return "stopped", None
        case EndTurn():
            return "step_limit", turn_event_builder.STEP_LIMIT
        case _:
            return "failed", error or "the agent ended without finishing its turn"


def _why_failed(error: BaseException | None) -> str | None:
    """The error boundary of a turn: whatever went wrong ends the turn, is reported once and logged once. Errors of
    ownership and of the store are raised again."""
    match error:
        case None:
            return None
        case Fenced() | StoreFailed():
            raise error
        case CoderError():
            return str(error)
        case _:
            log.error("a turn failed", exc_info=error)
            return f"{type(error).__name__}: {error}"
