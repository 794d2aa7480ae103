"""Decides when a surface that does not answer asks (`coder -p`, `coder answer`) may exit."""

from contextlib import suppress

from coderelay.client.client import Client
from coderelay.client.follow_with_subagents import is_busy
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import ListAsks, ListChildren, ShowHost


class ExitDecision:
    """Decides when a surface exits that does not answer the asks of its session. Some tool calls go on while people
    are asked about other calls (those of subagents, and of agents with a loop of their own). If this process ended
    then, they would be cut off, and nobody would know how they ended."""

    def __init__(self, client: Client, session: SessionId) -> None:
        self._client = client
        self._session = session
        self._is_wanted = False

    def want(self) -> None:
        """An ask was opened that this surface does not answer."""
        self._is_wanted = True

    async def is_time(self) -> bool:
        """Whether the asks are still open and no call runs here. Must be called after every event."""
        with suppress(UnknownSession):  # it was deleted, which its last event tells
            if self._is_wanted and not await self._runs_calls():
                self._is_wanted = bool(await self._client.get(ListAsks(self._session)))
                return self._is_wanted
        return False

    async def _runs_calls(self) -> bool:
        busy = [each.id for each in await self._client.get(ListChildren(self._session)) if is_busy(each)]
        for each in (self._session, *busy):
            if (await self._client.get(ShowHost(each))).calls:
                return True
        return False
