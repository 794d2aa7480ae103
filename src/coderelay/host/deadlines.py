"""Asks that wait only so long. Whoever attends the session when the time is over closes it: nobody answered,
so it is denied. Silence is never consent."""

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
    """The wall clock, in milliseconds: what the log and its deadlines are written in."""
    return time.time_ns() // 1_000_000


def is_due(record: Record, now: int) -> bool:
    return any(ask.deadline is not None and ask.deadline <= now for ask in record.state.open_asks())


async def expire(records: Iterable[Record], now: int) -> list[Record]:
    """Close what is over; returns the sessions that can go on."""
    due = [record for record in records if is_due(record, now)]
    for record in due:
        for ask in record.state.open_asks():
            if ask.deadline is not None and ask.deadline <= now:
                command = AnswerAsk(session=record.session, ask=ask.id, decision=Deny(TOO_LATE), by=NOBODY)
                with suppress(UnknownSession):  # deleted at this very moment
                    await record.append(lambda state, command=command: decide.answer(state, command))
    return due
