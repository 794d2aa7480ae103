"""Titles of sessions that nobody has named."""

_MOST_CHARS = 60


def title_from(prompt: str) -> str:
    """The beginning of the first line. The page knows this rule (`sessions/name_session.ts`)."""
    first = " ".join(prompt.strip().partition("\n")[0].split())
    return first if len(first) <= _MOST_CHARS else f"{first[: _MOST_CHARS - 1].rstrip()}…"
