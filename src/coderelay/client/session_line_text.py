"""A session as one line of text, in lists."""

import time

from coderelay.client.i18n import t
from coderelay.protocol.projected_rows import Summary


def is_known(row: Summary) -> bool:
    """Whether a person could recognise the session. One that was opened and never used has no prompt and no title."""
    return bool(row.title or row.last_prompt)


def session_line(row: Summary, home: str, *, with_folder: bool) -> str:
    when = time.strftime("%m-%d %H:%M", time.localtime(row.updated_at / 1000))
    phase = t(row.phase) if row.phase in ("running", "waiting", "failed", "stopped") else ""
    title = row.title or row.last_prompt.strip().partition("\n")[0]
    return "  ".join(filter(None, (row.id, when, title, phase, folder_name(row, home) if with_folder else "")))


def folder_name(row: Summary, home: str) -> str:
    """The folder of the session, with `~` for the home folder."""
    return f"~{row.cwd[len(home) :]}" if home and f"{row.cwd}/".startswith(f"{home}/") else row.cwd
