"""Spending limits: whether a session or a day has used up its budget, and the ask that follows."""

from coderelay.host.folder_config import FolderConfigs
from coderelay.host.loaded_session_cache import LoadedSessionCache
from coderelay.host.session_lists_and_families import family_of
from coderelay.protocol.asks import BudgetAsk
from coderelay.protocol.ids import new_ask_id
from coderelay.protocol.projected_rows import Summary, day_of
from coderelay.session.children import AGENT
from coderelay.session.state import State

_SESSIONS = 20  # how many are read at first; most days have fewer


class Spending:
    """Decides whether people must be asked before more is spent than a session's folder allows."""

    def __init__(self, sessions: LoadedSessionCache, folders: FolderConfigs) -> None:
        self._sessions = sessions
        self._folders = folders

    async def ask(self, state: State, now: int) -> BudgetAsk | None:
        """The ask that a person must answer before more is spent, or None. If it is allowed, the same amount may be
        spent once more."""
        assert state.settings is not None
        budget = self._folders.of(state.settings.cwd).settings.budget
        if budget.session is not None:
            family = await family_of(self._sessions, state)
            spent = sum(each.cost or 0.0 for each in family)
            allowed = max(each.allowances.get("session", 0.0) for each in family)
            ask = budget_ask(state, "session", spent, budget.session)
            if ask is not None and spent >= allowed:
                return ask
        if budget.day is None:
            return None
        day = day_of(now)
        person = state.people[0]
        return budget_ask(state, day, await self._spent_on(day, person), budget.day, person)

    async def _spent_on(self, day: str, person: str) -> float:
        """What the turns of one person have cost. Called at every step, so it reads no more than the sessions that
        changed on that day, which the store lists first."""
        limit = _SESSIONS
        while True:
            found = await self._sessions.store.sessions(limit=limit)
            if len(found) < limit or day_of(found[-1].updated_at) < day:
                return sum(_cost_to(person, each) for each in found if each.day == day)
            limit *= 10


def _cost_to(person: str, session: Summary) -> float:
    """What a session has cost a person on its day. What no person is known to have sent counts for everybody."""
    others = sum(cost for who, cost in session.day_costs.items() if who not in (person, AGENT.who))
    return session.day_cost - others


def budget_ask(state: State, span: str, spent: float, limit: float, person: str = "") -> BudgetAsk | None:
    ask_id = new_ask_id(state.session)
    ask = BudgetAsk(ask_id, span=span, spent=spent, limit=limit, until=spent + limit, person=person)
    raised = max(state.allowances.get(key, 0.0) for key in (span, ask.allowance))  # an old log knows no people
    return None if spent < max(limit, raised) else ask
