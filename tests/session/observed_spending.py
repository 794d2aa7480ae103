"""The usage and cost in a log, added up a second time."""

from msgspec import Struct, field

from coderelay.protocol.asks import BudgetAsk
from coderelay.protocol.usage_and_cost import Usage
from tests.session.ask_checks import promise


class Spent(Struct):
    """`cost` is None as long as no price is known; `context` is how many tokens the last request and its answer
    had. `allowed` is what the budgets were raised to."""

    usage: Usage = Usage()
    cost: float | None = None
    context: int = 0
    allowed: dict[str, float] = field(default_factory=dict[str, float])

    def add(self, usage: Usage, cost: float | None) -> None:
        self.usage = self.usage.plus(usage)
        self.cost = total(self.cost, cost)

    def check(self, ask: BudgetAsk) -> None:
        spent = self.cost or 0.0
        promise(ask.spent == spent, "a person is told of another cost")
        promise(spent >= ask.limit, "a person was asked before the budget was used up")
        promise(spent >= self.allowed.get(ask.span, 0.0), "a person was asked about what they had allowed")
        promise(ask.until > spent, "allowed, there would still be nothing to spend")

    def allow(self, ask: BudgetAsk) -> None:
        self.allowed[ask.span] = ask.until


def total(cost: float | None, more: float | None) -> float | None:
    known = [each for each in (cost, more) if each is not None]
    return sum(known) if known else None
