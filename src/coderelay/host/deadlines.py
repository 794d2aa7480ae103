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

NOBODY = By(who="nobody", via="deadline")
TOO_LATE = "nobody answered in time"


def now() -> int:
    """The wall clock in milliseconds, the unit of the log and of its deadlines."""
    return time.time_ns() // 1_000_000


def is_due(record: Record, now: int) -> bool:
    return any(ask.deadline is not None and ask.deadline <= now for ask in record.state.open_asks())


async def expire(records: Iterable[Record], now: int) -> list[Record]:
    """Deny the asks whose deadline has passed; returns the sessions that can go on."""
    due = [record for record in records if is_due(record, now)]
    for record in due:
        for ask in record.state.open_asks():
            if ask.deadline is not None and ask.deadline <= now:
                command = AnswerAsk(session=record.session, ask=ask.id, decision=Deny(TOO_LATE), by=NOBODY)
                with suppress(UnknownSession):  # the session was deleted just now
                    await record.append(lambda state, command=command: decide.answer(state, command))
    return due
