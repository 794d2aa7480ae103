"""The queue of open asks of a session and its child sessions, and the queue of its prompts, kept from the events."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from coderelay.protocol.asks import Allow, Ask, By, Decision, DenyAndStop
from coderelay.protocol.events import (
    AnyEvent,
    AskAnswered,
    PromptAdmitted,
    PromptEdited,
    PromptRecalled,
    PromptTaken,
    Recorded,
    SessionCreated,
    SessionDeleted,
    StopRequested,
    TurnEnded,
    TurnStarted,
    asks_in,
)
from coderelay.protocol.ids import AskId, PromptId, SessionId
from coderelay.protocol.projected_rows import AskRow


class OpenAsk(Struct, frozen=True):
    """An ask that is not answered yet. `task` is the title of the asking session's task, if that is a child
    session."""

    ask: Ask
    session: SessionId
    task: str = ""


class OpenedAsk(Struct, frozen=True):
    """New asks were opened."""

    asked: tuple[OpenAsk, ...]


class ClosedAsk(Struct, frozen=True):
    """An ask was answered. `was_first`: it was the ask that the person was shown."""

    asked: OpenAsk
    decision: Decision
    by: By
    was_first: bool

    @property
    def is_wide(self) -> bool:
        """Whether the answer may decide other open asks, too."""
        return isinstance(self.decision, Allow) and (self.decision.scope != "once" or self.decision.mode is not None)


class DroppedAsks(Struct, frozen=True):
    """Asks were dropped because their turn is over. `was_first`: the ask that the person was shown is among them."""

    asked: tuple[OpenAsk, ...]
    was_first: bool = True


Change = OpenedAsk | ClosedAsk | DroppedAsks


class AskQueue:
    def __init__(self, session: SessionId) -> None:
        self._session = session
        self._open: dict[AskId, OpenAsk] = {}
        self._tasks: dict[SessionId, str] = {}

    def __len__(self) -> int:
        return len(self._open)

    @property
    def first(self) -> OpenAsk | None:
        return next(iter(self._open.values()), None)

    @property
    def batch(self) -> list[OpenAsk]:
        """The open asks of the same session as the first one."""
        first = self.first
        return [each for each in self._open.values() if first is not None and each.session == first.session]

    def name(self, session: SessionId, task: str) -> None:
        """Set the task title of a child session that is already running."""
        self._tasks[session] = task

    def put(self, row: AskRow) -> OpenedAsk | None:
        """Add an ask that was open before this surface began to follow the session."""
        if row.session != self._session:
            self._tasks[row.session] = row.title
        return self._add([row.ask], row.session)

    def take(self, recorded: Recorded) -> Change | None:
        match event := recorded.event:
            case SessionCreated():
                self._tasks[recorded.session] = event.title
                return None
            case AskAnswered():
                return self._close(event, recorded.session)
            case TurnEnded() | StopRequested() | SessionDeleted():
                return self._forget(recorded.session)
            case _:
                return self._add(asks_in(event), recorded.session)

    def _add(self, asks: Sequence[Ask], session: SessionId) -> OpenedAsk | None:
        task = "" if session == self._session else self._tasks.get(session, session)
        new = tuple(OpenAsk(ask, session, task) for ask in asks if ask.id not in self._open)
        self._open.update({each.ask.id: each for each in new})
        return OpenedAsk(new) if new else None

    def _close(self, event: AskAnswered, session: SessionId) -> Change | None:
        first = self.first
        asked = self._open.pop(event.ask_id, None)
        if asked is None:
            return None
        if isinstance(event.decision, DenyAndStop):
            self._forget(session)  # the turn stops, so its other asks will not be decided
        return ClosedAsk(asked, event.decision, event.by, was_first=asked is first)

    def _forget(self, session: SessionId) -> DroppedAsks | None:
        first = self.first
        void = tuple(each for each in self._open.values() if each.session == session)
        for each in void:
            del self._open[each.ask.id]
        return DroppedAsks(void, was_first=first in void) if void else None


class WaitingPrompts:
    """The prompts of a session that are queued or not yet taken by the running turn, in order."""

    def __init__(self, known: Iterable[PromptAdmitted] = ()) -> None:
        self._waiting: dict[PromptId, PromptAdmitted] = {each.prompt_id: each for each in known}

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[PromptAdmitted]:
        return iter(self._waiting.values())

    @property
    def last(self) -> PromptAdmitted | None:
        return next(reversed(self._waiting.values()), None)

    def take(self, event: AnyEvent) -> None:
        match event:
            case PromptAdmitted():
                self._waiting[event.prompt_id] = event
            case PromptEdited() if event.prompt_id in self._waiting:
                edited = self._waiting[event.prompt_id]
                self._waiting[event.prompt_id] = replace(edited, text=event.text, typed="", by=event.by)
            case TurnStarted() | PromptTaken() | PromptRecalled():
                self._waiting.pop(event.prompt_id, None)
            case _:
                pass
