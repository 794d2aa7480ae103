"""The platform side of bots in this process, with the real client of the platform, in front of a fake platform."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.errors import StoreFailed
from coderelay.protocol.key_value_store import Change, KeyValueStore
from coderelay.store.postgres.store import PostgresStore
from coderelay.store.sqlite.store import SqliteStore
from coderelay.surfaces.feishu.bot import Bot, BotTiming, WebhookOptions
from coderelay.surfaces.feishu.card_outbox_interface import CardOutbox
from coderelay.surfaces.feishu.incoming_event_types import CardClick, ChatMessage, ClickAnswer, Incoming
from coderelay.surfaces.feishu.lark_api import AppCredentials
from coderelay.surfaces.feishu.webhook import WebhookSecrets, listen
from coderelay.testing.feishu_server import FakeFeishu
from tests.patience import PATIENCE

T = TypeVar("T")
QUICK = BotTiming(lease_ms=1000, pace=0.1)


class RecordingChats:
    """Takes what comes. `answer` is what a click gets; `gate` keeps whatever is being carried out waiting."""

    def __init__(self) -> None:
        self.taken: list[Incoming] = []
        self.answer = ClickAnswer("success", "done")
        self.gate = asyncio.Event()
        self.gate.set()
        self.fails: Exception | None = None
        self._changed = asyncio.Condition()

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def message(self, message: ChatMessage) -> None:
        await self._take(message)

    async def click(self, click: CardClick) -> ClickAnswer:
        await self._take(click)
        return self.answer

    async def _take(self, incoming: Incoming) -> None:
        if self.fails is not None:
            raise self.fails
        async with self._changed:
            self.taken.append(incoming)
            self._changed.notify_all()
        await self.gate.wait()

    async def until(self, count: int) -> list[Incoming]:
        async with asyncio.timeout(PATIENCE), self._changed:
            await self._changed.wait_for(lambda: len(self.taken) >= count)
            return self.taken

    @property
    def texts(self) -> list[str]:
        return [each.text for each in self.taken if isinstance(each, ChatMessage)]


class FailingKeyValues:
    """A KeyValueStore. The next write with a change of that kind fails, as if the database were away for a moment."""

    def __init__(self, key_values: KeyValueStore) -> None:
        self._key_values = key_values
        self.read, self.list, self.erase = key_values.read, key_values.list, key_values.erase
        self.fails_at: Callable[[Change], bool] | None = None

    async def write(self, *changes: Change) -> int:
        if self.fails_at is not None and any(map(self.fails_at, changes)):
            self.fails_at = None
            raise StoreFailed("the database is away")
        return await self._key_values.write(*changes)


class PlatformBot:
    def __init__(self, outbox: CardOutbox, chats: RecordingChats, key_values: FailingKeyValues) -> None:
        self.outbox = outbox
        self.chats = chats
        self.key_values = key_values
        self.connected: list[bool] = []
        self.port = 0


@asynccontextmanager
async def key_values_in(folder: Path, name: str = "feishu:test", database: str = "") -> AsyncGenerator[KeyValueStore]:
    """In the file of the folder, or in the PostgreSQL database at that address."""
    rows = SessionRows()
    store = PostgresStore(database, rows) if database else SqliteStore(str(folder / "sessions.db"), rows)
    try:
        yield store.key_value_store(name)
    finally:
        await store.close()


@asynccontextmanager
async def platform_bot(
    feishu: FakeFeishu,
    folder: Path,
    *,
    webhook: bool = False,
    timing: BotTiming = QUICK,
    tenant: str = "",
    wait: bool = True,
    name: str = "feishu:test",
    database: str = "",
) -> AsyncGenerator[PlatformBot]:
    async with key_values_in(folder, name, database) as real:
        key_values = FailingKeyValues(real)
        made: list[PlatformBot] = []
        told: list[bool] = []
        ready, stop = asyncio.Event(), asyncio.Event()

        def make(outbox: CardOutbox) -> RecordingChats:
            chats = RecordingChats()
            made.append(PlatformBot(outbox, chats, key_values))
            made[0].connected = told
            return chats

        def tell(is_connected: bool) -> None:
            told.append(is_connected)
            ready.set()

        app = AppCredentials(feishu.app_id, feishu.app_secret, feishu.url)
        options = None
        if webhook:
            options = WebhookOptions(
                listen("127.0.0.1", 0), WebhookSecrets(feishu.encrypt_key, feishu.verification_token)
            )
            feishu.webhook = f"http://127.0.0.1:{options.listening.getsockname()[1]}/"
        running = asyncio.create_task(Bot(app, tenant, key_values, make, tell, timing).run(stop, options))
        try:
            waiting = asyncio.create_task(ready.wait())
            if wait:
                await asyncio.wait([running, waiting], return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE)
            waiting.cancel()
            if running.done():
                await running
            yield made[0]
        finally:
            stop.set()
            await asyncio.gather(running, return_exceptions=True)


async def aside(work: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """What the fake platform does blocks, so it is done in a thread."""
    return await asyncio.to_thread(work, *arguments, **named)


async def settled(bot: PlatformBot, left: str = "unsent/") -> None:
    """Wait until nothing is left to be sent (`todo/`: to be carried out), which is on disk only."""
    async with asyncio.timeout(PATIENCE):
        while await bot.key_values.list(left):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
