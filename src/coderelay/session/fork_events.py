"""The events of a fork: a new session whose log begins with the conversation of another one.

The log of the fork stands on its own, so either session may go on, change or be deleted without the other. What is
not conversation stays behind: approvals, snapshots of files, background commands and child sessions, queued prompts,
and the turn that is open.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from coderelay.protocol.commands import ForkSession
from coderelay.protocol.events import (
    AnyEvent,
    AskAnswered,
    AskOpened,
    AskParked,
    BatchOpened,
    BatchResumed,
    CallAsked,
    CallEnded,
    CallProposed,
    CallStarted,
    HistoryCleared,
    HistoryCompacted,
    MessageAdded,
    MessageKept,
    PromptAdmitted,
    PromptTaken,
    Recorded,
    SessionConfigured,
    SessionCreated,
    SessionForked,
    StopRequested,
    TurnEnded,
    TurnParked,
    TurnProlonged,
    TurnStarted,
    TurnUndone,
    judged_in,
)
from coderelay.protocol.ids import MachineIdentity
from coderelay.session.children import TASK
from coderelay.session.state import SessionSettings

_CONVERSATION = (
    TurnStarted,
    PromptTaken,
    MessageKept,
    MessageAdded,
    BatchOpened,
    CallProposed,
    CallStarted,
    CallAsked,
    CallEnded,
    AskOpened,
    AskAnswered,
    AskParked,
    TurnParked,
    BatchResumed,
    TurnProlonged,
    StopRequested,
    HistoryCompacted,
    HistoryCleared,
    TurnEnded,
    TurnUndone,
)


def fork(
    log: Sequence[Recorded], settings: SessionSettings, command: ForkSession, machine: MachineIdentity | None
) -> list[AnyEvent]:
    """`settings` are those of the session now; the fork begins with them."""
    finished = _finished(log)
    created = SessionCreated(
        cwd=settings.cwd,
        agent=settings.agent,
        model=settings.model,
        mode=settings.mode,
        by=command.by,
        title=command.title,
        allowed_tools=settings.allowed_tools,
        agent_session_id=command.to,
        think=settings.think,
        folders=settings.folders,
        machine=machine,
        instructions=settings.instructions,
        profile=settings.profile,
    )
    preset = [] if settings.preset is None else [SessionConfigured(by=command.by, preset=settings.preset)]
    of = SessionForked(of=command.session, at=finished[-1].seq if finished else 0, by=command.by)
    return [created, *preset, *_copied([each.event for each in finished]), of]


def _finished(log: Sequence[Recorded]) -> list[Recorded]:
    """The log up to the last turn that has ended, and what was done between turns after it."""
    end, is_open = 0, False
    for place, each in enumerate(log, 1):
        if isinstance(each.event, TurnStarted):
            is_open = True
        if isinstance(each.event, TurnEnded):
            is_open = False
        if not is_open and isinstance(each.event, TurnEnded | TurnUndone | HistoryCleared):
            end = place
    return list(log[:end])


def _copied(events: Sequence[AnyEvent]) -> Iterable[AnyEvent]:
    begun = {each.prompt_id for each in events if isinstance(each, TurnStarted | PromptTaken)}
    tasks = {each.call_id for event in events for each in judged_in(event) if each.need.tool == TASK}
    for event in events:
        match event:
            case PromptAdmitted():
                if event.prompt_id in begun:
                    yield event
            case CallStarted() if event.call_id in tasks:
                pass  # a started task has a child session, and those of the other session are not ours
            case TurnEnded():
                yield replace(event, tree="")
            case _:
                if isinstance(event, _CONVERSATION):
                    yield event
