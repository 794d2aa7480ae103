"""The chat side of a bot: takes messages and clicks of all chats, and shows in them what happens in the sessions."""

import asyncio

from coderelay.client.client import Client
from coderelay.protocol.key_value_store import KeyValueStore
from coderelay.surfaces.feishu.account_links import Links
from coderelay.surfaces.feishu.all_sessions_presenter import AllSessionsPresenter
from coderelay.surfaces.feishu.ask_card_click_handler import ClickHandler
from coderelay.surfaces.feishu.ask_card_publisher import AskCardPublisher
from coderelay.surfaces.feishu.card_outbox_interface import CardOutbox
from coderelay.surfaces.feishu.chat_commands import ChatCommands
from coderelay.surfaces.feishu.chat_options import ChatOptions
from coderelay.surfaces.feishu.chat_records import ChatRecords
from coderelay.surfaces.feishu.incoming_event_types import CardClick, ChatMessage, ClickAnswer
from coderelay.surfaces.feishu.message_handler import MessageHandler
from coderelay.surfaces.feishu.presenter_lease import LeasedOutbox, PresenterLease


class ChatSide:
    """An IncomingHandler. `client` speaks the language of the cards."""

    def __init__(self, client: Client, key_values: KeyValueStore, outbox: CardOutbox, options: ChatOptions) -> None:
        records, links = ChatRecords(key_values), Links(key_values)
        self._lease = PresenterLease(key_values)
        shown = LeasedOutbox(outbox, self._lease)
        cards = AskCardPublisher(records, shown, options.schema, options.web_url)
        self._presenter = AllSessionsPresenter(
            client, records, links, shown, cards, options.host_person, options.schema
        )
        self._chat = MessageHandler(client, records, links, outbox, options, self._presenter, ChatCommands())
        self._clicks = ClickHandler(client, records, outbox, cards, self._chat)
        self._presenting: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to show what happens, if no other bot of the app does."""
        self._presenting = asyncio.create_task(self._lease.run(self._presenter.present))

    async def close(self) -> None:
        if self._presenting is not None:
            self._presenting.cancel()
            await asyncio.gather(self._presenting, return_exceptions=True)

    async def message(self, message: ChatMessage) -> None:
        await self._chat.message(message)

    async def click(self, click: CardClick) -> ClickAnswer:
        return await self._clicks.click(click)
