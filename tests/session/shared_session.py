"""The session that all moves share: its log, its owners, and the persons who follow it."""

from collections.abc import Callable, Sequence

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine
from msgspec import Struct, field

from coderelay.protocol.asks import By, Decision
from coderelay.protocol.events import Recorded, TurnUndone
from coderelay.protocol.ids import AskId, BackgroundId, CallId, OwnerId, TurnId
from coderelay.protocol.message_content import Note
from coderelay.session.model_messages import Message, Transcript
from coderelay.session.state import State
from tests.session.generated_values import BEYOND
from tests.session.played_session import Play
from tests.session.promise_checker import Checker
from tests.session.replaceable_rules import Rules

Draw = st.DataObject
Move = Callable[[Draw], None]


class Owner(Struct):
    """What a process has in its memory while it drives the session: lost when it dies. `told` and `sent` are the
    notes and the messages of the request it waits on; `performing` are the calls that run at the same time."""

    id: OwnerId
    epoch: int
    turn: TurnId
    thinking: bool = False
    summing_up: bool = False
    performing: tuple[CallId, ...] = ()
    told: tuple[Note, ...] = ()
    sent: Sequence[Message] = ()
    transcript: Transcript = field(default_factory=Transcript)
    blocks: bool = False

    def is_idle(self) -> bool:
        return not self.blocks and not self.thinking and not self.summing_up and not self.performing


class Table(RuleBasedStateMachine):
    """`budget` is what the session may cost. `sent` is the last request that was answered, if no summary was made
    since; `answered` what people were told that counts. `undoing`: the files are back, the log does not say so.
    `having` are the background commands whose processes live."""

    played_by: type[Rules] = Rules

    def __init__(self) -> None:
        super().__init__()
        self.play = Play(self.played_by(), beyond=BEYOND)
        self.checker = Checker(beyond=self.play.beyond)
        self.checker.see(self.play.log)
        self.living: dict[OwnerId, Owner] = {}
        self.answered: dict[AskId, tuple[Decision, By]] = {}
        self.budget: float | None = None
        self.sent: Sequence[Message] = ()
        self.commented = False
        self.undoing: TurnUndone | None = None
        self.having: set[BackgroundId] = set()

    @property
    def state(self) -> State:
        return self.play.state

    def see(self, page: list[Recorded]) -> None:
        self.checker.see(page)
