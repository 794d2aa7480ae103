"""Deadlines of asks in sessions that no process may attend any more: whoever asked may be gone.

A process that follows all sessions hears of every ask. It remembers the times alone, and looks at a session only once
its time has come, so sessions that wait cost it nothing.
"""

from coderelay.protocol.events import AnyEvent, asks_in
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import Summary

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
