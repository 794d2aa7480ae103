"""The door: a Client on the log, in this process."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any, overload

from coderelay.agents.agent import Agent
from coderelay.host.ability import why_not
from coderelay.host.commands import carry_out
from coderelay.host.exchange import Exchange
from coderelay.host.feed import Feed
from coderelay.host.ownership import Ownership
from coderelay.host.record import Record
from coderelay.host.snapshots import export_state, write_snapshot
from coderelay.host.wakeups import Wakeups
from coderelay.host.worker import Worker
from coderelay.protocol.commands import Command, Outcome
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.events import Recorded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.live import Live, Notice
from coderelay.protocol.queries import ExportSession, ListSessions, Query, ReadMessages, ShowSession, WhyNotRun
from coderelay.protocol.summary import MessageRow, Summary
from coderelay.session.state import State
from coderelay.store.store import Store

MAX_STEPS = 128


class Host:
    def __init__(
        self,
        store: Store,
        ownership: Ownership,
        exchange: Exchange,
        agents: Mapping[str, Agent],
        *,
        max_steps: int = MAX_STEPS,
    ) -> None:
        self.store = store
        self._ownership = ownership
        self._agents = agents
        self._max_steps = max_steps
        self._records: dict[SessionId, Record] = {}
        self._wakeups = Wakeups(store, ownership, exchange, self._worker)

    async def send(self, command: Command) -> Outcome:
        record = await self.record(command.session)
        outcome = await carry_out(record, command)
        self._wakeups.wake(record)
        return outcome

    @overload
    async def get(self, query: ListSessions) -> list[Summary]: ...
    @overload
    async def get(self, query: ShowSession) -> Summary: ...
    @overload
    async def get(self, query: ReadMessages) -> list[MessageRow]: ...
    @overload
    async def get(self, query: ExportSession) -> dict[str, Any]: ...
    @overload
    async def get(self, query: WhyNotRun) -> str | None: ...
    async def get(self, query: Query) -> list[Summary] | Summary | list[MessageRow] | dict[str, Any] | str | None:
        match query:
            case ListSessions():
                return await self.store.sessions(cwd=query.cwd, limit=query.limit)
            case ShowSession():
                return await self._summary(query.session)
            case ReadMessages():
                await self._summary(query.session)
                return await self.store.messages(query.session)
            case ExportSession():
                await self._summary(query.session)
                record = await self.record(query.session)
                return export_state(record.state, self._agents)
            case WhyNotRun():
                await self._summary(query.session)
                record = await self.record(query.session)
                return why_not(record.state, self._agents)

    async def follow(self, session: SessionId, after: int = 0) -> AsyncGenerator[Recorded | Live, None]:
        record = await self.record(session)
        if record.state.head == 0:
            raise UnknownSession(session)
        self._wakeups.attend(record)
        async for event in Feed(record, after).events():
            yield event

    async def record(self, session: SessionId) -> Record:
        """The session as it stands now."""
        record = self._records.get(session)
        if record is None:
            record = self._records[session] = Record(session, self.store)
        await record.sync()
        return record

    async def close(self) -> None:
        await self._wakeups.close()
        for agent in self._agents.values():
            await agent.close()
        await self._ownership.close()
        await self.store.close()

    def _worker(self, record: Record) -> Worker:
        return Worker(record, self._ownership, self._agents, self._export, self._max_steps)

    def _export(self, state: State) -> None:
        problem = write_snapshot(state, self._agents)
        if problem is not None:
            self._records[state.session].show(Notice(problem))

    async def _summary(self, session: SessionId) -> Summary:
        found = await self.store.session(session)
        if found is None:
            raise UnknownSession(session)
        return found
