"""Sessions that have something to do while nobody does it, and why: clients show that a session waits for a host."""

import time
from collections.abc import Iterable

from coderelay.client.client import Client
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import ShowHost, WhyWaiting

WATCH_SECONDS = 3.0


class SessionsWaitingForHost:
    """`heard_of` says that a session does something. Only the owners of sessions that have been silent for a while
    are looked at."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._reasons: dict[SessionId, str] = {}
        self._heard: dict[SessionId, float] = {}

    def reason(self, session: SessionId) -> str | None:
        """Why the session waits, as far as it is known."""
        return self._reasons.get(session)

    def heard_of(self, session: SessionId) -> None:
        self._heard[session] = time.monotonic()

    def forget(self, session: SessionId) -> None:
        self._heard.pop(session, None)
        self._reasons.pop(session, None)

    async def look(self, session: SessionId) -> str | None:
        """Find out now why the session waits; None if somebody works on it."""
        is_run = (await self._client.get(ShowHost(session))).owner != "nobody"
        reason = None if is_run else await self._client.get(WhyWaiting(session))
        if reason is None:
            self._reasons.pop(session, None)
        else:
            self._reasons[session] = reason
        return reason

    async def changes(self, busy: Iterable[SessionId]) -> list[tuple[SessionId, str | None]]:
        """The sessions that wait now and did not before, or for another reason, and those that do not any more."""
        now = time.monotonic()
        silent = [each for each in busy if now - self._heard.get(each, 0.0) >= WATCH_SECONDS]
        changed: list[tuple[SessionId, str | None]] = []
        for session in {*silent, *self._reasons}:
            before = self._reasons.get(session)
            try:
                after = await self.look(session)
            except UnknownSession:
                self.forget(session)
                continue
            if after != before:
                changed.append((session, after))
        return changed
