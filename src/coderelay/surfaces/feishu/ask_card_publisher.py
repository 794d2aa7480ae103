"""The cards of asks in chats: each is kept with the nonce that its clicks must bring, until its asks are closed."""

import secrets
from collections.abc import Sequence

from coderelay.protocol.asks import Ask
from coderelay.protocol.ids import SessionId
from coderelay.surfaces.feishu.ask_cards import AskCard, Closed, ask_layout
from coderelay.surfaces.feishu.card_layout import CardSchema, card_of
from coderelay.surfaces.feishu.card_outbox_interface import Card, CardOutbox, ChatPlace
from coderelay.surfaces.feishu.chat_records import AskCardRecord, ChatRecords


class AskCardPublisher:
    """`web_url` is the address of the web app; empty if cards do not link to it."""

    def __init__(self, records: ChatRecords, outbox: CardOutbox, schema: CardSchema, web_url: str) -> None:
        self._records = records
        self._outbox = outbox
        self._schema: CardSchema = schema
        self._web_url = web_url

    async def show(
        self,
        key: str,
        session: SessionId,
        place: ChatPlace,
        asks: Sequence[tuple[Ask, Closed | None]],
        *,
        title: str = "",
        is_owners: bool = False,
    ) -> None:
        """Show a card of asks as they are now. `title` is that of the session, where the chat is not its own."""
        record = await self._records.card(key)
        if record is None:
            new = AskCardRecord(
                key,
                secrets.token_urlsafe(12),
                session,
                tuple(ask.id for ask, _ in asks),
                place.chat_id,
                place.reply_to,
                title,
                is_owners,
            )
            record = await self._records.put_card(new)
        await self._outbox.show(key, ChatPlace(record.chat_id, record.reply_to), self.card(record, asks))
        if record.is_open and all(closed is not None for _, closed in asks):
            await self._records.close_card(record)

    def card(self, record: AskCardRecord, asks: Sequence[tuple[Ask, Closed | None]]) -> Card:
        card = AskCard(
            record.key, record.nonce, record.session, record.title, record.is_owners, self.url(record.session)
        )
        return card_of(ask_layout(card, asks), self._schema)

    def url(self, session: SessionId) -> str:
        return f"{self._web_url}/#session={session}" if self._web_url else ""
