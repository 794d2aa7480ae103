"""One session in a line, kept up event by event. Agrees with the full fold (a test says so)."""

from msgspec.structs import replace

from coderelay.protocol.events import (
    AskAnswered,
    AskOpened,
    BatchOpened,
    CallAsked,
    PromptAdmitted,
    PromptRecalled,
    Recorded,
    SessionClaimed,
    SessionConfigured,
    SessionCreated,
    SessionDeleted,
    StopRequested,
    TurnEnded,
    TurnStarted,
)
from coderelay.protocol.summary import Phase, Summary

_PROMPT_CHARS = 2000


def summarise(row: Summary | None, recorded: Recorded) -> Summary | None:
    """The row after one more event; None before a session is created and after it is deleted."""
    event = recorded.event
    if isinstance(event, SessionCreated):
        row = _created(event, recorded)
    if row is None or isinstance(event, SessionDeleted):
        return None
    row = replace(row, head=recorded.seq, epoch=recorded.epoch, updated_at=recorded.at)
    match event:
        case SessionConfigured():
            return _configured(row, event)
        case SessionClaimed():
            return replace(row, owner=event.owner)
        case PromptAdmitted():
            return replace(row, queued=row.queued + 1)
        case PromptRecalled():
            return replace(row, queued=row.queued - 1)
        case TurnStarted():
            return replace(
                row,
                phase="running",
                turn_open=True,
                queued=row.queued - 1,
                last_prompt=event.text[:_PROMPT_CHARS],
                title=row.title or _title(event.text),
                error=None,
            )
        case BatchOpened():
            asks = sum(1 for each in event.judged if each.ask is not None)
            return replace(row, phase="waiting", owner=None, open_asks=asks) if asks else row
        case AskOpened():
            return replace(row, phase="waiting", owner=None, open_asks=row.open_asks + 1)
        case CallAsked():
            return replace(row, phase="waiting", owner=None, open_asks=row.open_asks + 1)
        case AskAnswered():
            left = row.open_asks - 1
            return replace(row, open_asks=left, phase="waiting" if left else "running")
        case StopRequested():
            return replace(row, open_asks=0, phase="running" if row.turn_open else row.phase)
        case TurnEnded():
            phase: Phase = "failed" if event.ending == "step_limit" else event.ending
            return replace(row, phase=phase, owner=None, open_asks=0, turn_open=False, error=event.error)
        case _:
            return row


def _created(event: SessionCreated, recorded: Recorded) -> Summary:
    return Summary(
        id=recorded.session,
        cwd=event.cwd,
        agent=event.agent,
        model=event.model,
        mode=event.mode,
        created_at=recorded.at,
        updated_at=recorded.at,
        title=event.title,
        agent_session_id=event.agent_session_id,
        allowed_tools=event.allowed_tools,
    )


def _configured(row: Summary, event: SessionConfigured) -> Summary:
    return replace(
        row,
        title=row.title if event.title is None else event.title,
        model=row.model if event.model is None else event.model,
        mode=row.mode if event.mode is None else event.mode,
        allowed_tools=row.allowed_tools if event.allowed_tools is None else event.allowed_tools,
    )


def _title(prompt: str) -> str:
    line = next((each.strip() for each in prompt.splitlines() if each.strip()), "")
    return line if len(line) <= 60 else line[:59].rstrip() + "…"
