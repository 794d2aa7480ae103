"""Names for things. All are UUIDs, except call ids, which the model chooses, and the numbers of background
commands, which count from 1 in each session."""

import uuid
from collections.abc import Iterable
from typing import NewType

from coderelay.protocol.errors import BadInput
from coderelay.protocol.translatable import say

SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", str)
PromptId = NewType("PromptId", str)
MessageId = NewType("MessageId", str)
CallId = NewType("CallId", str)
AskId = NewType("AskId", str)
OwnerId = NewType("OwnerId", str)
BackgroundId = NewType("BackgroundId", str)
SHORTEST = 4
"""Characters. With fewer, what somebody forgot to fill in would mean whatever there happens to be only one of."""
_LISTED = 5


def new_id() -> str:
    return str(uuid.uuid4())


def derived_id(*parts: object) -> str:
    """The same id for the same parts, for rows that can be rebuilt."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "/".join(map(str, parts))))


def child_id(session: SessionId, call: CallId) -> SessionId:
    """The session that a call opens: never more than one, whoever looks for it."""
    return SessionId(derived_id(session, call, "task"))


def new_ask_id(session: SessionId) -> AskId:
    """Short enough to type, and tells the session it belongs to."""
    return AskId(f"{session[:8]}-{uuid.uuid4().hex[:8]}")


APPROVALS = SessionId("approvals")
"""The log of what was approved beyond one session. It has no other events."""


def ids_meant(given: str, ids: Iterable[str]) -> list[str]:
    """The one that is given in full, else all that begin with it."""
    known = list(dict.fromkeys(ids))
    if given in known:
        return [given]
    return [each for each in known if each.startswith(given)] if len(given) >= SHORTEST else []


def the_id_meant(given: str, ids: Iterable[str]) -> str | None:
    """None if there is no such id. Raises BadInput if it is too short, or fits several."""
    found = ids_meant(given, ids)
    if len(found) > 1:
        lines = [
            say("{text} is short for {count} ids:", text=repr(given), count=len(found)),
            *(f"  {each}" for each in found[:_LISTED]),
        ]
        raise BadInput("\n".join(lines), "Give more of the id.")
    if not found and len(given) < SHORTEST:
        raise BadInput(
            say("{text} is too short for an id", text=repr(given)),
            say("Give at least {count} characters of it.", count=SHORTEST),
        )
    return found[0] if found else None
