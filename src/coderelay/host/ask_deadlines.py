"""Deadlines of asks: an ask that nobody answers in time is denied, stops its turn, or stays open as a parked one.

Whichever process attends the session at that time does so. Silence is never consent.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from coderelay.host.loaded_session import LoadedSession
from coderelay.protocol.asks import Ask, By, Deny, DenyAndStop
from coderelay.protocol.commands import AnswerAsk
from coderelay.protocol.errors import UnknownSession
from coderelay.session import decide
from coderelay.session.state import State

if TYPE_CHECKING:
    from coderelay.host.host_context import Send

NOBODY = By(who="nobody", via="deadline")
TOO_LATE = "nobody answered in time"


def next_deadline(state: State) -> int | None:
    """The first deadline among the open asks of a session that are not parked."""
    waiting = [ask for ask in state.open_asks() if not state.asks[ask.id].parked]
    return min((ask.deadline for ask in waiting if ask.deadline is not None), default=None)


async def expire(due: Iterable[LoadedSession], now: int, send: "Send") -> None:
    """Do with the asks of these sessions whose deadline has passed what they say."""
    for loaded in due:
        for ask in loaded.state.due_asks(now):
            with suppress(UnknownSession):  # the session was deleted just now
                await _expire(loaded, ask, now, send)


async def _expire(loaded: LoadedSession, ask: Ask, now: int, send: "Send") -> None:
    match ask.unanswered:
        case "deny":
            command = AnswerAsk(session=loaded.session, ask=ask.id, decision=Deny(TOO_LATE), by=NOBODY)
            await loaded.append(lambda state: decide.answer(state, command))
        case "stop":  # by way of the host, which also stops the turn of a parent that waits for this one
            await send(AnswerAsk(session=loaded.session, ask=ask.id, decision=DenyAndStop(), by=NOBODY))
        case "park":
            await loaded.append(lambda state: decide.park(state, ask.id, now))
