"""Makes the messages of an execution from the log of its session and of the subagents that work for it."""

from collections.abc import Iterable

from msgspec import Struct

from coderelay.client.ask_view import full_text
from coderelay.protocol.asks import Ask, By, DenyAndStop, QuestionAsk
from coderelay.protocol.calls import Failed, Finished, Need, Outcome, one_line
from coderelay.protocol.events import (
    AskAnswered,
    AskOpened,
    CallEnded,
    CallStarted,
    MessageAdded,
    PromptAdmitted,
    PromptRecalled,
    PromptTaken,
    Recorded,
    SessionDeleted,
    StopRequested,
    TurnEnded,
    TurnStarted,
    asks_in,
    judged_in,
)
from coderelay.protocol.ids import AskId, CallId, MessageId, PromptId, SessionId, TurnId
from coderelay.protocol.live_updates import Live, TextDelta
from coderelay.protocol.message_content import text_of
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


class SessionUpdatesFromLog:
    """Makes the messages from the events, in their order."""

    def __init__(self, session: SessionId) -> None:
        self._session = session
        self._open: dict[AskId, SessionId] = {}
        self._closed: set[AskId] = set()
        self._is_turn_open = False
        self._ends: set[AskId] = set()  # asks after whose answer the turn ends
        self._needs: dict[CallId, Need] = {}
        self._writing: tuple[MessageId | None, str] = (None, "")

    def asks_without_event(self, asks: Iterable[tuple[SessionId, Ask]]) -> list[Message]:
        """The asks that no event has told: of subagents, or opened before the cursor."""
        left = [(session, ask) for session, ask in asks if ask.id not in self._closed]
        return [message for session, ask in left for message in self._asked(session, [ask])]

    def of(self, each: Recorded | Live) -> list[Message]:
        if not isinstance(each, Recorded):
            return self._live(each)
        if each.session != self._session:
            return [*self._closing(each), *self._asked(each.session, asks_in(each.event))]
        self._needs |= {judged.call_id: judged.need for judged in judged_in(each.event)}
        return [*self._closing(each), *self._own(each), *self._asked(each.session, asks_in(each.event))]

    def _live(self, live: Live) -> list[Message]:
        if not isinstance(live, TextDelta):
            return []
        message, text = self._writing
        text = text + live.text if message == live.message_id else live.text
        self._writing = (live.message_id, text)
        return [TextGrew(text)]

    def _own(self, recorded: Recorded) -> list[Message]:
        match recorded.event:
            case TurnStarted() as event:
                self._is_turn_open = True
                return [TurnBegan(event.turn_id, event.prompt_id, event.typed_text, event.by)]
            case PromptAdmitted() as event:
                return [PromptQueued(event.prompt_id, event.by, not self._is_turn_open)]
            case PromptTaken() as event:
                return [PromptGone(event.prompt_id, is_taken=True)]
            case PromptRecalled() as event:
                return [PromptGone(event.prompt_id, is_taken=False)]
            case MessageAdded(author="model" | "workflow") as event:
                self._writing = (None, "")
                text = text_of(event.blocks).strip()
                return [TextSaid(text)] if text else []
            case CallStarted() as event:
                need = self._needs.get(event.call_id)
                return [] if need is None else [CallBegan(event.call_id, need.tool, need.title)]
            case CallEnded() as event:
                need = self._needs.pop(event.call_id, None)
                if need is None or (need.kind == "ask" and not isinstance(event.outcome, Failed)):
                    return []  # its card shows the answer
                return [CallOver(event.call_id, need.tool, need.title, event.outcome)]
            case TurnEnded() as event:
                self._is_turn_open = False
                self._needs.clear()
                return [TurnOver(event)]
            case _:
                return []

    def _asked(self, session: SessionId, asks: Iterable[Ask]) -> list[Message]:
        new = [each for each in asks if each.id not in self._open]
        self._open |= {each.id: session for each in new}
        questions = [each for each in new if isinstance(each, QuestionAsk)]
        others = tuple(each for each in new if not isinstance(each, QuestionAsk))
        made: list[Message] = []
        if others:
            made.append(ConfirmationRequired("\n".join(map(full_text, others)), session, others))
        for each in questions:
            made.append(UserInputRequired("\n".join(one.question for one in each.questions), session, each))
        return made

    def _closing(self, recorded: Recorded) -> list[Message]:
        session, at = recorded.session, recorded.at
        match recorded.event:
            case AskOpened(then=then, ask=ask) if then is not None:
                self._ends.add(ask.id)
                return []
            case AskAnswered() as event:
                self._closed.add(event.ask_id)
                was_open = self._open.pop(event.ask_id, None) is not None
                closed = AskClosed(event.ask_id, Closed(event.decision, event.by, at))
                goes_on = was_open and not self._open and event.ask_id not in self._ends and not _stops(event)
                return [closed, Continued()] if goes_on else [closed]
            case StopRequested(by=by):
                return self._close_all(session, Closed(None, by, at))
            case TurnEnded() | SessionDeleted():
                return self._close_all(session, Closed(None, None, at))
            case _:
                return []

    def _close_all(self, session: SessionId, closed: Closed) -> list[Message]:
        theirs = [ask for ask, of in self._open.items() if of == session]
        for ask in theirs:
            del self._open[ask]
            self._closed.add(ask)
        return [AskClosed(ask, closed) for ask in theirs]


def _stops(event: AskAnswered) -> bool:
    return isinstance(event.decision, DenyAndStop)
