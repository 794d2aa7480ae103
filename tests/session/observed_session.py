"""A session as a reader of the log remembers it, with the debts of whoever writes next."""

from typing import Any

from msgspec import Struct, field

from coderelay.protocol.asks import Approval, Ask
from coderelay.protocol.events import AnyEvent, MessageAdded, TurnEnded
from coderelay.protocol.ids import AskId, BackgroundId, CallId, OwnerId, TurnId
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.usage_and_cost import Usage
from tests.session.ask_checks import (
    BrokenPromise,
    promise,
)
from tests.session.observed_history import Told
from tests.session.observed_spending import Spent, total
from tests.session.observed_turn import KnownAsk, KnownBackground, KnownCall, KnownPast, KnownTurn
from tests.session.prompt_queue_checks import WaitingPrompts


class Reader(Struct):
    """`beyond` is what was approved for more than this session, and written elsewhere. `begun` are the calls that
    started in the append that is read; `claimed`: it began with a claim. `unasked` are the calls that an agent made
    without asking. Of the open turn, `given` are the calls that a person allowed and that never ran, and `used` those
    whose answer another call used."""

    head: int = 0
    epoch: int = 0
    deleted: bool = False
    owner: OwnerId | None = None
    rested: OwnerId | None = None
    cwd: str = ""
    mode: Mode = "default"
    allowed_tools: tuple[str, ...] = ()
    later: dict[str, Any] = field(default_factory=dict[str, Any])
    prompts: WaitingPrompts = field(default_factory=WaitingPrompts)
    told: Told = field(default_factory=Told)
    spent: Spent = field(default_factory=Spent)
    offers: set[str] = field(default_factory=set[str])
    turn: KnownTurn | None = None
    last: TurnEnded | None = None
    past: list[KnownPast] = field(default_factory=list[KnownPast])
    calls: dict[CallId, KnownCall] = field(default_factory=dict[CallId, KnownCall])
    asks: dict[AskId, KnownAsk] = field(default_factory=dict[AskId, KnownAsk])
    approvals: dict[AskId, Approval] = field(default_factory=dict[AskId, Approval])
    beyond: list[Approval] = field(default_factory=list[Approval])
    background: dict[BackgroundId, KnownBackground] = field(default_factory=dict[BackgroundId, KnownBackground])
    unopened: MessageAdded | None = None
    begun: set[CallId] = field(default_factory=set[CallId])
    claimed: bool = False
    unasked: set[CallId] = field(default_factory=set[CallId])
    given: set[CallId] = field(default_factory=set[CallId])
    used: set[CallId] = field(default_factory=set[CallId])
    ends_now: bool = False
    summed_up: bool = False
    is_set_up: bool = False
    owed: list[AnyEvent] = field(default_factory=list[AnyEvent])

    def new_ask(self, ask: Ask) -> KnownAsk:
        promise(ask.id not in self.asks, "an ask was opened twice")
        self.asks[ask.id] = KnownAsk(ask)
        return self.asks[ask.id]

    def spend(self, turn: KnownTurn, usage: Usage, cost: float | None) -> None:
        self.spent.add(usage, cost)
        turn.usage, turn.cost = turn.usage.plus(usage), total(turn.cost, cost)

    def rest(self) -> None:
        """Nobody owns a session that waits for people, unless its agent holds the ask."""
        if not self.open_turn().started.blocking:
            self.rested, self.owner = self.owner, None

    def open_turn(self) -> KnownTurn:
        if self.turn is None:
            raise BrokenPromise("outside of a turn")
        return self.turn

    def is_held(self) -> bool:
        """Whether the open turn keeps its owner while people are asked."""
        return self.turn is not None and self.turn.started.blocking

    def check_between_steps(self, turn_id: TurnId) -> None:
        self.check_owned()
        turn = self.open_turn()
        promise(turn_id == turn.started.turn_id, "of another turn")
        promise(not turn.stopped, "after the stop: people are asked, or told something")
        promise(not turn.open_asks() and not turn.open_calls(), "not between two steps (D-06)")

    def check_owned(self) -> None:
        promise(self.owner is not None, "written by nobody's owner")
