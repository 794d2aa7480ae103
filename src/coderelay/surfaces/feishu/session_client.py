"""SessionClient: the work on a person's message in a session, as a stream of updates; it can be steered and answered.

It is made from the log and keeps nothing of its own: any process can make one for any session at any time.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from msgspec import Struct

from coderelay.client.ask_view import parse_answer
from coderelay.client.client import Client
from coderelay.client.follow_with_subagents import join_family
from coderelay.client.i18n import t
from coderelay.protocol.asks import Ask, By, Decision, QuestionAsk
from coderelay.protocol.commands import AnswerAsk, SendPrompt, StopTurn
from coderelay.protocol.commands import Outcome as Sent
from coderelay.protocol.errors import BadInput, UnknownAsk, UnknownSession
from coderelay.protocol.events import (
    PromptRecalled,
    Recorded,
    SessionDeleted,
    TurnEnded,
)
from coderelay.protocol.ids import AskId, PromptId, SessionId, new_id
from coderelay.protocol.queries import ListAsks, ShowSession
from coderelay.surfaces.feishu.session_updates_from_log import Message, SessionUpdatesFromLog


class InStream(Struct, frozen=True):
    """Messages, and the event of the session's own log that they were made from; 0 for others. When a message has
    `is_caught_up`, everything that happened before the stream began has been reported."""

    messages: tuple[Message, ...]
    seq: int = 0
    is_caught_up: bool = False


class SessionClient:
    """The handle of a session's work. `by` is the person who uses it. A question in a turn that it begins waits
    `answer_within` seconds, and then the turn stops."""

    def __init__(
        self,
        client: Client,
        session: SessionId,
        by: By,
        *,
        after: int = 0,
        answer_within: int | None = None,
    ) -> None:
        self._client = client
        self.session = session
        self._by = by
        self._after = after
        self._answer_within = answer_within

    @property
    async def stream(self) -> AsyncGenerator[InStream, None]:
        """What has happened after the cursor and happens from now on, until the session is at rest or deleted."""
        messages = SessionUpdatesFromLog(self.session)
        rows, events = await join_family(self._client, self.session, self._after)
        asks = [(each.session, each.ask) for each in rows]
        async with aclosing(events) as feed:
            # Read after the asks, so that the events which opened them come first: they are told in their place.
            head = (await self._client.get(ShowSession(self.session))).head
            if self._after >= head:
                yield InStream(tuple(messages.asks_without_event(asks)), is_caught_up=True)
                if await self._is_at_rest():
                    return
            async for each in feed:
                made = tuple(messages.of(each))
                seq = each.seq if isinstance(each, Recorded) and each.session == self.session else 0
                if made or seq:
                    yield InStream(made, seq)
                if seq == head:
                    yield InStream(tuple(messages.asks_without_event(asks)), is_caught_up=True)
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
                unanswered="stop",
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
                unanswered="stop",
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


async def start_execution(execution: SessionClient, text: str, prompt_id: PromptId | None = None) -> SessionClient:
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
            t(
                "there are {asked} questions; give {asked} answers, not {given}",
                asked=len(ask.questions),
                given=len(lines),
            )
        )
    return parse_answer(ask, lines)


def _may_rest(recorded: Recorded) -> bool:
    return isinstance(recorded.event, TurnEnded | PromptRecalled | SessionDeleted)
