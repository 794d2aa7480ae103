"""Asks of sessions that are in no chat: they arrive in the chat that the session's person has linked to the bot."""

import logging
from collections.abc import Awaitable, Sequence

from coderelay.client.client import Client
from coderelay.protocol.asks import Ask, PermissionAsk
from coderelay.protocol.errors import StoreFailed, UnknownAsk, UnknownSession
from coderelay.protocol.events import AskAnswered, Recorded, SessionDeleted, StopRequested, TurnEnded, asks_in
from coderelay.protocol.ids import AskId, SessionId
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import FindAsk, ListAsks, ShowSession
from coderelay.surfaces.feishu.account_links import Links
from coderelay.surfaces.feishu.ask_card_publisher import AskCardPublisher
from coderelay.surfaces.feishu.ask_cards import MOST_IN_A_BATCH, Closed
from coderelay.surfaces.feishu.card_outbox_interface import ChatPlace
from coderelay.surfaces.feishu.chat_records import ChatRecords

log = logging.getLogger(__name__)

_PREFIX = "mirror/"


class MirroredAsks:
    """They wait without limit, and their cards say which session they are of."""

    def __init__(
        self, client: Client, records: ChatRecords, links: Links, cards: AskCardPublisher, host_person: str
    ) -> None:
        self._client = client
        self._records = records
        self._links = links
        self._cards = cards
        self._host_person = host_person
        self._open: dict[SessionId, set[str]] = {}  # keys of cards with open asks, by session

    async def reconcile(self) -> None:
        """Show all asks that are open now, and how those were closed that have a card."""
        rows = await self._client.get(ListAsks())
        known: set[AskId] = set()
        for record in await self._records.cards(_PREFIX):
            known |= set(record.asks)
            if record.is_open:
                self._open.setdefault(record.session, set()).add(record.key)
                await _or_log(self._redraw(record.key, 0))
        by_session: dict[SessionId, list[Ask]] = {}
        for row in rows:
            if row.ask.id not in known:
                by_session.setdefault(row.session, []).append(row.ask)
        for session, asks in by_session.items():
            await _or_log(self._show(session, asks))

    async def open(self, recorded: Recorded) -> None:
        """Show the asks that an event opens, if its session is in no chat."""
        if asks := asks_in(recorded.event):
            await self._show(recorded.session, asks)

    async def close(self, recorded: Recorded) -> None:
        """Show how asks were closed that have a card."""
        if isinstance(recorded.event, AskAnswered | StopRequested | TurnEnded | SessionDeleted):
            for key in list(self._open.get(recorded.session, ())):
                await self._redraw(key, recorded.at)

    async def _show(self, session: SessionId, asks: Sequence[Ask]) -> None:
        try:
            root = await self._root(session)
        except UnknownSession:
            return
        link = await self._links.of_person(root.person)
        if link is None or await self._records.place(root.id) is not None:
            return
        for group in _groups(asks):
            key = f"{_PREFIX}{group[0].id}"
            if await self._records.card(key) is None:
                self._open.setdefault(session, set()).add(key)
                await self._cards.show(
                    key,
                    session,
                    ChatPlace(link.chat_id),
                    [(each, None) for each in group],
                    title=root.title or root.last_prompt or root.id,
                    is_owners=link.person == self._host_person,
                )

    async def _redraw(self, key: str, at: int) -> None:
        record = await self._records.card(key)
        if record is None:
            return
        asks: list[tuple[Ask, Closed | None]] = []
        for each in record.asks:
            try:
                row = await self._client.get(FindAsk(each))
            except (UnknownAsk, UnknownSession):
                self._forget(record.session, key)
                await self._records.close_card(record)
                return
            asks.append((row.ask, None if row.open else Closed(row.decision, row.by, at)))
        await self._cards.show(key, record.session, ChatPlace(record.chat_id), asks)
        if all(closed is not None for _, closed in asks):
            self._forget(record.session, key)

    def _forget(self, session: SessionId, key: str) -> None:
        keys = self._open.get(session, set())
        keys.discard(key)
        if not keys:
            self._open.pop(session, None)

    async def _root(self, session: SessionId) -> Summary:
        summary = await self._client.get(ShowSession(session))
        while summary.parent is not None:
            summary = await self._client.get(ShowSession(summary.parent))
        return summary


async def _or_log(work: Awaitable[None]) -> None:
    """One card that cannot be shown must not keep back the others."""
    try:
        await work
    except StoreFailed:
        raise
    except Exception:  # one request of the surface
        log.exception("an ask could not be shown")


def _groups(asks: Sequence[Ask]) -> list[list[Ask]]:
    """The asks of one card each: permissions of one batch together, others alone."""
    permissions: list[Ask] = [each for each in asks if isinstance(each, PermissionAsk)]
    several = [permissions[start : start + MOST_IN_A_BATCH] for start in range(0, len(permissions), MOST_IN_A_BATCH)]
    return [*several, *([each] for each in asks if not isinstance(each, PermissionAsk))]
