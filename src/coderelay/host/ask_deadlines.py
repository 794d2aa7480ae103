"""Deadlines of asks: an ask that nobody answers in time is denied, stops its turn, or stays open as a parked one.

Whichever process attends the session at that time does so. Silence is never consent.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from coderelay.host.loaded_session import LoadedSession
from coderelay.protocol.asks import Ask, By, Deny, DenyAndStop
from coderelay.protocol.commands import AnswerAsk
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.events import AnyEvent, asks_in
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import Summary
from coderelay.session import decide
from coderelay.session.state import State

if TYPE_CHECKING:
    from coderelay.host.host_context import Send

NOBODY = By(who="nobody", via="deadline")
TOO_LATE = "nobody answered in time"


def next_deadline(state: State) -> int | None:
    """The first deadline among the open asks of a session that are not parked."""
    waiting = [ask for ask in state.open_asks() if not state.asks[ask.id].parked]
    return min((ask.deadline for ask in waiting if ask.deadline is not None), default=None)


async def expire(due: Iterable[LoadedSession], now: int, send: "Send") -> None:
    """Do with the asks of these sessions whose deadline has passed what they say."""
    for loaded in due:
        for ask in loaded.state.due_asks(now):
            with suppress(UnknownSession):  # the session was deleted just now
                await _expire(loaded, ask, now, send)


async def _expire(loaded: LoadedSession, ask: Ask, now: int, send: "Send") -> None:
    match ask.unanswered:
        case "deny":
            command = AnswerAsk(session=loaded.session, ask=ask.id, decision=Deny(TOO_LATE), by=NOBODY)
            await loaded.append(lambda state: decide.answer(state, command))
        case "stop":  # by way of the host, which also stops the turn of a parent that waits for this one
            await send(AnswerAsk(session=loaded.session, ask=ask.id, decision=DenyAndStop(), by=NOBODY))
        case "park":
            await loaded.append(lambda state: decide.park(state, ask.id, now))


GRACE_MS = 1000
"""How long those go first who attend the session."""


class UnattendedDeadlines:
    def __init__(self) -> None:
        self._times: dict[SessionId, set[int]] = {}
        self._first: int | None = None

    def see_row(self, row: Summary) -> None:
        """Take the deadlines of a session that waits already."""
        for ask in row.asks:
            self._add(row.id, ask.deadline)

    def see(self, session: SessionId, event: AnyEvent) -> None:
        """Take the deadlines of the asks that an event opens. What becomes of them is looked up when they are due."""
        for ask in asks_in(event):
            self._add(session, ask.deadline)

    def take_due(self, now: int) -> list[SessionId]:
        """The sessions with a deadline that has passed some time ago, each time once."""
        if self._first is None or now < self._first + GRACE_MS:
            return []
        due = [session for session, times in self._times.items() if min(times) + GRACE_MS <= now]
        for session in due:
            if later := {time for time in self._times.pop(session) if time + GRACE_MS > now}:
                self._times[session] = later
        self._first = min(map(min, self._times.values()), default=None)
        return due

    def _add(self, session: SessionId, deadline: int | None) -> None:
        if deadline is not None:
            self._times.setdefault(session, set()).add(deadline)
            self._first = deadline if self._first is None else min(self._first, deadline)
