"""Verbatim messages, stored exactly as the program of an agent emitted them, and the events that they contain. An
event that is contained in such a message is marked when it is appended, so that a reader of that event alone knows
that a message for it exists.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from coderelay.protocol.events import (
    AnyEvent,
    AskOpened,
    CallEnded,
    CallProposed,
    MessageAdded,
    MessageKept,
    TurnEnded,
)
from coderelay.protocol.ids import MessageId
from coderelay.session.state import KeptMessages, State


def keep(state: State, messages: Sequence[MessageKept]) -> list[AnyEvent]:
    """Those of the messages that the turn does not have yet: an agent that carries on may repeat some."""
    kept = state.turn.kept if state.turn is not None else None
    known: set[MessageId] = set(kept.ids) if kept is not None else set()
    fresh: list[AnyEvent] = []
    for each in messages:
        if each.message_id not in known:
            known.add(each.message_id)
            fresh.append(each)
    return fresh


def note_contained_events(state: State, event: MessageKept) -> None:
    """Remember which events a message contains, until the turn ends."""
    if state.turn is None:
        return
    kept = state.turn.kept = state.turn.kept or KeptMessages()
    kept.ids.add(event.message_id)
    kept.calls.update(event.calls)
    kept.results.update(event.results)
    kept.has_last = kept.has_last or event.is_last


def mark(state: State, events: list[AnyEvent]) -> list[AnyEvent]:
    """The events, with those marked that stand in a message of the open turn."""
    kept = state.turn.kept if state.turn is not None else None
    return events if kept is None else [_marked(kept, each) for each in events]


def _marked(kept: KeptMessages, event: AnyEvent) -> AnyEvent:
    match event:
        case MessageAdded() if event.message_id in kept.ids:
            return replace(event, verbatim=True)
        case CallProposed() if event.call.id in kept.calls:
            return replace(event, verbatim=True)
        case CallEnded() if event.call_id in kept.results:
            return replace(event, verbatim=True)
        case TurnEnded() if kept.has_last:
            return replace(event, verbatim=True)
        case AskOpened(then=TurnEnded() as ending) if kept.has_last:
            return replace(event, then=replace(ending, verbatim=True))
        case _:
            return event
