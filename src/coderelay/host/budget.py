"""Spending limits: whether a session or a day has used up its budget, and the ask that follows."""

from coderelay.host.family import family_of
from coderelay.host.folder import ConfiguredFolders
from coderelay.host.records import Records
from coderelay.protocol.asks import BudgetAsk
from coderelay.protocol.ids import new_ask_id
from coderelay.protocol.summary import day_of
from coderelay.session.state import State

_SESSIONS = 20  # how many are read at first; most days have fewer


class Spending:
    """Decides whether people must be asked before more is spent than a session's folder allows."""

    def __init__(self, records: Records, folders: ConfiguredFolders) -> None:
        self._records = records
        self._folders = folders

    async def ask(self, state: State, now: int) -> BudgetAsk | None:
        """The ask that a person must answer before more is spent, or None. If it is allowed, the same amount may be
        spent once more."""
        assert state.settings is not None
        budget = self._folders.of(state.settings.cwd).settings.budget
        if budget.session is not None:
            family = await family_of(self._records, state)
            spent = sum(each.cost or 0.0 for each in family)
            allowed = max(each.allowances.get("session", 0.0) for each in family)
            ask = budget_ask(state, "session", spent, budget.session)
            if ask is not None and spent >= allowed:
                return ask
        if budget.day is None:
            return None
        day = day_of(now)
        return budget_ask(state, day, await self._spent_on(day), budget.day)

    async def _spent_on(self, day: str) -> float:
        """Called at every step, so it reads no more than the sessions that changed on that day, which the store lists
        first."""
        limit = _SESSIONS
        while True:
            found = await self._records.store.sessions(limit=limit)
            if len(found) < limit or day_of(found[-1].updated_at) < day:
                return sum(each.day_cost for each in found if each.day == day)
            limit *= 10


def budget_ask(state: State, span: str, spent: float, limit: float) -> BudgetAsk | None:
    if spent < max(limit, state.allowances.get(span, 0.0)):
        return None
    return BudgetAsk(new_ask_id(state.session), span=span, spent=spent, limit=limit, until=spent + limit)
