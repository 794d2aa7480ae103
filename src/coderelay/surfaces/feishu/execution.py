"""The work on what a person wants, as a stream of messages, and the ways to reach it while it runs.

It is made from the log and keeps nothing of its own: any process can make one for any session at any time.
"""

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import Any

from msgspec import Struct

from coderelay.client.ask_text import in_words, parse_answer
from coderelay.client.client import Client
from coderelay.client.family import join_family
from coderelay.client.language import t
from coderelay.protocol.asks import Ask, By, Decision, DenyAndStop, QuestionAsk, Unanswered
from coderelay.protocol.calls import Failed, Finished, Need, Outcome, one_line
from coderelay.protocol.commands import AnswerAsk, SendPrompt, StopTurn
from coderelay.protocol.commands import Outcome as Sent
from coderelay.protocol.content import text_of
from coderelay.protocol.errors import BadInput, UnknownAsk, UnknownSession
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
from coderelay.protocol.ids import AskId, CallId, MessageId, PromptId, SessionId, TurnId, new_id
from coderelay.protocol.live import Live, TextDelta
from coderelay.protocol.queries import FindAsk, ListAsks, ShowSession
from coderelay.surfaces.feishu.ask_layouts import Closed


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


class InStream(Struct, frozen=True):
    """Messages, and the event of the session's own log that they were made from; 0 for others. Everything that had
    happened when the stream began is told when one says `is_caught_up`."""

    messages: tuple[Message, ...]
    seq: int = 0
    is_caught_up: bool = False


class Execution:
    """The handle of a session's work. `by` is the person who uses it. A question in a turn that it begins waits
    `answer_within` seconds, and then `unanswered` happens."""

    def __init__(
        self,
        client: Client,
        session: SessionId,
        by: By,
        *,
        after: int = 0,
        answer_within: int | None = None,
        unanswered: Unanswered = "stop",
    ) -> None:
        self._client = client
        self.session = session
        self._by = by
        self._after = after
        self._answer_within = answer_within
        self._unanswered: Unanswered = unanswered

    @property
    async def stream(self) -> AsyncGenerator[InStream, None]:
        """What has happened after the cursor and happens from now on, until the session is at rest or deleted."""
        messages = _Messages(self.session)
        head = (await self._client.get(ShowSession(self.session))).head
        rows, events = await join_family(self._client, self.session, self._after)
        asks = [(each.session, each.ask) for each in rows]
        async with aclosing(events) as feed:
            if self._after >= head:
                yield InStream(tuple(messages.not_told(asks)), is_caught_up=True)
                if await self._is_at_rest():
                    return
            async for each in feed:
                made = tuple(messages.of(each))
                seq = each.seq if isinstance(each, Recorded) and each.session == self.session else 0
                if made or seq:
                    yield InStream(made, seq)
                if seq == head:
                    yield InStream(tuple(messages.not_told(asks)), is_caught_up=True)
                if seq >= head and isinstance(each, Recorded) and _may_rest(each) and await self._is_at_rest():
                    return

    async def send_message(self, text: str, prompt_id: PromptId | None = None) -> dict[str, Any]:
        """Queue what a person says, and return it as the message that it is. It is on disk when this returns."""
        await self._client.send(
            SendPrompt(
                session=self.session,
                prompt_id=prompt_id or PromptId(new_id()),
                text=text,
                by=self._by,
                answer_within=self._answer_within,
                unanswered=self._unanswered,
            )
        )
        return user_message(text, self.session)

    async def steer(self, text: str, prompt_id: PromptId) -> None:
        """Let the running turn read a text at its next step."""
        await self._client.send(
            SendPrompt(
                session=self.session,
                prompt_id=prompt_id,
                text=text,
                by=self._by,
                steer=True,
                answer_within=self._answer_within,
                unanswered=self._unanswered,
            )
        )

    async def send_answer(self, tool_use_id: str, session_id: SessionId, answer_text: str) -> Sent:
        """Answer the open ask about a tool use, or with this id, in words. Raises BadInput if they are no answer to
        it, and UnknownAsk if there is none."""
        for row in await self._client.get(ListAsks(session_id)):
            if tool_use_id in (row.ask.id, row.ask.call_id):
                return await self.decide(row.session, row.ask.id, parse_words(row.ask, answer_text))
        raise UnknownAsk(tool_use_id)

    async def decide(self, session: SessionId, ask: AskId, decision: Decision) -> Sent:
        return await self._client.send(AnswerAsk(session=session, ask=ask, decision=decision, by=self._by))

    async def finish(self) -> Sent:
        """Stop the turn."""
        return await self._client.send(StopTurn(session=self.session, by=self._by))

    async def _is_at_rest(self) -> bool:
        try:
            summary = await self._client.get(ShowSession(self.session))
        except UnknownSession:
            return True
        return not summary.turn_open and (not summary.queued or summary.phase == "stopped")


async def start_execution(execution: Execution, text: str, prompt_id: PromptId | None = None) -> Execution:
    """Begin a turn, and return its handle."""
    await execution.send_message(text, prompt_id)
    return execution


def user_message(text: str, session: SessionId) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    return {"type": "user", "message": message, "parent_tool_use_id": None, "session_id": session}


def parse_words(ask: Ask, text: str) -> Decision:
    """What a typed text decides. Several questions are answered with a line each."""
    if not isinstance(ask, QuestionAsk) or len(ask.questions) == 1:
        return parse_answer(ask, [text])
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) != len(ask.questions):
        raise BadInput(
            t("{asked} questions need {asked} answers, not {given}", asked=len(ask.questions), given=len(lines))
        )
    return parse_answer(ask, lines)


async def closed_as(client: Client, ask: AskId) -> Closed | None:
    """How an ask was closed; None while it is open. Raises UnknownAsk."""
    row = await client.get(FindAsk(ask))
    return None if row.open else Closed(row.decision, row.by)


class _Messages:
    """Makes the messages from the events, in their order."""

    def __init__(self, session: SessionId) -> None:
        self._session = session
        self._open: dict[AskId, SessionId] = {}
        self._closed: set[AskId] = set()
        self._is_turn_open = False
        self._ends: set[AskId] = set()  # asks after whose answer the turn ends
        self._needs: dict[CallId, Need] = {}
        self._writing: tuple[MessageId | None, str] = (None, "")

    def not_told(self, asks: Iterable[tuple[SessionId, Ask]]) -> list[Message]:
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
                return [TurnBegan(event.turn_id, event.prompt_id, event.said, event.by)]
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
            made.append(ConfirmationRequired("\n".join(map(in_words, others)), session, others))
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


def _may_rest(recorded: Recorded) -> bool:
    return isinstance(recorded.event, TurnEnded | PromptRecalled | SessionDeleted)
