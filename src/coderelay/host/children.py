"""Child sessions: opened by a call of their parent, which ends as they do."""

import asyncio
from contextlib import suppress
from typing import Protocol

from coderelay.host.ownership import Ownership
from coderelay.host.record import Record
from coderelay.protocol.asks import By
from coderelay.protocol.calls import Failed, Finished, Outcome
from coderelay.protocol.commands import (
    Command,
    ConfigureSession,
    CreateSession,
    DeleteSession,
    OpenSession,
    SendPrompt,
    StopTurn,
)
from coderelay.protocol.commands import Outcome as Answer
from coderelay.protocol.errors import ToolFailed, UnknownSession
from coderelay.protocol.events import ApprovalGranted, TurnEnded
from coderelay.protocol.ids import CallId, SessionId, child_id
from coderelay.session.children import AGENT, children, mode_for_child, open_tasks, rests, stricter, task_prompt
from coderelay.session.state import State

NOT_FROM_A_CHILD = "you work for another agent already, and cannot give tasks to more of them; do it yourself"
_SHOWN_CHARS = 30_000
_A_WHILE = 60.0
_STOPPING_MAY_TAKE = 15.0


class Door(Protocol):
    async def send(self, command: Command) -> Answer: ...
    async def record(self, session: SessionId) -> Record: ...


class Children:
    def __init__(self, door: Door, ownership: Ownership) -> None:
        self._door = door
        self._ownership = ownership

    async def open(self, parent: State, call: CallId, description: str) -> SessionId:
        """With what needs no asking in its parent. Raises ToolFailed in a session that is a child itself."""
        settings = parent.settings
        assert settings is not None
        if settings.parent is not None:
            raise ToolFailed(NOT_FROM_A_CHILD)
        child = child_id(parent.session, call)
        await self._door.send(
            CreateSession(
                session=child,
                cwd=settings.cwd,
                model=settings.model,
                mode=mode_for_child(settings.mode),
                agent=settings.agent,
                title=description,
                allowed_tools=settings.allowed_tools,
                think=settings.think,
                folders=settings.folders,
                parent=parent.session,
                parent_call=call,
                by=AGENT,
            )
        )
        granted = [ApprovalGranted(approval=each, by=AGENT) for each in parent.approvals.values()]
        await (await self._door.record(child)).append(lambda state: [] if state.deleted else [*granted])
        return child

    async def work(self, child: SessionId, prompt: str, parent: State) -> Finished:
        """Until it rests; that may be when a person has answered it. Raises ToolFailed if it ends badly."""
        assert parent.turn is not None
        started = parent.turn.started
        with suppress(UnknownSession):  # deleted at this very moment
            await self._door.send(
                SendPrompt(
                    session=child,
                    prompt_id=task_prompt(child),
                    text=prompt,
                    max_steps=started.max_steps,
                    answer_within=started.answer_within,
                    by=AGENT,
                )
            )
        record = await self._door.record(child)
        await _until_it_rests(record)
        outcome = _outcome(record.state)
        if isinstance(outcome, Failed):
            raise ToolFailed(outcome.message)
        return outcome

    async def stop(self, child: SessionId) -> None:
        """And wait until it has, so that it changes nothing any more."""
        record = await self._door.record(child)
        with suppress(UnknownSession, TimeoutError):  # it is gone; or whoever has it is asked, and does not listen
            await self._door.send(StopTurn(session=child, by=AGENT))
            async with asyncio.timeout(_STOPPING_MAY_TAKE):
                await _until_it_rests(record)

    async def stop_open(self, parent: State) -> None:
        for call in open_tasks(parent):
            await self.stop(child_id(parent.session, call.call.id))

    async def ends(self, parent: State) -> dict[CallId, Outcome] | None:
        """Of children whose parent has lost its owner: what is known of them; None while one is at work or waits for
        people, for then its parent waits too. One that lost its own owner in mid-turn is stopped, and nobody knows
        how it would have ended."""
        known: dict[CallId, Outcome] = {}
        busy = False
        for call in open_tasks(parent):
            record = await self._door.record(child_id(parent.session, call.call.id))
            if rests(record.state):
                if _has_finished(record.state):
                    known[call.call.id] = _outcome(record.state)
            elif await self._is_lost(record.state):
                await self.stop(record.session)
            else:
                await self._door.send(OpenSession(session=record.session, by=AGENT))
                busy = True
        return None if busy else known

    async def tighten(self, parent: State, by: By) -> None:
        """No child at work may do more than its parent may now."""
        assert parent.settings is not None
        for call in open_tasks(parent):
            state = (await self._door.record(child_id(parent.session, call.call.id))).state
            if state.settings is not None:
                mode = stricter(state.settings.mode, mode_for_child(parent.settings.mode))
                await self._door.send(ConfigureSession(session=state.session, mode=mode, by=by))

    async def delete(self, parent: State, by: By) -> None:
        """Before their parent is, so that none is left without one."""
        for child in children(parent):
            await self._door.send(DeleteSession(session=child, by=by))

    async def _is_lost(self, state: State) -> bool:
        owner = state.owner
        if owner is None or owner == await self._ownership.me():
            return False
        return await self._ownership.may_follow(owner)


async def _until_it_rests(record: Record) -> None:
    while not rests(record.state):
        await record.moves(record.state.head, _A_WHILE)


def _has_finished(state: State) -> bool:
    return state.last_ending is not None and state.last_ending.ending != "stopped"


def _outcome(state: State) -> Finished | Failed:
    """What the parent's model is told."""
    ended = state.last_ending
    if state.deleted:
        return Failed("the session of this task was deleted before it ended")
    if ended is None:
        return Failed("the task was stopped before it began")
    if ended.ending == "done":
        return Finished(_shown(ended.text) or "(it ended without a word)", summary=_summary(ended))
    why = "it was stopped" if ended.ending == "stopped" else ended.error or ended.ending
    said = f"\nWhat it said last:\n{_shown(ended.text)}" if ended.text else ""
    return Failed(f"the task did not end well: {why} ({_summary(ended)}){said}")


def _shown(text: str) -> str:
    """The beginning counts."""
    if len(text) <= _SHOWN_CHARS:
        return text
    return f"{text[:_SHOWN_CHARS]}\n[cut: {len(text) - _SHOWN_CHARS} more characters are in the session of the task]"


def _summary(ended: TurnEnded) -> str:
    steps = "1 step" if ended.steps == 1 else f"{ended.steps} steps"
    tokens = f"{ended.usage.input_tokens + ended.usage.output_tokens:,} tokens"
    return ", ".join([steps, tokens, *([] if ended.cost is None else [f"${ended.cost:.4f}"])])
