"""The open turn of a session that this process owns: the interface through which an agent acts."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec.structs import replace

from coderelay.host.file_snapshot_timing import before_change, before_wait, files_left
from coderelay.host.host_context import HostContext, Send
from coderelay.host.loaded_session import LoadedSession, carried_out
from coderelay.protocol.asks import Decision, OfferAsk, PermissionAsk
from coderelay.protocol.calls import Call, Failed, Finished, Need, Outcome, Stopped, Unknown
from coderelay.protocol.errors import Fenced, MustAsk, StoreFailed
from coderelay.protocol.events import AnyEvent, CallAsked, ChildOpened, HistoryCompacted, MessageAdded
from coderelay.protocol.ids import CallId, OwnerId, SessionId, TurnId, new_ask_id
from coderelay.protocol.live_updates import Live, Notice, TextDelta, ThinkingDelta
from coderelay.protocol.translatable import say, with_template
from coderelay.protocol.wall_clock import now
from coderelay.session import turn_event_builder, verbatim_agent_messages
from coderelay.session.next_action import Action, Wait, next_action
from coderelay.session.state import OpenTurn, SessionSettings, State
from coderelay.session.unfinished_call_outcomes import outcome_without_running

if TYPE_CHECKING:
    from coderelay.host.background_command_processes import SessionBackground
    from coderelay.host.hooks.hooks import Hooks
    from coderelay.host.live_command_output import LiveCommandOutput
    from coderelay.host.partial_messages_to_log import PartialMessageBuffer
    from coderelay.session.external_agent_calls import Continuation

Effect = Callable[[Call], Awaitable[Outcome]]
_SLOW_SECONDS = 1.0


class AgentTurn:
    """A turn under one claim. Once the session has another owner, or none because it waits for people, nothing more
    can be written through this object."""

    def __init__(self, loaded: LoadedSession, epoch: int, me: OwnerId, context: HostContext, send: Send) -> None:
        assert loaded.state.turn is not None
        self._context = context
        self._send = send
        self._tasks: set[CallId] = set()
        self._performed: set[CallId] = set()
        self._background: SessionBackground | None = None
        self._listening: dict[CallId, LiveCommandOutput] = {}
        self._is_shell = loaded.state.turn.started.task == "shell"
        self._partials = self._open_partials(loaded.state.turn)
        self._loaded = loaded
        self._me = me
        self.epoch = epoch
        self.id: TurnId = loaded.state.turn.started.turn_id

    @property
    def session(self) -> SessionId:
        return self._loaded.session

    @property
    def state(self) -> State:
        return self._loaded.state

    @property
    def settings(self) -> SessionSettings:
        assert self.state.settings is not None
        return self.state.settings

    def next_action(self) -> Action:
        return next_action(self.state) if self._is_mine(self.state) else Wait()

    def background(self) -> "SessionBackground":
        self._background = self._context.background_commands.of(self._loaded)
        return self._background

    async def give_task(self, call: CallId, description: str, prompt: str, subagent: str = "") -> Finished:
        """Run a task in a child session. If this process merely shuts down, the child is left as it is, and the next
        owner reads from its log how it ended."""
        from coderelay.host.child_sessions import ChildSessions  # imported late: most turns give no task

        children = ChildSessions(self._context, self._send)
        child = await children.open(self.state, call, description, subagent)
        self._tasks.add(call)
        try:
            await self._write(lambda state: [ChildOpened(call_id=call, child=child)])
            return await children.work(child, prompt, self.state)
        except asyncio.CancelledError:
            if self.is_stopped or self.state.deleted:
                await asyncio.shield(children.stop(child))
            raise

    def is_left_to_child_session(self, call: CallId) -> bool:
        """Whether the call has opened a child session that nobody wants to end."""
        return call in self._tasks and not self.is_stopped

    def _open_partials(self, turn: OpenTurn) -> "PartialMessageBuffer | None":
        if turn.started.partials != "always":
            return None
        from coderelay.host.partial_messages_to_log import (
            PartialMessageBuffer,  # imported late: few people keep partial messages
        )

        return PartialMessageBuffer(turn.started.turn_id, turn.partials, self._keep_partials)

    async def _keep_partials(self) -> None:
        with suppress(Fenced):  # the turn is somebody else's now; nobody has been shown what is lost here
            await self._write(lambda state: [])

    async def end_partials(self) -> None:
        """Append the pieces that no event has brought along, because the agent was cut short."""
        if self._partials is not None:
            self._partials.finish()
            with suppress(StoreFailed):  # whoever ends the turn reports it
                await self._keep_partials()
            self._partials.close()

    def show(self, live: Live) -> None:
        """Show a live piece. Notices are masked, because they may quote a server, a file or another program."""
        if self._partials is not None and isinstance(live, TextDelta | ThinkingDelta):
            self._partials.add(live)
            live = replace(live, kept=True)
        self._loaded.show(
            Notice(self._context.secrets.hide(with_template(live.text, live.said)))
            if isinstance(live, Notice)
            else live
        )

    def listener(self, call: CallId) -> Callable[[bytes], None]:
        from coderelay.host.live_command_output import LiveCommandOutput  # imported late: most turns run no command

        self._listening[call] = LiveCommandOutput(call, self._context.secrets.hide, self.show)
        return self._listening[call].add_output

    def end_listening(self, call: CallId) -> str:
        """Returns what the command of a call has written; nothing more of it is shown live."""
        live = self._listening.pop(call, None)
        return "" if live is None else live.end()

    async def set_up(self) -> None:
        """Run the setup hooks before the agent begins, and record what they want the session's commands to have."""
        hooks = self._hooks
        if hooks is None or self.state.environment is not None:
            return
        found = await hooks.set_up(self)
        if found is not None:
            await self._write(lambda state: [found] if state.environment is None else [])

    @property
    def _hooks(self) -> "Hooks | None":
        """The hooks as configured now. None apply to the person's own commands. Raises BadInput."""
        return None if self._is_shell else self._context.folders.of(self.settings.cwd).hooks

    async def attach(self, agent_session_id: str, model: str = "", tools: tuple[str, ...] = ()) -> None:
        await self._write(lambda state: turn_event_builder.attach(state, agent_session_id, model, tools))

    async def keep(self, messages: Sequence[str], form: str = "cowork") -> None:
        from coderelay.host.verbatim_agent_message_event import (
            raw_message_event,  # imported late: few agents need this
        )

        kept = [raw_message_event(self.id, each, form, self._context.secrets.hide) for each in messages]
        self._finish_partials()
        await self._write(lambda state: verbatim_agent_messages.keep(state, kept))

    async def ask(self, call: Call, need: Need) -> Decision:
        raise AssertionError("only the agent of a blocking turn asks")

    async def heard(self, call: Call, need: Need, outcome: Outcome) -> str:
        raise AssertionError("only the agent of a blocking turn tells of its calls")

    @property
    def continuation(self) -> "Continuation | None":
        return None

    def may_be_left(self) -> bool:
        """Whether nobody needs the agent until people have answered, and none of them is expected to do so soon."""
        return False

    async def take_steering(self) -> None:
        if any(each.steer for each in self.state.queue):
            await self._write(turn_event_builder.take_steering)

    async def may_continue(self) -> bool:
        if not self._is_mine(self.state):
            return False
        ask = await self._context.spending.ask(self.state, now()) or self._offer()
        if ask is not None:
            await self._leave_files()
            await self._write(lambda state: turn_event_builder.pause_for_ask(state, ask))
        return ask is None

    def _offer(self) -> OfferAsk | None:
        return self._context.lending.ask(self.state)

    async def compact(self, compacted: HistoryCompacted) -> None:
        await self._write(lambda state: turn_event_builder.after_compaction(state, compacted, now=now()))

    async def add(self, message: MessageAdded, needs: Sequence[Need], *, final: bool) -> None:
        self._finish_partials()
        needs = [self._context.secrets.hide_need(need) for need in needs]
        judged = await self._context.judging.judge(self.state, message.calls, needs)
        plan_ask, why_go_on = new_ask_id(self.session), ""
        try:
            if (hooks := self._hooks) is not None:
                judged = await hooks.run_pre_tool_hooks(self, message.calls, judged)
                why_go_on = await hooks.run_stop_hooks(self, message) if final else ""
        except asyncio.CancelledError:
            if self.is_stopped:  # the message is kept; nothing follows from it
                await self._write(
                    lambda state: turn_event_builder.after_message(state, message, judged, final=final, now=now())
                )
            raise
        if any(each.ask is not None for each in judged):
            await self._leave_files()
        tree = await files_left(self.state, self._context.turn_files) if final else ""

        def decide(state: State) -> list[AnyEvent]:
            return turn_event_builder.after_message(
                state, message, judged, final=final, now=now(), plan_ask=plan_ask, tree=tree, why_go_on=why_go_on
            )

        await self._write(decide)

    async def finish(self) -> None:
        hooks = self._hooks
        why_go_on = await hooks.run_stop_hooks(self, None) if hooks is not None else ""
        tree = await files_left(self.state, self._context.turn_files)
        await self._write(lambda state: turn_event_builder.finish(state, now=now(), tree=tree, why_go_on=why_go_on))

    async def with_hook_feedback(self, call: Call, need: Need, finished: Finished) -> Finished:
        """The result of a call that has just succeeded, with the feedback of hooks."""
        hooks = self._hooks
        return finished if hooks is None else await hooks.run_post_tool_hooks(self, call, need, finished)

    async def perform(self, calls: Sequence[Call], effect: Effect) -> None:
        started = await self._start(calls)
        if not started:
            return
        self._performed.update(call.id for call in started)
        running = [_Running(call, effect, self) for call in started]
        try:
            await self._keep_files(started)
            if len(running) == 1:
                await running[0].run()
            else:
                async with asyncio.TaskGroup() as group:
                    for each in running:
                        group.create_task(each.run())
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from failures  # the first says what went wrong
        finally:
            await carried_out(self._end(running))

    async def _keep_files(self, calls: Sequence[Call]) -> None:
        needs = [self.state.calls[call.id].judged.need for call in calls]
        long_wait = Notice("taking a snapshot, so that this turn can be undone")
        slow = asyncio.get_running_loop().call_later(_SLOW_SECONDS, self.show, long_wait)
        try:
            taken = await before_change(self.state, needs, self._context.turn_files)
        finally:
            slow.cancel()
        if taken is not None:
            await self._write(lambda state: [taken])

    def started_but_not_run(self) -> set[CallId]:
        """The calls that were started in the log under this claim, but never handed to their tools, because the agent
        was stopped in between."""
        mine = (each.call.id for each in self.state.open_calls() if each.started_epoch == self.epoch)
        return {each for each in mine if each not in self._performed}

    @property
    def is_stopped(self) -> bool:
        turn = self.state.turn
        return turn is not None and turn.stop_requested

    async def _start(self, calls: Sequence[Call]) -> list[Call]:
        """Start those of the calls that may run now, and return them. Most calls were started in the append before;
        then this writes nothing."""
        fresh = any(self.state.calls[call.id].started_epoch is None for call in calls)
        look = await self._context.judging.rejudge(self.state) if fresh else None

        def decide(state: State) -> list[AnyEvent]:
            known = [state.calls[call.id] for call in calls]
            if all(each.started_epoch is not None for each in known):
                mine = all(each.started_epoch == self.epoch for each in known)
                assert mine, "started by another owner: never to be run again"
                return []
            assert all(outcome_without_running(each) is None for each in known), "not allowed to run"
            return turn_event_builder.start_next(state, look)

        await self._write(decide)
        return [call for call in calls if self.state.calls[call.id].started_epoch == self.epoch]

    async def _end(self, all_of_them: Sequence["_Running"]) -> None:
        running = [each for each in all_of_them if not each.left_at_work]
        if not running:
            return
        alone = running[0]
        if len(all_of_them) == 1 and isinstance(alone.outcome, MustAsk):
            await self._ask_again(alone.call, alone.outcome.message)
            return
        ends = [
            turn_event_builder.End(each.call.id, self._context.secrets.hide_outcome(each.ended()), each.ms)
            for each in running
        ]
        cut = any(isinstance(end.outcome, Stopped | Unknown) for end in ends) or any(each.cut for each in running)
        try:
            await self._write_ends(ends, go_on=not cut)
        finally:
            if self._background is not None:
                self._background.drop_unrecorded()

    async def _write_ends(self, ends: Sequence[turn_event_builder.End], *, go_on: bool) -> None:
        look = await self._context.judging.rejudge(self.state)

        def decide(state: State) -> list[AnyEvent]:
            return turn_event_builder.after_calls(state, ends, go_on=go_on, rejudge=look)

        if self._is_mine(self.state) and any(isinstance(each, CallAsked) for each in decide(self.state)):
            await self._leave_files()
        await self._write(decide)

    async def _leave_files(self) -> None:
        taken = await before_wait(self.state, self._context.turn_files)
        if taken is not None:
            await self._write(lambda state: [taken])

    async def _ask_again(self, call: Call, reason: str) -> None:
        known = self.state.calls[call.id]
        ask = PermissionAsk(new_ask_id(self.session), call.id, known.judged.need, reason, cause="tool")
        await self._leave_files()
        await self._write(lambda state: turn_event_builder.ask_again(state, call.id, ask))

    def _finish_partials(self) -> None:
        if self._partials is not None:
            self._partials.finish()

    async def _write(self, decide: Callable[[State], list[AnyEvent]]) -> None:
        """Append events. The pieces of messages that were emitted before them come first."""
        pieces = [] if self._partials is None else self._partials.take()

        def decide_if_mine(state: State) -> list[AnyEvent]:
            if not self._is_mine(state):
                raise Fenced(self.session, self.epoch, state.epoch)
            return [*pieces, *decide(state)]

        await self._loaded.append(decide_if_mine, epoch=self.epoch)

    def _is_mine(self, state: State) -> bool:
        turn = state.turn
        return turn is not None and turn.started.turn_id == self.id and state.owner == self._me


class _Running:
    """One call while it runs. Until it has ended, nobody knows whether it had an effect. `cut`: its effect is known,
    but nothing may follow it. `left_at_work`: it goes on without this process, so it has no end yet."""

    def __init__(self, call: Call, effect: Effect, turn: AgentTurn) -> None:
        self.call = call
        self.outcome: Outcome | MustAsk = Unknown()
        self.ms = 0
        self.cut = False
        self.left_at_work = False
        self._begun = False
        self._effect = effect
        self._turn = turn

    async def run(self) -> None:
        began = time.monotonic()
        self._begun = True
        try:
            self.outcome = await self._effect(self.call)
        except MustAsk as must_ask:
            self.outcome = must_ask
        except asyncio.CancelledError:
            self.left_at_work = self._turn.is_left_to_child_session(self.call.id)
            if self._turn.is_stopped:
                self.outcome = Stopped(started=True, output=self._turn.end_listening(self.call.id))
            raise
        finally:
            self._turn.end_listening(self.call.id)
            self.ms = round((time.monotonic() - began) * 1000)
        if isinstance(self.outcome, Finished):
            await self._hear_hooks(self.outcome)

    async def _hear_hooks(self, finished: Finished) -> None:
        self.cut = True
        need = self._turn.state.calls[self.call.id].judged.need
        self.outcome = await self._turn.with_hook_feedback(self.call, need, finished)
        self.cut = False

    def ended(self) -> Outcome:
        """The outcome to write. A call that must ask while it runs beside others cannot go back to waiting: it fails,
        and the model may try it alone."""
        if isinstance(self.outcome, MustAsk):
            return Failed(say("{problem}; call it on its own", problem=self.outcome.message))
        if not self._begun and self._turn.is_stopped:
            return Stopped(started=False)
        return self.outcome
