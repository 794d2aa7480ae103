"""The open turn as a reader of the log remembers it."""

from msgspec import Struct, field

from coderelay.protocol.asks import Ask, By, Decision, PlanAsk
from coderelay.protocol.background_commands import End
from coderelay.protocol.calls import Call, Outcome
from coderelay.protocol.events import Judged, TreeTaken, TurnEnded, TurnStarted
from coderelay.protocol.ids import AskId, MessageId, OwnerId, TurnId
from coderelay.protocol.usage_and_cost import Usage
from tests.session.verbatim_checks import KnownMessages


class KnownAsk(Struct):
    ask: Ask
    decision: Decision | None = None
    parked: bool = False


class KnownCall(Struct):
    """`ask` is what it asked last."""

    call: Call
    judged: Judged
    ask: KnownAsk | None
    started: int | None = None
    outcome: Outcome | None = None

    def decision(self) -> Decision | None:
        return None if self.ask is None else self.ask.decision


class KnownBatch(Struct):
    id: MessageId
    calls: list[KnownCall]
    asks: list[KnownAsk]
    resumed: bool = False


class KnownPast(Struct, frozen=True):
    """A turn that is over: its files before and after it, or why they are not known."""

    turn_id: TurnId
    before: str
    after: str
    problem: str
    cwd: str


class KnownBackground(Struct):
    """A command that was left running. `old`: its end was told before the last summary."""

    owner: OwnerId | None
    stop_by: By | None = None
    end: End | None = None
    old: bool = False


class KnownTurn(Struct):
    """`ask` is what it asked last that belongs to no call; `then` is the end it will have after that. `people` wrote
    its prompts."""

    started: TurnStarted
    people: set[str]
    steps: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    text: str = ""
    stopped: bool = False
    planned: bool = False
    batch: KnownBatch | None = None
    ask: KnownAsk | None = None
    then: TurnEnded | None = None
    tree: TreeTaken | None = None
    prolonged: bool = False
    last_message: MessageId | None = None
    kept: KnownMessages = field(default_factory=KnownMessages)

    def is_for_a_summary(self) -> bool:
        return self.started.task == "compact"

    def open_calls(self) -> list[KnownCall]:
        return [each for each in self.batch.calls if each.outcome is None] if self.batch else []

    def running(self) -> list[KnownCall]:
        return [each for each in self.open_calls() if each.started is not None]

    def open_asks(self) -> list[AskId]:
        if self.stopped:
            return []
        asks = [*(self.batch.asks if self.batch else []), *([self.ask] if self.ask else [])]
        return [each.ask.id for each in asks if each.decision is None]

    def asked_about_its_plan(self) -> bool:
        return self.ask is not None and isinstance(self.ask.ask, PlanAsk)
