"""The sessions that this process attends, sorted by what they need. They are sorted when their logs move, so that the
look-out never goes through all of them."""

from collections.abc import Callable
from functools import partial

from coderelay.host.deadlines import next_deadline
from coderelay.host.record import Record
from coderelay.protocol.ids import OwnerId, SessionId
from coderelay.session.next_action import needs_owner
from coderelay.session.state import State


class Attended:
    def __init__(self) -> None:
        self.records: dict[SessionId, Record] = {}
        self._watchers: dict[SessionId, Callable[[State], None]] = {}
        self._needing: dict[OwnerId | None, dict[SessionId, Record]] = {}
        self._owner_of: dict[SessionId, OwnerId | None] = {}
        self._with_turn: set[SessionId] = set()
        self._are_turns_changed = False
        self._rested: dict[SessionId, Record] = {}
        self._deadlines: dict[SessionId, int] = {}
        self._first_deadline: int | None = None

    def add(self, record: Record) -> None:
        if record.session in self.records:
            return
        self.records[record.session] = record
        watcher = self._watchers[record.session] = partial(self._moved, record)
        record.watchers.add(watcher)
        watcher(record.state)

    def discard(self, record: Record) -> None:
        if self.records.pop(record.session, None) is not None:
            record.watchers.discard(self._watchers.pop(record.session))
            self._leave_owner(record)
            self._set_deadline(record.session, None)
            self._rested.pop(record.session, None)
            self._with_turn.discard(record.session)

    def owners(self) -> list[OwnerId | None]:
        """The owners of the sessions that need one; None if some need one and have none."""
        return list(self._needing)

    def needing(self, owner: OwnerId | None) -> list[Record]:
        """The sessions of this owner that need one."""
        return list(self._needing.get(owner, {}).values())

    def due(self, now: int) -> list[Record]:
        """The sessions with an open ask whose deadline has passed."""
        if self._first_deadline is None or now < self._first_deadline:
            return []
        return [self.records[session] for session, deadline in self._deadlines.items() if deadline <= now]

    def take_rested(self) -> list[Record]:
        """The sessions whose logs moved since the last call and that have no open turn and no prompt to begin."""
        rested, self._rested = self._rested, {}
        return list(rested.values())

    def take_turns_changed(self) -> bool:
        """Whether a turn was opened or closed since the last call."""
        changed, self._are_turns_changed = self._are_turns_changed, False
        return changed

    def look_again(self, record: Record) -> None:
        """Return the session from the next `take_rested` once more."""
        if record.session in self.records:
            self._rested[record.session] = record

    def _moved(self, record: Record, state: State) -> None:
        if (state.turn is not None) != (record.session in self._with_turn):
            self._with_turn ^= {record.session}
            self._are_turns_changed = True
        self._leave_owner(record)
        if needs_owner(state):
            self._owner_of[record.session] = state.owner
            self._needing.setdefault(state.owner, {})[record.session] = record
        elif state.turn is None:
            self._rested[record.session] = record
        self._set_deadline(record.session, next_deadline(state))

    def _set_deadline(self, session: SessionId, deadline: int | None) -> None:
        if self._deadlines.get(session) == deadline:
            return
        self._deadlines.pop(session, None)
        if deadline is not None:
            self._deadlines[session] = deadline
        self._first_deadline = min(self._deadlines.values(), default=None)

    def _leave_owner(self, record: Record) -> None:
        if record.session in self._owner_of:
            owner = self._owner_of.pop(record.session)
            sessions = self._needing[owner]
            del sessions[record.session]
            if not sessions:
                del self._needing[owner]
