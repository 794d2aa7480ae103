"""Follows one session and keeps the cards of its chat as the session is."""

from contextlib import aclosing

from msgspec.structs import replace

from coderelay.client.client import Client
from coderelay.client.i18n import speaking
from coderelay.protocol.commands import OpenSession
from coderelay.protocol.ids import PromptId, SessionId
from coderelay.protocol.queries import ListPrompts
from coderelay.surfaces.feishu.access_rules import person
from coderelay.surfaces.feishu.ask_card_publisher import AskCardPublisher
from coderelay.surfaces.feishu.card_layout import CardSchema, card_of
from coderelay.surfaces.feishu.card_outbox_interface import CardOutbox, ChatPlace
from coderelay.surfaces.feishu.chat_records import ChatRecords, SessionPlace
from coderelay.surfaces.feishu.session_cards import QUEUED, AskGroup, SessionCards
from coderelay.surfaces.feishu.session_client import SessionClient
from coderelay.surfaces.feishu.session_updates_from_log import TurnOver


class SessionCardUpdater:
    """Shows one session in its chat."""

    def __init__(
        self,
        client: Client,
        session: SessionId,
        records: ChatRecords,
        outbox: CardOutbox,
        asks: AskCardPublisher,
        schema: CardSchema,
    ) -> None:
        self._client = client
        self._session = session
        self._records = records
        self._outbox = outbox
        self._asks = asks
        self._schema: CardSchema = schema
        self.seq = 0

    async def run(self, *, is_owners: bool) -> None:
        """Until the session is at rest. What was not shown when a process died is shown by the next one. `is_owners`
        says whether the person of the chat is the linked owner of the host."""
        place = await self._records.place(self._session)
        if place is None:
            return
        await self._client.send(OpenSession(session=self._session, by=person(place.owner)))
        with speaking(self._client.language):
            await self._follow(place, is_owners)

    async def _follow(self, place: SessionPlace, is_owners: bool) -> None:
        waiting = {each.prompt_id for each in await self._client.get(ListPrompts(self._session))}
        acknowledged = {each for each in waiting if await self._records.reply(each)}
        view = SessionCards(f"{self._session}@{place.cursor}", self._asks.url(self._session), acknowledged)
        execution = SessionClient(self._client, self._session, person(place.owner), after=place.cursor)
        is_caught_up = False
        async with aclosing(execution.stream) as stream:
            async for each in stream:
                for message in each.messages:
                    view.take(message)
                self.seq = max(self.seq, each.seq)
                is_caught_up |= each.is_caught_up
                if is_caught_up:
                    await self._show(view, place, is_owners)
                    if each.is_caught_up or any(isinstance(message, TurnOver) for message in each.messages):
                        place = await self._keep_cursor(view, place)

    async def _show(self, view: SessionCards, place: SessionPlace, is_owners: bool) -> None:
        """In this order: the cards that look different first, then what only grows."""
        for key, shown in view.changed().items():
            if isinstance(shown, AskGroup):
                await self._asks.show(key, shown.session, place.place, shown.asks, is_owners=is_owners)
                continue
            await self._outbox.show(key, await self._place_of(key, place), card_of(shown, self._schema))
        if (grown := view.streamed()) is not None:
            self._outbox.stream(*grown)

    async def _place_of(self, key: str, place: SessionPlace) -> ChatPlace:
        """An acknowledgement answers the message that it acknowledges."""
        if not key.startswith(QUEUED):
            return place.place
        reply_to = await self._records.reply(PromptId(key.removeprefix(QUEUED)))
        return ChatPlace(place.chat_id, reply_to or place.reply_to)

    async def _keep_cursor(self, view: SessionCards, place: SessionPlace) -> SessionPlace:
        """Nothing before this event needs to be shown again. While a turn is open, its beginning does: the cards of
        the turn are made from all of it."""
        if view.is_turn_open or self.seq <= place.cursor:
            return place
        current = await self._records.place(self._session) or place  # the session may have moved to another chat
        moved = replace(current, cursor=max(self.seq, current.cursor))
        await self._records.put_place(self._session, moved)
        return moved
