"""The framework of the agents' conformance checks: the registry `CHECKS`, the agent under test, and `run`."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing

from msgspec import Struct

from coderelay.client.client import Client
from coderelay.protocol.asks import Ask, By, Decision
from coderelay.protocol.commands import AnswerAsk, CreateSession, OpenSession, SendPrompt, StopTurn
from coderelay.protocol.events import AnyEvent, Recorded, TurnEnded, asks_in
from coderelay.protocol.ids import PromptId, SessionId, new_id
from coderelay.protocol.projected_rows import MessageRow
from coderelay.protocol.queries import ReadMessages

BY = By(who="suite", via="test")

OpenProcess = Callable[[], AbstractAsyncContextManager[Client]]


class Subject(Struct, frozen=True):
    """The agent under test, and the prompts that make it do something."""

    agent: str
    open_process: OpenProcess
    folder: str
    speaks: str
    writes: str
    model: str = "scripted"

    def has_written(self) -> bool:
        return os.path.exists(os.path.join(self.folder, "made"))


class Process:
    """One session as one process sees it."""

    def __init__(self, client: Client, subject: Subject, session: SessionId) -> None:
        self._client = client
        self._subject = subject
        self.session = session

    async def prompt(self, text: str) -> None:
        command = CreateSession(
            session=self.session,
            cwd=self._subject.folder,
            agent=self._subject.agent,
            model=self._subject.model,
            mode="default",
            by=BY,
        )
        await self._client.send(command)
        await self._client.send(SendPrompt(session=self.session, prompt_id=PromptId(new_id()), text=text, by=BY))

    async def open(self) -> None:
        await self._client.send(OpenSession(session=self.session, by=BY))

    async def answer(self, ask: Ask, decision: Decision) -> None:
        await self._client.send(AnswerAsk(session=self.session, ask=ask.id, decision=decision, by=BY))

    async def stop(self) -> None:
        await self._client.send(StopTurn(session=self.session, by=BY))

    async def asked(self) -> Ask:
        """Wait for the first ask."""
        (*_, last) = await self._until(lambda event: bool(asks_in(event)))
        return asks_in(last.event)[0]

    async def ended(self) -> list[Recorded]:
        """Wait for the end of the turn. The whole log."""
        return await self._until(lambda event: isinstance(event, TurnEnded))

    async def messages(self) -> list[MessageRow]:
        return (await self._client.get(ReadMessages(self.session))).rows

    async def _until(self, wanted: Callable[[AnyEvent], bool]) -> list[Recorded]:
        seen: list[Recorded] = []
        async with aclosing(self._client.follow(self.session, 0)) as feed:
            async for each in feed:
                if isinstance(each, Recorded):
                    seen.append(each)
                    if wanted(each.event):
                        return seen
        raise AssertionError("session deleted")


Check = Callable[[Subject], Awaitable[None]]
CHECKS: list[Check] = []


def check(of: Check) -> Check:
    CHECKS.append(of)
    return of


def name(of: Check) -> str:
    return of.__name__


def run(of: Check, subject: Subject) -> None:
    async def whole() -> None:
        await of(subject)

    asyncio.run(whole())
