"""Asks across sessions: what is open, and what became of the others."""

import logging
from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from coderelay.host.record import Record
from coderelay.protocol.asks import PermissionAsk
from coderelay.protocol.errors import StoreDamaged, UnknownAsk
from coderelay.protocol.ids import SessionId
from coderelay.protocol.short_ids import the_id_meant
from coderelay.protocol.summary import AskRow, Summary
from coderelay.session.children import children
from coderelay.session.state import AskState, State
from coderelay.store.store import Store

log = logging.getLogger(__name__)


class Records(Protocol):
    store: Store

    async def record(self, session: SessionId) -> Record: ...
    async def summary(self, session: SessionId) -> Summary: ...


async def open_asks(records: Records, session: SessionId | None) -> list[AskRow]:
    found = await _family(records, session) if session else await records.store.sessions(limit=100_000)
    waiting = [each for each in found if each.open_asks]
    return [row for each in waiting for row in await _rows(records, each, _is_open)]


async def _family(records: Records, session: SessionId) -> list[Summary]:
    """Who asks for a child asks for its parent."""
    own = await records.summary(session)
    ids = children((await records.record(session)).state) if own.children else []
    found = [await records.store.session(each) for each in ids]
    return [own, *(each for each in found if each is not None)]


async def find_ask(records: Records, text: str) -> AskRow:
    """Raises UnknownAsk, or BadInput if the text is too short to be clear."""
    found = _meant(text, await open_asks(records, None))
    if not found:
        name, dash, _ = text.partition("-")
        sessions = await records.store.sessions(limit=100_000) if dash else []
        belongs = [each for each in sessions if each.id.startswith(name)]
        rows = [row for each in belongs for row in await _rows(records, each, lambda _: True)]
        found = _meant(text, rows)
    if not found:
        raise UnknownAsk(text)
    return found[0]


def _meant(text: str, rows: list[AskRow]) -> list[AskRow]:
    """One at most."""
    meant = the_id_meant(text, [row.ask.id for row in rows])
    return [row for row in rows if row.ask.id == meant]


async def _rows(records: Records, summary: Summary, wanted: Callable[[AskState], bool]) -> list[AskRow]:
    try:
        record = await records.record(summary.id)
    except StoreDamaged as error:
        log.warning("%s", error)  # one damaged session must not keep people from answering the others
        return []
    rows = [
        AskRow(summary.id, summary.title, summary.cwd, each.ask, _is_open(each), each.decision, each.by)
        for each in record.state.asks.values()
        if wanted(each)
    ]
    if summary.parent is None or not rows:
        return rows
    parent = await records.store.session(summary.parent)
    return [replace(row, parent=summary.parent, parent_title=parent.title if parent else "") for row in rows]


def _is_open(asked: AskState) -> bool:
    return asked.decision is None and not asked.closed


def permissions_open(state: State) -> list[PermissionAsk]:
    return [each.ask for each in state.asks.values() if _is_open(each) and isinstance(each.ask, PermissionAsk)]
