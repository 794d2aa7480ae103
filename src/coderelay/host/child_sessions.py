"""Child sessions (subagents): a `task` call of the parent opens one, and the call ends when the child does."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress

from msgspec.structs import replace

from coderelay.client.builtin_tool_specs_loader import tool_specs
from coderelay.client.typed_model_name import with_provider
from coderelay.host.host_context import HostContext, Send
from coderelay.host.loaded_session import LoadedSession
from coderelay.host.tool_list_intersection import tools_in_both
from coderelay.protocol.asks import By
from coderelay.protocol.calls import Failed, Finished, Outcome
from coderelay.protocol.commands import (
    ConfigureSession,
    CreateSession,
    DeleteSession,
    OpenSession,
    SendPrompt,
    StopBackground,
    StopTurn,
)
from coderelay.protocol.errors import ToolFailed, UnknownSession
from coderelay.protocol.events import AnyEvent, ApprovalGranted, ApprovalRevoked, TurnEnded, TurnStarted
from coderelay.protocol.ids import CallId, SessionId, child_id
from coderelay.protocol.modes import mode_spec, stricter_mode
from coderelay.protocol.translatable import join_texts, say, with_template
from coderelay.session import background_command_events
from coderelay.session.children import AGENT, TASK, children, is_at_rest, open_tasks, task_prompt
from coderelay.session.settings_change_timing import Facts, configure
from coderelay.session.state import BackgroundCommand, SessionSettings, State

MOST_AT_WORK = 8
TOO_MANY_TASKS = say(
    "{count} tasks are running, which is the limit; start this one when another has ended", count=MOST_AT_WORK
)
_SHOWN_CHARS = 30_000
_POLL_SECONDS = 60.0
_STOP_SECONDS = 15.0


class ChildSessions:
    """Opens, runs, stops, restricts and deletes the child sessions of a parent."""

    def __init__(self, context: HostContext, send: Send) -> None:
        self._sessions = context.sessions
        self._takeover = context.takeover
        self._send = send
        self._context = context

    async def open(self, parent: State, call: CallId, description: str, subagent: str = "") -> SessionId:
        """Create the child session; what needs no asking in its parent needs none in it. With the name of a
        `subagent`, it gets the instructions and at most the tools of that one. Raises ToolFailed in a session that is
        a child itself, for more tasks than may be at work together, and for an unknown name."""
        settings = parent.settings
        assert settings is not None
        if settings.parent is not None:
            raise ToolFailed(tool_specs().spec_of(TASK).refusal_in_subagents)
        if all(each.call.id != call for each in open_tasks(parent)[:MOST_AT_WORK]):
            raise ToolFailed(TOO_MANY_TASKS)
        chosen = self._context.folders.texts(settings.cwd).subagent(subagent) if subagent else None
        child = child_id(parent.session, call)
        await self._send(
            CreateSession(
                session=child,
                cwd=settings.cwd,
                model=settings.model if chosen is None else self._model(chosen.model, settings),
                mode=mode_spec(settings.mode).child,
                agent=settings.agent,
                title=description,
                allowed_tools=tools_in_both(() if chosen is None else chosen.tools, settings.enforced_tools),
                instructions="" if chosen is None else chosen.instructions,
                think=settings.think,
                folders=settings.folders,
                parent=parent.session,
                parent_call=call,
                profile=settings.profile,
                by=_on_behalf_of(parent),
            )
        )
        granted = [ApprovalGranted(approval=each, by=AGENT) for each in parent.approvals.values()]
        await (await self._sessions.load(child)).append(lambda state: [] if state.deleted else [*granted])
        return child

    def _model(self, wanted: str, settings: SessionSettings) -> str:
        """The model that a subagent names, if it can be used here; else that of its parent."""
        model = with_provider(wanted, settings.model) if wanted else settings.model
        agent = self._context.agents.get(settings.agent)
        usable = agent is not None and agent.cannot_run(replace(settings, model=model)) is None
        return model if usable else settings.model

    async def work(self, child: SessionId, prompt: str, parent: State) -> Finished:
        """Give the child its task and wait until it rests, which may be only after a person has answered it. Raises
        ToolFailed if it ends badly."""
        assert parent.turn is not None
        started = parent.turn.started
        await self.tighten((await self._sessions.load(parent.session)).state, AGENT)  # may have changed since `open`
        with suppress(UnknownSession):  # the child was deleted just now
            await self._send(
                SendPrompt(
                    session=child,
                    prompt_id=task_prompt(child),
                    text=prompt,
                    max_steps=started.max_steps,
                    answer_within=started.answer_within,
                    unanswered=started.unanswered,
                    by=_on_behalf_of(parent),
                )
            )
        loaded = await self._sessions.load(child)
        await _wait_until_at_rest(loaded)
        outcome = await self._outcome(loaded, await _ending(loaded))
        if isinstance(outcome, Failed):
            raise ToolFailed(outcome.message)
        return outcome

    async def stop(self, child: SessionId) -> None:
        """Stop the child and wait until it has stopped, so that it changes nothing any more."""
        loaded = await self._sessions.load(child)
        with suppress(UnknownSession, TimeoutError):  # it was deleted, or its owner does not react in time
            await self._send(StopTurn(session=child, by=AGENT))
            async with asyncio.timeout(_STOP_SECONDS):
                await _wait_until_at_rest(loaded)
        await self._end_commands(loaded)

    async def stop_open(self, parent: State) -> None:
        await self._stop_all([child_id(parent.session, call.call.id) for call in open_tasks(parent)])

    async def ends(self, parent: State) -> dict[CallId, Outcome] | None:
        """The known outcomes of the open tasks of a parent that has lost its owner. None while a child is at work or
        waits for people, because its parent then waits too. A child that lost its own owner in mid-turn is stopped,
        and gets no outcome here: nobody knows how it would have ended."""
        known: dict[CallId, Outcome] = {}
        lost: list[SessionId] = []
        busy = False
        await self.tighten(parent, AGENT)
        for call in open_tasks(parent):
            loaded = await self._sessions.load(child_id(parent.session, call.call.id))
            if is_at_rest(loaded.state):
                ended = await _ending(loaded)
                if ended is not None and ended.ending != "stopped":
                    known[call.call.id] = await self._outcome(loaded, ended)
            elif await self._is_lost(loaded.state):
                lost.append(loaded.session)
            else:
                await self._send(OpenSession(session=loaded.session, by=AGENT))
                busy = True
        await self._stop_all(lost)
        return None if busy else known

    async def tighten(self, parent: State, by: By) -> None:
        """Restrict every child at work to what its parent may do now."""
        for call in open_tasks(parent):
            loaded = await self._sessions.load(child_id(parent.session, call.call.id))
            await loaded.append(lambda state: _tightening_events(state, parent, by))

    async def delete(self, parent: State, by: By) -> None:
        """Delete the children of a session. Called before the session itself is deleted, so that no child is
        orphaned."""
        for child in children(parent):
            await self._send(DeleteSession(session=child, by=by))

    async def _stop_all(self, sessions: Iterable[SessionId]) -> None:
        async with asyncio.TaskGroup() as group:
            for each in sessions:
                group.create_task(self.stop(each))

    async def _outcome(self, loaded: LoadedSession, ended: TurnEnded | None) -> Finished | Failed:
        """How the task ended. The background commands that the child left running are stopped, because nobody who
        looks at the parent knows of them."""
        if loaded.state.deleted:
            return Failed("the session of this task was deleted before it ended")
        return _task_result(ended, await self._end_commands(loaded))

    async def _end_commands(self, loaded: LoadedSession) -> list[BackgroundCommand]:
        left = background_command_events.running(loaded.state)
        with suppress(UnknownSession, TimeoutError):  # as in `stop`
            for each in left:
                await self._send(StopBackground(session=loaded.session, background=each.id, by=AGENT))
            async with asyncio.timeout(_STOP_SECONDS):
                while background_command_events.running(loaded.state):
                    await loaded.moves(loaded.state.head, _POLL_SECONDS)
        return left

    async def _is_lost(self, state: State) -> bool:
        owner = state.owner
        if owner is None or owner == await self._takeover.me():
            return False
        return await self._takeover.may_take_over(owner)


def _on_behalf_of(parent: State) -> By:
    """Who sends the task: the person of the parent's turn. If several people sent prompts to that turn, the task has
    no sender, so that no person's approvals count in the child."""
    people = parent.people
    return By(who=people[0], via=AGENT.via) if len(people) == 1 else AGENT


async def _wait_until_at_rest(loaded: LoadedSession) -> None:
    while not is_at_rest(loaded.state):
        await loaded.moves(loaded.state.head, _POLL_SECONDS)


async def _ending(loaded: LoadedSession) -> TurnEnded | None:
    """The end of the turn that worked on the task; people may have sent other prompts to the child."""
    turn, after = None, 0
    while page := await loaded.read(after):
        for each in page:
            if isinstance(each.event, TurnStarted) and each.event.prompt_id == task_prompt(loaded.session):
                turn = each.event.turn_id
            if isinstance(each.event, TurnEnded) and each.event.turn_id == turn:
                return each.event
        after = page[-1].seq
    return None


def _tightening_events(child: State, parent: State, by: By) -> list[AnyEvent]:
    """The events that take from a child what its parent may no longer do. Approvals that a person gave in the child
    itself are kept."""
    own, of_parent = child.settings, parent.settings
    if child.deleted or own is None or of_parent is None:
        return []
    settings = ConfigureSession(
        session=child.session,
        mode=stricter_mode(own.mode, mode_spec(of_parent.mode).child),
        allowed_tools=tools_in_both(own.allowed_tools, of_parent.enforced_tools),
        folders=tuple(each for each in own.folders if each in of_parent.folders),
        profile=None if of_parent.profile else "",
        by=by,
    )
    revoked = [each for each in child.approvals if each not in parent.approvals and each not in child.asks]
    configured = configure(child, settings, Facts("balanced", tools_in_both))
    return [*configured, *(ApprovalRevoked(approval_id=each, by=by) for each in revoked)]


def _task_result(ended: TurnEnded | None, left: Sequence[BackgroundCommand]) -> Finished | Failed:
    """The result of the task call, as the parent's model reads it."""
    if ended is None:
        return Failed("the task was stopped before it began")
    names = ", ".join(map(background_command_events.name, left))
    note = f"\n[background commands stopped when the task ended: {names}]" if left else ""
    if ended.ending == "done":
        return Finished(
            (_shown(ended.text) or "(the subagent ended without a final message)") + note, summary=_summary(ended)
        )
    why = "it was stopped" if ended.ending == "stopped" else with_template(ended.error or ended.ending, ended.said)
    said = f"\nWhat it said last:\n{_shown(ended.text)}" if ended.text else ""
    head = say("the task did not succeed: {problem} ({rest})", problem=why, rest=_summary(ended))
    return Failed(f"{head}{said}{note}", said=head.said)


def _shown(text: str) -> str:
    """The text of the child, cut at its end if it is too long: the beginning matters most."""
    if len(text) <= _SHOWN_CHARS:
        return text
    return f"{text[:_SHOWN_CHARS]}\n[cut: {len(text) - _SHOWN_CHARS} more characters are in the session of the task]"


def _summary(ended: TurnEnded) -> str:
    steps = "1 step" if ended.steps == 1 else say("{count} steps", count=ended.steps)
    tokens = say("{count} tokens", count=f"{ended.usage.input_tokens + ended.usage.output_tokens:,}")
    return join_texts(", ", [steps, tokens, "" if ended.cost is None else f"${ended.cost:.4f}"])
