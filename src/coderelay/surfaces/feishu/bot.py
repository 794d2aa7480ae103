"""A bot on the platform: the connection, the outbox and the chats, put together and run until it is told to stop."""

import asyncio
import logging
from collections.abc import Callable
from socket import socket
from typing import Protocol

from msgspec import Struct

from coderelay.protocol.key_value_store import KeyValueStore
from coderelay.protocol.wall_clock import now
from coderelay.surfaces.feishu.card_outbox_interface import CardOutbox
from coderelay.surfaces.feishu.card_sender import CardSender
from coderelay.surfaces.feishu.durable_card_outbox import DurableCardOutbox
from coderelay.surfaces.feishu.incoming_event_types import IncomingHandler
from coderelay.surfaces.feishu.lark_api import AppCredentials, LarkApi
from coderelay.surfaces.feishu.long_connection import LongConnection
from coderelay.surfaces.feishu.rate_limits import RateLimits
from coderelay.surfaces.feishu.receiver import AppIdentity, Receiver
from coderelay.surfaces.feishu.webhook import Webhook, WebhookSecrets

log = logging.getLogger(__name__)


class ChatHandler(IncomingHandler, Protocol):
    """What takes messages and clicks, and shows sessions."""

    async def start(self) -> None: ...

    async def close(self) -> None: ...


class WebhookOptions(Struct, frozen=True):
    listening: socket
    secrets: WebhookSecrets


class BotTiming(Struct, frozen=True):
    """`lease_ms` is how long other bots leave an event to the bot that began it; after a crash, the next bot takes
    over when this time has passed. `pace` makes the pauses between calls longer or shorter."""

    lease_ms: int = 15_000
    pace: float = 1.0


class Bot:
    """`on_connected` is called with True whenever events can come, and with False when the connection is lost."""

    def __init__(
        self,
        app: AppCredentials,
        tenant: str,
        key_values: KeyValueStore,
        chats: Callable[[CardOutbox], ChatHandler],
        on_connected: Callable[[bool], None],
        timing: BotTiming = BotTiming(),  # noqa: B008  # it cannot change
    ) -> None:
        self._app = app
        self._tenant = tenant
        self._key_values = key_values
        self._make_chats = chats
        self._on_connected = on_connected
        self._timing = timing

    async def run(self, until: asyncio.Event, webhook: WebhookOptions | None) -> None:
        """Raises CannotRun if the platform refuses the app."""
        api = LarkApi(self._app)
        try:
            bot = await api.check()
            sender = CardSender(self._app.app_id, api, RateLimits(scale=self._timing.pace), now)
            outbox = DurableCardOutbox(
                self._key_values, sender, lease_ms=self._timing.lease_ms, pace=self._timing.pace
            )
            chats = self._make_chats(outbox)
            identity = AppIdentity(self._app.app_id, bot, self._tenant)
            receiver = Receiver(identity, self._key_values, chats, lease_ms=self._timing.lease_ms)
            outbox.start()
            await chats.start()
            receiver.start()
            try:
                await self._serve(receiver, until, webhook)
            finally:
                await receiver.stop()
                await chats.close()
                await outbox.stop()
        finally:
            await api.close()

    async def _serve(self, receiver: Receiver, until: asyncio.Event, webhook: WebhookOptions | None) -> None:
        if webhook is not None:
            server = Webhook(webhook.secrets, receiver.receive)
            await server.serve(webhook.listening, until.wait(), lambda: self._on_connected(True))
            return
        connection = LongConnection(self._app, receiver.receive_or_ignore, self._on_connected, self._timing.pace)
        connection.start()
        try:
            await until.wait()
        finally:
            await connection.stop()
