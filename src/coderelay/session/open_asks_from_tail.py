"""Finds the open asks of a session from the end of its log alone, without folding the whole log."""

from collections.abc import Iterable

from coderelay.protocol.asks import Ask
from coderelay.protocol.events import (
    AskAnswered,
    Recorded,
    SessionDeleted,
    StopRequested,
    TurnEnded,
    asks_in,
)
from coderelay.protocol.ids import AskId


def open_asks(tail: Iterable[Recorded]) -> list[Ask]:
    """`tail` is the log after `Summary.asks_after`, or from any earlier place, up to its end."""
    asks: dict[AskId, Ask] = {}
    for recorded in tail:
        match event := recorded.event:
            case AskAnswered():
                asks.pop(event.ask_id, None)
            case StopRequested() | TurnEnded() | SessionDeleted():
                asks.clear()
            case _:
                asks.update({ask.id: ask for ask in asks_in(event)})
    return list(asks.values())
