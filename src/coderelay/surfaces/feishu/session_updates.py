"""The messages of an execution: what a session does, as a chat shows it."""

from msgspec import Struct

from coderelay.protocol.asks import Ask, By, QuestionAsk
from coderelay.protocol.calls import Finished, Outcome, one_line
from coderelay.protocol.events import TurnEnded
from coderelay.protocol.ids import AskId, CallId, PromptId, SessionId, TurnId
from coderelay.surfaces.feishu.ask_cards import Closed


class TurnBegan(Struct, frozen=True, tag="turn_began"):
    turn_id: TurnId
    prompt_id: PromptId
    text: str
    by: By | None


class PromptQueued(Struct, frozen=True, tag="prompt_queued"):
    """A prompt waits for its turn. `is_alone` if no turn is open that it would have to wait for."""

    prompt_id: PromptId
    by: By
    is_alone: bool


class PromptGone(Struct, frozen=True, tag="prompt_gone"):
    """A prompt waits no longer: it joined the open turn (`is_taken`), or was recalled."""

    prompt_id: PromptId
    is_taken: bool


class TextGrew(Struct, frozen=True, tag="text_grew"):
    """The whole text of a message that is being written."""

    text: str


class TextSaid(Struct, frozen=True, tag="text_said"):
    """A complete message of the agent."""

    text: str


class CallBegan(Struct, frozen=True, tag="call_began"):
    call_id: CallId
    tool: str
    title: str


class CallOver(Struct, frozen=True, tag="call_over"):
    call_id: CallId
    tool: str
    title: str
    outcome: Outcome

    @property
    def is_good(self) -> bool:
        return isinstance(self.outcome, Finished)

    @property
    def line(self) -> str:
        """How it ended, in English with its template."""
        return one_line(self.outcome)


class UserInputRequired(Struct, frozen=True, tag="user_input_required"):
    """The agent wants an answer in words. `prompt` is what it asks."""

    prompt: str
    session: SessionId
    ask: QuestionAsk


class ConfirmationRequired(Struct, frozen=True, tag="confirmation_required"):
    """Somebody must confirm: one thing, or the `asks` of one batch."""

    prompt: str
    session: SessionId
    asks: tuple[Ask, ...]


class AskClosed(Struct, frozen=True, tag="ask_closed"):
    ask_id: AskId
    closed: Closed


class Continued(Struct, frozen=True, tag="continued"):
    """The last open ask is answered, and the turn goes on."""


class TurnOver(Struct, frozen=True, tag="turn_over"):
    ended: TurnEnded


Message = (
    TurnBegan
    | PromptQueued
    | PromptGone
    | TextGrew
    | TextSaid
    | CallBegan
    | CallOver
    | UserInputRequired
    | ConfirmationRequired
    | AskClosed
    | Continued
    | TurnOver
)
