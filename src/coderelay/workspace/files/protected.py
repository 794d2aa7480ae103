"""Names that no tool writes, however they are spelled: some file systems take many spellings for one name."""

import re

from coderelay.protocol.spelling import END_OF_NAME as _END
from coderelay.protocol.spelling import folded

_PROTECTED = (
    (
        rf"/(?:\.git|git~\d){_END}",
        "belongs to git and is not written by tools; use the git command",
    ),
    (
        rf"/(?:\.coder|coder~\d){_END}",
        "belongs to coder itself and is not written by tools",
    ),
    (
        rf"/(?:\.claude|claude~\d){_END}/settings[^/]*\.json{_END}",
        "says what an agent may do and is not written by tools; ask the person to change it",
    ),
)


def why_protected(path: str) -> str | None:
    """`path` is relative to a folder of the session, so that the folder may itself be called anything."""
    plain = folded(path)
    return next((why for pattern, why in _PROTECTED if re.search(pattern, plain)), None)
