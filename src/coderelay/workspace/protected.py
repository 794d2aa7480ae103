"""Names that no tool writes, however they are spelled: some file systems take many spellings for one name."""

import re

_END = r"[ .]*(?::[^/]*)?(?=/|$)"  # Windows and its shares drop these at the end of a name

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

_HANGUL_FILLERS = "\u115f\u1160\u3164\uffa0"  # letters by category, but drawn as nothing


def why_protected(path: str) -> str | None:
    """`path` is relative to a folder of the session, so that the folder may itself be called anything."""
    plain = "/" + (path.lower() if path.isascii() else _plain(path)).replace("\\", "/")
    return next((why for pattern, why in _PROTECTED if re.search(pattern, plain)), None)


def _plain(text: str) -> str:
    """Without what a file system may disregard: case, width, accents, and characters that are drawn as nothing."""
    from unicodedata import category, normalize  # most names are ASCII

    folded = normalize("NFKD", normalize("NFKD", text).upper().casefold())
    return "".join(each for each in folded if category(each)[0] not in "CM" and each not in _HANGUL_FILLERS)
