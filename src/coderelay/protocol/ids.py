"""Names for things. All are UUIDs, except call ids, which the model chooses, and the numbers of background
commands, which count from 1 in each session."""

import uuid
from typing import NewType

SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", str)
PromptId = NewType("PromptId", str)
MessageId = NewType("MessageId", str)
CallId = NewType("CallId", str)
AskId = NewType("AskId", str)
OwnerId = NewType("OwnerId", str)
BackgroundId = NewType("BackgroundId", str)


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
