"""All chats of a bot: takes what comes from the platform, and shows what happens in the sessions.

One feed of all sessions says where something happens. A session that is in a chat is then followed by a task of its
own until it is at rest; of the others, only asks are shown, to people who have linked a chat.
"""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import aclosing, suppress
from typing import Any

from coderelay.client.client import Client
from coderelay.client.language import speaking
from coderelay.protocol.errors import CoderError, UnknownSession
from coderelay.protocol.events import Recorded
from coderelay.protocol.ids import PromptId, SessionId
from coderelay.protocol.notebook import Notebook
from coderelay.protocol.queries import ListChildren, ListSessions, ShowSession
from coderelay.surfaces.feishu.ask_cards import AskCards
from coderelay.surfaces.feishu.chat import Chat
from coderelay.surfaces.feishu.chat_commands import ChatCommands
from coderelay.surfaces.feishu.chat_options import ChatOptions
from coderelay.surfaces.feishu.chat_records import ChatRecords
from coderelay.surfaces.feishu.chat_session import ChatSession
from coderelay.surfaces.feishu.clicks import Clicks
from coderelay.surfaces.feishu.incoming import CardClick, ChatMessage, ClickAnswer
from coderelay.surfaces.feishu.links import Links
from coderelay.surfaces.feishu.mirrored_asks import MirroredAsks
from coderelay.surfaces.feishu.outbox import Outbox

log = logging.getLogger(__name__)

_AGAIN_SECONDS = 1.0
_ALL = 1_000_000


class ChatHub:
    """`client` speaks the language of the cards."""

    def __init__(self, client: Client, notebook: Notebook, outbox: Outbox, options: ChatOptions, now: int) -> None:
        self._client = client
        self._outbox = outbox
        self._options = options
        self._now = now
        self._records = ChatRecords(notebook)
        self._links = Links(notebook)
        self._cards = AskCards(self._records, outbox, options.schema, options.web_url)
        self._replies: dict[PromptId, str] = {}
        self._chat = Chat(client, self._records, self._links, outbox, options, self, ChatCommands(), self._replies)
        self._clicks = Clicks(client, self._records, outbox, self._cards, self._chat)
        self._mirror = MirroredAsks(client, self._records, self._links, self._cards, options.host_person)
        self._cursors: dict[SessionId, int] = {}
        self._running: dict[SessionId, asyncio.Task[None]] = {}
        self._woken: set[SessionId] = set()  # while their task ran
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Show what happened while no bot ran, and follow what happens from now on."""
        await self._records.forget_old(self._now)
        await self._learn_cursors()
        self._spawn(self._follow())
        for session, place in (await self._records.places()).items():
            with suppress(UnknownSession):
                summary = await self._client.get(ShowSession(session))
                if summary.turn_open or summary.queued or summary.head > place.cursor:
                    self.wake(session)
        self.relinked()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def message(self, message: ChatMessage) -> None:
        await self._chat.message(message)

    async def click(self, click: CardClick) -> ClickAnswer:
        return await self._clicks.click(click)

    def wake(self, session: SessionId) -> None:
        """Something happened in a session, or is about to; if it is in a chat, that is shown."""
        if session in self._running:
            self._woken.add(session)
            return
        self._running[session] = self._spawn(self._run(session))

    def relinked(self) -> None:
        """Who has linked a chat has changed, so other asks may have to be shown."""
        self._spawn(self._reconcile())

    async def _run(self, session: SessionId) -> None:
        try:
            while True:
                self._woken.discard(session)
                await self._show(session)
                if session not in self._woken:
                    return
        finally:
            del self._running[session]

    async def _show(self, session: SessionId) -> None:
        """Until the session is at rest. Whatever breaks off, the next attempt goes on after what was shown."""
        shown = ChatSession(
            self._client, session, self._records, self._outbox, self._cards, self._options.schema, self._replies
        )
        try:
            place = await self._records.place(session)
            if place is not None:
                await shown.run(is_owners=await self._chat.is_host_owner(place.owner) and place.kind == "p2p")
        except UnknownSession:
            return
        except Exception:
            log.exception("the session %s could not be shown", session)
            self._woken.add(session)
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _reconcile(self) -> None:
        with speaking(self._client.language):
            try:
                await self._mirror.reconcile()
            except CoderError:
                log.exception("open asks could not be shown")

    async def _follow(self) -> None:
        with speaking(self._client.language):
            while True:
                try:
                    async with aclosing(self._client.follow_all(self._cursors)) as events:
                        async for session, each in events:
                            if isinstance(each, Recorded):
                                await self._take(each)
                                self._cursors[session] = each.seq
                except Exception:
                    log.exception("the feed of all sessions broke off")
                await asyncio.sleep(_AGAIN_SECONDS)

    async def _take(self, recorded: Recorded) -> None:
        if await self._records.place(recorded.session) is not None:
            self.wake(recorded.session)
            return
        await self._mirror.take(recorded)

    async def _learn_cursors(self) -> None:
        for each in await self._client.get(ListSessions(limit=_ALL)):
            self._cursors[each.id] = each.head
            if each.turn_open and each.children:
                with suppress(UnknownSession):
                    for child in await self._client.get(ListChildren(each.id)):
                        self._cursors[child.id] = child.head

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
