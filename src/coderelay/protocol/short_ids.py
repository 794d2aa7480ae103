"""Ids as people give them: in full, or the beginning of one. The one rule for sessions, asks and approvals."""

from collections.abc import Iterable

from coderelay.protocol.errors import BadInput
from coderelay.protocol.translatable import say

SHORTEST = 4
"""Characters. With fewer, what somebody forgot to fill in would mean whatever there happens to be only one of."""

_LISTED = 5


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
