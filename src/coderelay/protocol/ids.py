"""Id types, and how they are created, derived and abbreviated.

All ids are UUIDs, except asks (see `new_ask_id`), calls, whose ids the model chooses, and background commands, which
are numbered from 1 in each session.
"""

import uuid
from collections.abc import Iterable
from typing import NewType

from msgspec import Struct

from coderelay.protocol.errors import BadInput
from coderelay.protocol.translatable import join_texts, say

SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", str)
PromptId = NewType("PromptId", str)
MessageId = NewType("MessageId", str)
CallId = NewType("CallId", str)
AskId = NewType("AskId", str)
OwnerId = NewType("OwnerId", str)
MachineId = NewType("MachineId", str)
BackgroundId = NewType("BackgroundId", str)
SHORTEST = 4
"""The fewest characters that an abbreviated id may have. An empty or almost empty argument, such as an unset shell
variable, would otherwise match whenever there is only one candidate."""
_LISTED = 5
_NAMESPACE = uuid.NAMESPACE_OID.bytes


class MachineIdentity(Struct, frozen=True):
    """A machine as the log knows it. Only `id` identifies it; `name` is for people and may change."""

    id: MachineId
    name: str


def new_id() -> str:
    return str(uuid.uuid4())


def derived_id(*parts: object) -> str:
    """A deterministic id: the same parts always give the same id, so that rebuilt rows keep theirs."""
    import hashlib  # imported late: a process that derives no id need not load it

    name = _NAMESPACE + "/".join(map(str, parts)).encode()
    text = hashlib.sha1(name, usedforsecurity=False).hexdigest()  # what `uuid.uuid5` does, with less around it
    variant = "89ab"[int(text[16], 16) & 3]
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}"


def child_id(session: SessionId, call: CallId) -> SessionId:
    """The id of the child session that a call opens. It is derived from the call, so a call never opens more than
    one."""
    return SessionId(derived_id(session, call, "task"))


def new_ask_id(session: SessionId) -> AskId:
    """An ask id is short enough to type, and begins with the first 8 characters of its session's id."""
    return AskId(f"{session[:8]}-{uuid.uuid4().hex[:8]}")


APPROVALS = SessionId("approvals")
"""The log that holds the approvals which count beyond one session. It has no other events."""


def ids_meant(given: str, ids: Iterable[str]) -> list[str]:
    """The id that equals `given`, otherwise all ids that begin with it. An abbreviation shorter than SHORTEST matches
    none."""
    known = list(dict.fromkeys(ids))
    if given in known:
        return [given]
    return [each for each in known if each.startswith(given)] if len(given) >= SHORTEST else []


def the_id_meant(given: str, ids: Iterable[str]) -> str | None:
    """The one id that `given` matches, or None. Raises BadInput if `given` is too short or matches several ids."""
    found = ids_meant(given, ids)
    if len(found) > 1:
        lines = [
            say("{text} matches {count} ids:", text=repr(given), count=len(found)),
            *(f"  {each}" for each in found[:_LISTED]),
        ]
        raise BadInput(join_texts("\n", lines), "Type more of the id.")
    if not found and len(given) < SHORTEST:
        raise BadInput(
            say("{text} is too short for an id", text=repr(given)),
            say("Type at least {count} characters of it.", count=SHORTEST),
        )
    return found[0] if found else None
