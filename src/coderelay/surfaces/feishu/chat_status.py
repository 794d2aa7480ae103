"""The four states of a chat's session. They are computed from the log when they are needed, and stored nowhere."""

from collections.abc import Iterable
from enum import StrEnum

from coderelay.client.client import Client
from coderelay.protocol.asks import Ask, QuestionAsk
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ListAsks, ShowSession


class ChatStatus(StrEnum):
    IDLE = "IDLE"
    EXECUTING = "EXECUTING"
    WAITING_INPUT = "WAITING_INPUT"
    WAITING_CONFIRM = "WAITING_CONFIRM"


def state_of(summary: Summary, asks: Iterable[Ask]) -> ChatStatus:
    """The state of a session with these open asks, those of its subagents included. If a question and a permission
    are open at once, what a person types answers the question, and the permission has its card."""
    if not summary.turn_open:
        return ChatStatus.EXECUTING if summary.queued and summary.phase != "stopped" else ChatStatus.IDLE
    open_asks = list(asks)
    if any(isinstance(each, QuestionAsk) for each in open_asks):
        return ChatStatus.WAITING_INPUT
    return ChatStatus.WAITING_CONFIRM if open_asks else ChatStatus.EXECUTING


async def current_state(client: Client, session: SessionId) -> ChatStatus:
    summary = await client.get(ShowSession(session))
    return state_of(summary, [each.ask for each in await client.get(ListAsks(session))])
