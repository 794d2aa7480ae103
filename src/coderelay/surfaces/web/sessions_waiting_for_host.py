"""Sessions that have something to do while nobody does it. This process takes them up, if it can; otherwise clients
are shown why they wait for a host."""

import asyncio
import logging
import time
from collections.abc import Collection
from contextlib import suppress

from coderelay.client.client import Client
from coderelay.protocol.asks import By
from coderelay.protocol.commands import OpenSession
from coderelay.protocol.errors import CoderError, UnknownSession
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ShowHost, WhyNotRun, WhyWaiting
from coderelay.surfaces.web.client_connections import ClientConnections
from coderelay.surfaces.web.outgoing_event_json import event_text, retold

log = logging.getLogger(__name__)

_WATCH_SECONDS = 3.0


class SessionsWaitingForHost:
    """`note_activity` records that something happened in a session. Only the owners of sessions that have been silent
    for a while are looked at."""

    def __init__(self, client: Client, by: By) -> None:
        self._client = client
        self._by = by
        self._reasons: dict[SessionId, str] = {}
        self._heard: dict[SessionId, float] = {}

    def reason(self, session: SessionId) -> str | None:
        """Why the session waits, as far as it is known."""
        return self._reasons.get(session)

    def note_activity(self, session: SessionId) -> None:
        self._heard[session] = time.monotonic()

    def forget(self, session: SessionId) -> None:
        self._heard.pop(session, None)
        self._reasons.pop(session, None)

    async def take_up(self, summary: Summary) -> None:
        """A person looks at a session. If it has something to do and nobody does it, this process does, if it can."""
        if (summary.turn_open or summary.queued) and await self._look(summary.id) is not None:
            await self.run_here(summary.id)

    async def run_here(self, session: SessionId) -> None:
        """Run a session in this process, if it can be run here."""
        if await self._client.get(WhyNotRun(session)) is None:
            self.forget(session)
            with suppress(CoderError):  # it may have been deleted meanwhile
                await self._client.send(OpenSession(session=session, by=self._by))

    async def watch(self, busy: Collection[SessionId], clients: ClientConnections) -> None:
        """Tell the clients, until cancelled, which of the busy sessions wait for a host and which no longer do."""
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            if not clients:
                continue
            try:
                for session, reason in await self._changes(busy):
                    more = {} if reason is None else retold(reason)
                    clients.tell(event_text("session.waiting", {"sessionId": session, "reason": reason, **more}))
            except CoderError:
                log.exception("it is not known which sessions wait for a host")

    async def _look(self, session: SessionId) -> str | None:
        """Find out now why the session waits; None if somebody works on it."""
        is_run = (await self._client.get(ShowHost(session))).owner != "nobody"
        reason = None if is_run else await self._client.get(WhyWaiting(session))
        if reason is None:
            self._reasons.pop(session, None)
        else:
            self._reasons[session] = reason
        return reason

    async def _changes(self, busy: Collection[SessionId]) -> list[tuple[SessionId, str | None]]:
        """The sessions that wait now and did not before, or for another reason, and those that do not any more."""
        now = time.monotonic()
        silent = [each for each in busy if now - self._heard.get(each, 0.0) >= _WATCH_SECONDS]
        changed: list[tuple[SessionId, str | None]] = []
        for session in {*silent, *self._reasons}:
            before = self._reasons.get(session)
            try:
                after = await self._look(session)
            except UnknownSession:
                self.forget(session)
                continue
            if after != before:
                changed.append((session, after))
        return changed
