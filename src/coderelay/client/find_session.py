"""Sessions in lists: finds the one that a person types an id or title of, and shows each as a line."""

import time

from coderelay.client.client import Client
from coderelay.client.i18n import t
from coderelay.protocol.errors import BadInput, UnknownSession
from coderelay.protocol.ids import SessionId, ids_meant, the_id_meant
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ListChildren, ListSessions, ShowSession

_ALL = 100_000
_NEAREST = 3
_ALIKE = 0.6


async def session_by_id(client: Client, given: str) -> Summary:
    """Find a session by its id or the beginning of it, not by title: for actions that must not hit the wrong one.
    Raises UnknownSession or BadInput."""
    try:
        return await client.get(ShowSession(SessionId(given)))
    except UnknownSession:
        rows = {each.id: each for each in await client.get(ListSessions(limit=_ALL))}
    if not ids_meant(given, rows):  # it may be the session of a task
        for parent in [each for each in rows.values() if each.children]:
            rows |= {each.id: each for each in await client.get(ListChildren(parent.id))}
    meant = the_id_meant(given, rows)
    if meant is None:
        raise UnknownSession(given)
    return rows[SessionId(meant)]


async def find_session(client: Client, name: str, hint: str = "") -> Summary:
    """Find a session by id or title. Raises BadInput that names the nearest; `hint` says where all are listed."""
    try:
        return await client.get(ShowSession(SessionId(name)))
    except UnknownSession:
        rows = await client.get(ListSessions(limit=_ALL))
    meant = ids_meant(name, [each.id for each in rows])
    found = [each for each in rows if each.id in meant] or [each for each in rows if _begins(each.title, name)]
    exact = [each for each in found if each.title.casefold() == name.casefold()]
    if len(found) == 1 or len(exact) == 1:
        return (exact or found)[0]
    if found:
        told, shown = t("{name} matches {count} sessions:", name=repr(name), count=len(found)), found
    elif near := _nearest(rows, name):
        told, shown = t("no session {name}; similar sessions:", name=repr(name)), near
    else:
        told, shown = t("no session {name}", name=repr(name)), []
    lines = [f"  {each.id}  {each.title}" for each in shown[:_NEAREST]]
    raise BadInput("\n".join([told, *lines]), hint or t("/sessions lists all sessions."))


def _begins(title: str, name: str) -> bool:
    return bool(name.strip()) and title.casefold().startswith(name.casefold())


def _nearest(rows: list[Summary], name: str) -> list[Summary]:
    rated = [(_similarity(each, name), each) for each in rows]
    return [each for likeness, each in sorted(rated, key=lambda pair: -pair[0]) if likeness >= _ALIKE]


def _similarity(row: Summary, name: str) -> float:
    """How similar `name` is to the beginning of the id or title, or to a word of the title."""
    known = [row.id[: len(name)], row.title[: len(name)], *row.title.split()]
    from difflib import SequenceMatcher  # needed only if nothing was found

    return max(SequenceMatcher(None, name.casefold(), each.casefold()).ratio() for each in known)


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
