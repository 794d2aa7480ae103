"""Events and rows as every engine stores them: encoded, numbered, read back, and what counts as damage."""

from collections.abc import Callable, Sequence

import msgspec

from coderelay.protocol.codec import decode, encode, kind_of
from coderelay.protocol.errors import BadInput, StoreDamaged
from coderelay.protocol.events import AnyEvent, Recorded, SessionClaimed, SessionDeleted
from coderelay.protocol.ids import SessionId
from coderelay.protocol.summary import Summary

Damaged = Callable[[str, str], StoreDamaged]
"""An engine's way to say what is damaged, and why."""

LAST_CHARACTER = "\U0010ffff"
"""Sorts behind all that ids hold: whatever lies between a text and that text followed by it begins with the text."""

_summaries = msgspec.json.Decoder(Summary)


def bodies(session: SessionId, events: Sequence[AnyEvent]) -> list[tuple[str, str]]:
    """Kinds and bodies as they are stored. The name of the session is checked with them."""
    try:
        session.encode()
        return [(kind_of(event), encode(event).decode()) for event in events]
    except UnicodeEncodeError as error:
        half = f"U+{ord(error.object[error.start]):04X}"
        raise BadInput(
            f"session {session!r}: text with {half}, half of a character, cannot be kept",
            "Names of files and folders must be valid Unicode too. The log is as it was before.",
        ) from error


def place(session: SessionId, head: int, epoch: int, events: Sequence[AnyEvent], at: int) -> list[Recorded]:
    """Number the events. A claim raises the epoch for itself and all that follows it."""
    recorded: list[Recorded] = []
    for seq, event in enumerate(events, head + 1):
        if isinstance(event, SessionClaimed):
            epoch = event.epoch
        recorded.append(Recorded(session, seq, epoch, at, event))
    return recorded


def read_event(session: SessionId, row: tuple[int, int, int, str, bytes | str], damaged: Damaged) -> Recorded:
    seq, epoch, at, kind, body = row
    try:
        return Recorded(session, seq, epoch, at, decode(kind, body))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise damaged(f"event {seq} of session {session}", str(error)) from error


def refuse_holes(session: SessionId, after: int, page: Sequence[Recorded], damaged: Damaged) -> None:
    """Rows can go missing by a hand other than ours. Only a deletion may stand where earlier events were."""
    expected = after + 1
    for each in page:
        if each.seq != expected and not isinstance(each.event, SessionDeleted):
            raise damaged(f"event {expected} of session {session}", "it is missing")
        expected = each.seq + 1


def read_summary(session: str, summary: str, damaged: Damaged) -> Summary:
    try:
        return _summaries.decode(summary)
    except msgspec.DecodeError as error:
        raise damaged(f"the row of session {session} in the table of sessions", str(error)) from error
