"""How much may be spent, and whether it has been."""

from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from coderelay.protocol.asks import BudgetAsk
from coderelay.protocol.ids import new_ask_id
from coderelay.protocol.summary import day_of
from coderelay.session.state import State
from coderelay.store.store import Store

_SESSIONS = 20  # read at first; most days have fewer


class Budget(Struct, frozen=True):
    """In US dollars: for one session, and for all sessions of a day (in UTC). None is no limit."""

    session: float | None = None
    day: float | None = None


class Limits(Struct, frozen=True):
    """What holds for the sessions of one folder."""

    max_steps: int = 128
    budget: Budget = Budget()


LimitsOf = Callable[[str], Limits]
"""By folder."""


FamilyOf = Callable[[State], Awaitable[Sequence[State]]]
"""The sessions that spend from one budget: a session itself, its parent, its children."""


async def no_family(state: State) -> Sequence[State]:
    return [state]


def usual_limits(cwd: str) -> Limits:
    return Limits()


class Spending:
    def __init__(self, store: Store, limits: LimitsOf, family: FamilyOf = no_family) -> None:
        self._store = store
        self._family = family
        self._limits = limits

    async def ask(self, state: State, now: int) -> BudgetAsk | None:
        """What a person must be asked before more is spent. Allowed, the same amount may be spent once more."""
        assert state.settings is not None
        budget = self._limits(state.settings.cwd).budget
        if budget.session is not None:
            family = await self._family(state)
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
        """Asked at every step: no more is read than the sessions that changed on that day, which come first."""
        limit = _SESSIONS
        while True:
            found = await self._store.sessions(limit=limit)
            if len(found) < limit or day_of(found[-1].updated_at) < day:
                return sum(each.day_cost for each in found if each.day == day)
            limit *= 10


def budget_ask(state: State, span: str, spent: float, limit: float) -> BudgetAsk | None:
    if spent < max(limit, state.allowances.get(span, 0.0)):
        return None
    return BudgetAsk(new_ask_id(state.session), span=span, spent=spent, limit=limit, until=spent + limit)
