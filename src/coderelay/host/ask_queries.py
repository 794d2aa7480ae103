"""Answers queries about asks: the open ones of all sessions, the decided ones of a session, one by its id."""

import logging
from collections.abc import Iterable

from msgspec.structs import replace

from coderelay.host.loaded_session_cache import LoadedSessionCache
from coderelay.protocol.asks import Ask, PermissionAsk
from coderelay.protocol.errors import StoreDamaged, UnknownAsk
from coderelay.protocol.events import (
    AskAnswered,
    Recorded,
    SessionDeleted,
    StopRequested,
    TurnEnded,
    asks_in,
)
from coderelay.protocol.ids import AskId, SessionId, the_id_meant
from coderelay.protocol.projected_rows import AskRow, Summary
from coderelay.protocol.queries import FindAsk, ListAsks, ListDecisions
from coderelay.session.children import children
from coderelay.session.state import AskState, State
from coderelay.store.store import Store

log = logging.getLogger(__name__)

_PAGE = 1000


async def answer_ask_query(
    query: ListAsks | ListDecisions | FindAsk, sessions: LoadedSessionCache
) -> list[AskRow] | AskRow:
    match query:
        case ListAsks():
            return await _open_asks(sessions, query.session)
        case ListDecisions():
            rows = await _all_rows(sessions, await sessions.summary(query.session))
            return [row for row in rows if not row.open]
        case FindAsk():
            return await _find_ask(sessions, query.text)


async def _open_asks(sessions: LoadedSessionCache, session: SessionId | None) -> list[AskRow]:
    waiting = await _family(sessions, session) if session else await sessions.store.waiting()
    titles: dict[SessionId, str] = {}
    return [row for each in waiting for row in await _open_rows(sessions, each, titles)]


async def _family(sessions: LoadedSessionCache, session: SessionId) -> list[Summary]:
    """The sessions with open asks among this one and its children: to ask about a parent includes its children."""
    own = await sessions.summary(session)
    ids = children((await sessions.load(session)).state) if own.children else []
    found = [own, *[await sessions.store.session(each) for each in ids]]
    return [each for each in found if each is not None and each.open_asks]


async def _find_ask(sessions: LoadedSessionCache, text: str) -> AskRow:
    """Find an ask by the beginning of its id. Raises UnknownAsk, or BadInput if the text is too short to be clear. An
    ask's id begins with the first characters of its session's id, so only the sessions that match are read."""
    beginning, dash, _ = text.partition("-")
    named = await sessions.store.named(beginning) if beginning else []
    found = _meant(text, [row for each in named if each.open_asks for row in await _open_rows(sessions, each)])
    if not found and dash:
        found = _meant(text, [row for each in named for row in await _all_rows(sessions, each)])
    if not found:
        raise UnknownAsk(text)
    return found[0]


def _meant(text: str, rows: list[AskRow]) -> list[AskRow]:
    """The row that the text means; one at most."""
    meant = the_id_meant(text, [row.ask.id for row in rows])
    return [row for row in rows if row.ask.id == meant]


async def _open_rows(
    sessions: LoadedSessionCache, summary: Summary, titles: dict[SessionId, str] | None = None
) -> list[AskRow]:
    """The open asks of a session, from its row. `titles` are those of parents that are known already."""
    asks = summary.asks
    if len(asks) != summary.open_asks:
        try:
            asks = open_asks(await _read_after(sessions.store, summary.id, summary.asks_after))
        except StoreDamaged as error:
            log.warning("%s", error)  # one damaged session must not keep people from answering the others
            return []
    rows = [AskRow(summary.id, summary.title, summary.cwd, ask) for ask in asks]
    return await _with_parent(sessions, summary, rows, {} if titles is None else titles)


async def _read_after(store: Store, session: SessionId, after: int) -> list[Recorded]:
    read: list[Recorded] = []
    while page := await store.read(session, after, _PAGE):
        read += page
        after = page[-1].seq
        if len(page) < _PAGE:
            break
    return read


async def _all_rows(sessions: LoadedSessionCache, summary: Summary) -> list[AskRow]:
    """All asks of a session, including those that are decided."""
    try:
        loaded = await sessions.load(summary.id)
    except StoreDamaged as error:
        log.warning("%s", error)
        return []
    rows = [
        AskRow(summary.id, summary.title, summary.cwd, each.ask, _is_open(each), each.decision, each.by)
        for each in loaded.state.asks.values()
    ]
    return await _with_parent(sessions, summary, rows, {})


async def _with_parent(
    sessions: LoadedSessionCache, summary: Summary, rows: list[AskRow], titles: dict[SessionId, str]
) -> list[AskRow]:
    if summary.parent is None or not rows:
        return rows
    if summary.parent not in titles:
        parent = await sessions.store.session(summary.parent)
        titles[summary.parent] = parent.title if parent else ""
    return [replace(row, parent=summary.parent, parent_title=titles[summary.parent]) for row in rows]


def _is_open(asked: AskState) -> bool:
    return asked.decision is None and not asked.closed


def permissions_open(state: State) -> list[PermissionAsk]:
    return [each.ask for each in state.asks.values() if _is_open(each) and isinstance(each.ask, PermissionAsk)]


def open_asks(tail: Iterable[Recorded]) -> list[Ask]:
    """`tail` is the log after `Summary.asks_after`, or from any earlier place, up to its end."""
    asks: dict[AskId, Ask] = {}
    for recorded in tail:
        match event := recorded.event:
            case AskAnswered():
                asks.pop(event.ask_id, None)
            case StopRequested() | TurnEnded() | SessionDeleted():
                asks.clear()
            case _:
                asks.update({ask.id: ask for ask in asks_in(event)})
    return list(asks.values())
