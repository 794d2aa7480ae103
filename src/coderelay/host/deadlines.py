"""Deadlines of asks: an ask that nobody answers in time is denied.

Whichever process attends the session at that time closes the ask. Silence is never consent.
"""

import time
from collections.abc import Iterable
from contextlib import suppress

from coderelay.host.record import Record
from coderelay.protocol.asks import By, Deny
from coderelay.protocol.commands import AnswerAsk
from coderelay.protocol.errors import UnknownSession
from coderelay.session import decide
from coderelay.session.state import State

NOBODY = By(who="nobody", via="deadline")
TOO_LATE = "nobody answered in time"


def now() -> int:
    """The wall clock in milliseconds, the unit of the log and of its deadlines."""
    return time.time_ns() // 1_000_000


def next_deadline(state: State) -> int | None:
    """The first deadline among the open asks of a session."""
    return min((ask.deadline for ask in state.open_asks() if ask.deadline is not None), default=None)


async def expire(due: Iterable[Record], now: int) -> None:
    """Deny the asks of these sessions whose deadline has passed."""
    for record in due:
        for ask in record.state.open_asks():
            if ask.deadline is not None and ask.deadline <= now:
                command = AnswerAsk(session=record.session, ask=ask.id, decision=Deny(TOO_LATE), by=NOBODY)
                with suppress(UnknownSession):  # the session was deleted just now
                    await record.append(lambda state, command=command: decide.answer(state, command))
