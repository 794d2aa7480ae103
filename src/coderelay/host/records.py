"""The session records of this process, one for each session that it has read."""

from coderelay.host.deadlines import now
from coderelay.host.record import Record
from coderelay.protocol.asks import Approval
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.ids import APPROVALS, SessionId
from coderelay.protocol.summary import Summary
from coderelay.store.store import Store


class Records:
    def __init__(self, store: Store) -> None:
        self.store = store
        self._known: dict[SessionId, Record] = {}

    async def record(self, session: SessionId) -> Record:
        """The record of a session, brought up to date with the log."""
        record = self._known.get(session)
        if record is None:
            record = self._known[session] = Record(session, self.store)
        await record.sync()
        return record

    async def summary(self, session: SessionId) -> Summary:
        """Raises UnknownSession."""
        found = await self.store.session(session)
        if found is None:
            raise UnknownSession(session)
        return found

    async def approvals(self) -> list[Approval]:
        """Approvals that reach beyond one session and have not expired."""
        known = (await self.record(APPROVALS)).state.approvals.values()
        return [each for each in known if each.expires is None or each.expires > now()]
