"""The summary row of a session for lists, updated event by event. It agrees with the full fold (a test says so)."""

from msgspec.structs import replace

from coderelay.protocol.calls import Finished
from coderelay.protocol.events import (
    AgentAttached,
    AskAnswered,
    AskOpened,
    BackgroundEnded,
    BatchOpened,
    CallAsked,
    CallEnded,
    CallProposed,
    ChildOpened,
    HistoryCleared,
    HistoryCompacted,
    MessageAdded,
    PromptAdmitted,
    PromptRecalled,
    PromptTaken,
    Recorded,
    SessionClaimed,
    SessionConfigured,
    SessionCreated,
    SessionDeleted,
    SessionForked,
    SessionMoved,
    StopRequested,
    TurnEnded,
    TurnParked,
    TurnStarted,
    TurnUndone,
    asks_in,
)
from coderelay.protocol.projected_rows import Phase, Summary, day_of, title_from
from coderelay.protocol.usage_and_cost import Usage, plus
from coderelay.session.settings_change_timing import joined, new_values, remaining_pending

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
        case SessionMoved():
            return replace(row, machine=event.machine)
        case SessionForked():
            unspent = replace(row, usage=Usage(), cost=None, day="", day_cost=0.0, day_costs={})
            return replace(unspent, background=0, children=0)
        case AgentAttached():
            return replace(row, agent_session_id=event.agent_session_id) if event.agent == row.agent else row
        case SessionClaimed():
            return replace(row, owner=event.owner)
        case TurnParked():
            return replace(row, owner=None)
        case PromptAdmitted():
            return replace(row, queued=row.queued + 1)
        case PromptRecalled() | PromptTaken():
            return replace(row, queued=row.queued - 1)
        case MessageAdded():
            filled = event.usage.input_tokens + event.usage.output_tokens
            row = _spent(row, event.usage, event.cost, recorded.at)
            return replace(row, context_tokens=filled or row.context_tokens)
        case HistoryCompacted():
            return replace(_spent(row, event.usage, event.cost, recorded.at), context_tokens=0)
        case TurnStarted():
            sender = "" if event.by is None else event.by.who
            begun = replace(row, phase="running", turn_open=True, queued=row.queued - 1, error=None)
            begun = replace(begun, sender=sender, blocking=event.blocking)
            if event.task != "prompt":
                return begun
            return replace(
                begun, last_prompt=event.typed_text[:_PROMPT_CHARS], title=row.title or title_from(event.typed_text)
            )
        case BatchOpened() | CallProposed() | AskOpened() | CallAsked():
            return _waiting(row, recorded)
        case AskAnswered():
            left = row.open_asks - 1
            asks = tuple(each for each in row.asks if each.id != event.ask_id)
            return replace(row, open_asks=left, asks=asks, phase="waiting" if left else "running")
        case CallEnded(outcome=Finished(background=str())):
            return replace(row, background=row.background + 1)
        case ChildOpened():
            return replace(row, children=row.children + 1)
        case BackgroundEnded():
            return replace(row, background=row.background - 1)
        case StopRequested():
            return replace(row, open_asks=0, asks=(), phase="running" if row.turn_open else row.phase)
        case TurnUndone():
            return replace(row, context_tokens=0)
        case HistoryCleared():
            own_id = row.agent_session_id if row.agent_session_id == row.id else None
            return replace(row, context_tokens=0, agent_session_id=own_id)
        case TurnEnded():
            phase: Phase = "failed" if event.ending == "step_limit" else event.ending
            row = replace(_changed(row, row.pending), pending=None, blocking=False)
            return replace(row, phase=phase, owner=None, open_asks=0, asks=(), turn_open=False, error=event.error)
        case _:
            return row


def _waiting(row: Summary, recorded: Recorded) -> Summary:
    """The row after the asks that an event opens, if it opens any. A blocking turn keeps its owner, unless only its
    end is left to decide on."""
    asks = asks_in(recorded.event)
    if not asks:
        return row
    after = row.asks_after if row.open_asks else recorded.seq - 1
    ends = isinstance(recorded.event, AskOpened) and recorded.event.then is not None
    return replace(
        row,
        phase="waiting",
        owner=row.owner if row.blocking and not ends else None,
        open_asks=row.open_asks + len(asks),
        asks_after=after,
        asks=(*row.asks, *asks),
    )


def _spent(row: Summary, usage: Usage, cost: float | None, at: int) -> Summary:
    row = replace(row, usage=row.usage.plus(usage), cost=plus(row.cost, cost))
    if cost is None:
        return row
    day = day_of(at)
    before = row.day_costs if row.day == day else {}
    costs = {**before, row.sender: cost + before.get(row.sender, 0.0)} if row.sender else before
    return replace(row, day=day, day_cost=cost + (row.day_cost if row.day == day else 0.0), day_costs=costs)


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
        think=event.think,
        folders=event.folders,
        parent=event.parent,
        person=event.by.who,
        machine=event.machine,
        profile=event.profile,
    )


def _configured(row: Summary, event: SessionConfigured) -> Summary:
    if event.next_turn and row.turn_open:
        return replace(row, pending=joined(row.pending, event))
    return replace(_changed(row, event), pending=remaining_pending(row.pending, event))


_NOT_SHOWN = ("preset", "instructions")


def _changed(row: Summary, event: SessionConfigured | None) -> Summary:
    changes = {} if event is None else new_values(event)
    return replace(row, **{name: value for name, value in changes.items() if name not in _NOT_SHOWN})
