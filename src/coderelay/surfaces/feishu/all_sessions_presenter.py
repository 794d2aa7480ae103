"""Shows what happens in the sessions: those that are in a chat as its cards, of the others the asks.

One feed of all sessions says where something happens. A session that is in a chat is then followed by a task of its
own until it is at rest.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import aclosing, suppress

from coderelay.client.client import Client
from coderelay.client.i18n import speaking
from coderelay.protocol.errors import CoderError, UnknownSession
from coderelay.protocol.events import Recorded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ListChildren, ListSessions, ShowSession
from coderelay.protocol.wall_clock import now
from coderelay.surfaces.feishu.account_links import Links
from coderelay.surfaces.feishu.ask_card_publisher import AskCardPublisher
from coderelay.surfaces.feishu.card_layout import CardSchema
from coderelay.surfaces.feishu.card_outbox_interface import CardOutbox
from coderelay.surfaces.feishu.chat_records import LINKS, ChatRecords
from coderelay.surfaces.feishu.mirrored_asks import MirroredAsks
from coderelay.surfaces.feishu.session_card_updater import SessionCardUpdater

log = logging.getLogger(__name__)

_AGAIN_SECONDS = 1.0
_LONGEST_PAUSE = 60.0
_LOOK_SECONDS = 1.0
_FORGET_SECONDS = 3600.0
_ALL = 1_000_000


class AllSessionsPresenter:
    """`client` speaks the language of the cards."""

    def __init__(
        self,
        client: Client,
        records: ChatRecords,
        links: Links,
        outbox: CardOutbox,
        cards: AskCardPublisher,
        host_person: str,
        schema: CardSchema,
    ) -> None:
        self._client = client
        self._records = records
        self._links = links
        self._outbox = outbox
        self._cards = cards
        self._host_person = host_person
        self._schema: CardSchema = schema
        self._mirror = MirroredAsks(client, records, links, cards, host_person)
        self._cursors: dict[SessionId, int] = {}
        self._group: asyncio.TaskGroup | None = None  # while this bot presents
        self._running: set[SessionId] = set()
        self._woken: set[SessionId] = set()  # while they are in `_running`

    async def present(self) -> None:
        """Show what happened while no bot ran, and follow what happens from now on, until cancelled."""
        with speaking(self._client.language):
            summaries = await self._client.get(ListSessions(limit=_ALL))
            await self._learn_cursors(summaries)
            try:
                async with asyncio.TaskGroup() as group:
                    self._group = group
                    group.create_task(self._follow())
                    await self._catch_up(summaries)
                    group.create_task(self._reconcile())
                    group.create_task(self._look_for_wanted())
                    group.create_task(self._forget_old())
            finally:
                self._group = None
                self._running.clear()

    def wake(self, session: SessionId) -> None:
        """Something happened in a session, or is about to; if it is in a chat, that is shown."""
        if self._group is None:
            return
        if session in self._running:
            self._woken.add(session)
            return
        self._running.add(session)
        running = self._run(session)
        try:
            self._group.create_task(running)
        except RuntimeError:  # this bot is about to present no longer, and whoever does so next catches up
            running.close()

    async def _catch_up(self, summaries: Iterable[Summary]) -> None:
        """Show the sessions of chats in which something happened while nobody showed it."""
        by_id = {each.id: each for each in summaries}
        for session, place in (await self._records.places()).items():
            summary = by_id.get(session)
            if summary is None:
                await self._forget(session)
            elif summary.turn_open or summary.queued or summary.head > place.cursor:
                self.wake(session)

    async def _forget(self, session: SessionId) -> None:
        try:
            await self._client.get(ShowSession(session))  # it may have been created since
        except UnknownSession:
            await self._records.remove_place(session)

    async def _run(self, session: SessionId) -> None:
        """Show a session until it is at rest. Whatever breaks off, the next attempt goes on after what was shown."""
        pause = _AGAIN_SECONDS
        while True:
            self._woken.discard(session)
            try:
                await self._show(session)
            except UnknownSession:
                pass
            except Exception:
                log.exception("the session %s could not be shown", session)
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            if session not in self._woken:
                self._running.discard(session)
                return

    async def _show(self, session: SessionId) -> None:
        shown = SessionCardUpdater(self._client, session, self._records, self._outbox, self._cards, self._schema)
        place = await self._records.place(session)
        if place is not None:
            is_owner = self._host_person in await self._links.people(place.owner)
            await shown.run(is_owners=is_owner and place.kind == "p2p")

    async def _reconcile(self) -> None:
        with speaking(self._client.language):  # whoever wanted it may speak another
            try:
                await self._mirror.reconcile()
            except Exception:
                log.exception("open asks could not be shown")

    async def _look_for_wanted(self) -> None:
        """Another bot may have brought a session into a chat, or have linked one."""
        while True:
            try:
                for name in await self._records.take_presentation_requests():
                    if name == LINKS:
                        await self._reconcile()
                    else:
                        self.wake(SessionId(name))
            except CoderError:
                log.exception("it could not be found out what is to be shown")
            await asyncio.sleep(_LOOK_SECONDS)

    async def _forget_old(self) -> None:
        while True:
            try:
                await self._records.forget_old(now())
            except CoderError:
                log.exception("old records of chats could not be erased")
            await asyncio.sleep(_FORGET_SECONDS)

    async def _follow(self) -> None:
        while True:
            try:
                async with aclosing(self._client.follow_all(self._cursors)) as events:
                    async for session, each in events:
                        if isinstance(each, Recorded):
                            await self._take(each)
                            self._cursors[session] = each.seq
            except CoderError:
                log.exception("the feed of all sessions broke off")
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _take(self, recorded: Recorded) -> None:
        """Raises a CoderError if the log or the key-value store cannot be used now; then the event comes again."""
        try:
            await self._mirror.close(recorded)
            if recorded.session in self._running:
                self._woken.add(recorded.session)
            elif await self._records.place(recorded.session) is not None:
                self.wake(recorded.session)
            else:
                await self._mirror.open(recorded)
        except CoderError:
            raise
        except Exception:
            log.exception("an event of the session %s cannot be shown", recorded.session)

    async def _learn_cursors(self, summaries: Iterable[Summary]) -> None:
        self._cursors = {}
        for each in summaries:
            self._cursors[each.id] = each.head
            if each.turn_open and each.children:
                with suppress(UnknownSession):
                    for child in await self._client.get(ListChildren(each.id)):
                        self._cursors[child.id] = child.head
