"""The sessions that this process supervises, sorted by what they need: when their logs move, so that the polling loop
never goes through all of them."""

from collections.abc import Callable
from functools import partial

from coderelay.host.ask_deadlines import next_deadline
from coderelay.host.loaded_session import LoadedSession
from coderelay.protocol.ids import OwnerId, SessionId
from coderelay.session.next_action import needs_owner
from coderelay.session.state import State


class SupervisedSessions:
    def __init__(self) -> None:
        self.sessions: dict[SessionId, LoadedSession] = {}
        self._watchers: dict[SessionId, Callable[[State], None]] = {}
        self._needing: dict[OwnerId | None, dict[SessionId, LoadedSession]] = {}
        self._owner_of: dict[SessionId, OwnerId | None] = {}
        self._with_turn: set[SessionId] = set()
        self._are_turns_changed = False
        self._idle: dict[SessionId, LoadedSession] = {}
        self._deadlines: dict[SessionId, int] = {}
        self._first_deadline: int | None = None

    def add(self, loaded: LoadedSession) -> None:
        if loaded.session in self.sessions:
            return
        self.sessions[loaded.session] = loaded
        watcher = self._watchers[loaded.session] = partial(self._moved, loaded)
        loaded.watchers.add(watcher)
        watcher(loaded.state)

    def discard(self, loaded: LoadedSession) -> None:
        if self.sessions.pop(loaded.session, None) is not None:
            loaded.watchers.discard(self._watchers.pop(loaded.session))
            self._leave_owner(loaded)
            self._set_deadline(loaded.session, None)
            self._idle.pop(loaded.session, None)
            self._with_turn.discard(loaded.session)

    def owners(self) -> list[OwnerId | None]:
        """The owners of the sessions that need one; None if some need one and have none."""
        return list(self._needing)

    def sessions_needing_owner(self, owner: OwnerId | None) -> list[LoadedSession]:
        """The sessions of this owner that need one."""
        return list(self._needing.get(owner, {}).values())

    def due(self, now: int) -> list[LoadedSession]:
        """The sessions with an open ask whose deadline has passed."""
        if self._first_deadline is None or now < self._first_deadline:
            return []
        return [self.sessions[session] for session, deadline in self._deadlines.items() if deadline <= now]

    def take_idle(self) -> list[LoadedSession]:
        """The sessions whose logs moved since the last call and that have no open turn and no prompt to begin."""
        idle, self._idle = self._idle, {}
        return list(idle.values())

    def take_turns_changed(self) -> bool:
        """Whether a turn was opened or closed since the last call."""
        changed, self._are_turns_changed = self._are_turns_changed, False
        return changed

    def check_again(self, loaded: LoadedSession) -> None:
        """Return the session from the next `take_idle` once more."""
        if loaded.session in self.sessions:
            self._idle[loaded.session] = loaded

    def _moved(self, loaded: LoadedSession, state: State) -> None:
        if (state.turn is not None) != (loaded.session in self._with_turn):
            self._with_turn ^= {loaded.session}
            self._are_turns_changed = True
        self._leave_owner(loaded)
        if needs_owner(state):
            self._owner_of[loaded.session] = state.owner
            self._needing.setdefault(state.owner, {})[loaded.session] = loaded
        elif state.turn is None:
            self._idle[loaded.session] = loaded
        self._set_deadline(loaded.session, next_deadline(state))

    def _set_deadline(self, session: SessionId, deadline: int | None) -> None:
        if self._deadlines.get(session) == deadline:
            return
        self._deadlines.pop(session, None)
        if deadline is not None:
            self._deadlines[session] = deadline
        self._first_deadline = min(self._deadlines.values(), default=None)

    def _leave_owner(self, loaded: LoadedSession) -> None:
        if loaded.session in self._owner_of:
            owner = self._owner_of.pop(loaded.session)
            sessions = self._needing[owner]
            del sessions[loaded.session]
            if not sessions:
                del self._needing[owner]
