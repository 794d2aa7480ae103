"""Encoding and decoding of stored events and rows, shared by all engines, with the detection of damage."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from coderelay.protocol.errors import BadInput, StoreDamaged
from coderelay.protocol.event_codec import decode, encode, kind_of
from coderelay.protocol.events import AnyEvent, Recorded, SessionClaimed, SessionDeleted
from coderelay.protocol.ids import SessionId
from coderelay.protocol.key_value_store import Change
from coderelay.protocol.projected_rows import MessageRow, Messages, Summary
from coderelay.protocol.translatable import say

Damaged = Callable[[str, str], StoreDamaged]
"""Makes the engine's exception from what is damaged, and why."""

LAST_CHARACTER = "\U0010ffff"
"""Sorts after every character in ids: whatever sorts between a prefix and prefix + LAST_CHARACTER begins with it."""

_summaries = msgspec.json.Decoder(Summary)


class LogHead(Struct, frozen=True):
    """The end of a log, and its session's row at that point. All of it follows from the events up to `seq`."""

    seq: int = 0
    epoch: int = 0
    at: int = 0
    row: Summary | None = None


def bodies(session: SessionId, events: Sequence[AnyEvent]) -> list[tuple[str, str]]:
    """Return the kind and the encoded body of each event. The session id is checked for valid Unicode as well."""
    try:
        session.encode()
        return [(kind_of(event), encode(event).decode()) for event in events]
    except UnicodeEncodeError as error:
        half = f"U+{ord(error.object[error.start]):04X}"
        raise BadInput(
            say(
                "session {session}: text with {character}, half of a character, cannot be stored",
                session=repr(session),
                character=half,
            ),
            "Names of files and folders must be valid Unicode too. The log is unchanged.",
        ) from error


def place(session: SessionId, head: int, epoch: int, events: Sequence[AnyEvent], at: int) -> list[Recorded]:
    """Assign sequence numbers to the events. A claim raises the epoch for itself and for all events after it."""
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
        raise damaged(_event(seq, session), str(error)) from error


def _event(seq: int, session: str) -> str:
    return say("event {number} of session {session}", number=seq, session=session)


def refuse_holes(session: SessionId, after: int, page: Sequence[Recorded], damaged: Damaged) -> None:
    """Raise if an event is missing: rows can be removed by something other than this program. Only a deletion event
    may follow a gap."""
    expected = after + 1
    for each in page:
        if each.seq != expected and not isinstance(each.event, SessionDeleted):
            raise damaged(_event(expected, session), say("it is missing"))
        expected = each.seq + 1


def read_summary(session: str, summary: str, damaged: Damaged) -> Summary:
    try:
        return _summaries.decode(summary)
    except msgspec.DecodeError as error:
        raise damaged(
            say("the row of session {session} in the table of sessions", session=session), str(error)
        ) from error


def messages_read(rows: Sequence[tuple[Any, ...]]) -> Messages:
    """The messages from rows of (head of the log, id, data); a log without messages has one row without an id."""
    head = rows[0][0] if rows else None
    return Messages([MessageRow(name, data) for _, name, data in rows if name is not None], head or 0)


def checked_changes(changes: Sequence[Change]) -> None:
    """Raise BadInput for a key of a key-value store that cannot be stored."""
    for each in changes:
        if not is_key(each.key):
            raise BadInput(
                say(
                    "{key} cannot be the key of an entry: it is not valid Unicode, or has a NUL character",
                    key=repr(each.key),
                )
            )


def is_key(text: str) -> bool:
    """Whether an entry of a key-value store may have this key."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def new_version() -> int:
    """A version for the entries of one write to a key-value store. It is random, so that it tells whether that very
    write has arrived, and so that an entry that was erased and made anew never has an old version."""
    return int.from_bytes(os.urandom(7)) + 1
