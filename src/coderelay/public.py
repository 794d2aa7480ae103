"""The Python API that `coderelay.connect()` returns: start sessions, follow them and answer their asks from a script.

    async with connect() as coder:                     with connect() as coder:
        session = await coder.start("fix the tests")       session = coder.start("fix the tests")
        print((await coder.wait(session)).text)            print(coder.wait(session).text)

Every terminal on this machine sees the same session, and the session goes on without the script.
"""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar

from coderelay.app import App
from coderelay.client.ask_view import parse_answer
from coderelay.client.client import Capabilities, Client, Lent
from coderelay.client.follow_with_subagents import follow_family
from coderelay.config.detect.model_detection import detect
from coderelay.config.detect.other_agents_and_their_settings import import_variables
from coderelay.config.loaded_config import load
from coderelay.host.host import Host
from coderelay.protocol.asks import By, Decision
from coderelay.protocol.commands import (
    AnswerAsk,
    Command,
    CreateSession,
    DeleteSession,
    OpenSession,
    Outcome,
    SendPrompt,
    StopTurn,
)
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.events import Recorded, SessionDeleted, TurnEnded
from coderelay.protocol.ids import PromptId, SessionId, new_id
from coderelay.protocol.key_value_store import KeyValueStore
from coderelay.protocol.live_updates import Live
from coderelay.protocol.projected_rows import AskRow, Summary
from coderelay.protocol.queries import ListAsks, ListSessions, Query, ShowSession, Value
from coderelay.protocol.session_setting_values import Mode

T = TypeVar("T")


class ConnectedClient:
    """A Client that works only while its connection is open. Leaving the connection cancels the calls in progress. A
    task that makes a call after that is cancelled too, except the task that left the connection: its call raises
    StoreFailed."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._under_way: set[asyncio.Task[Any]] = set()
        self._last_ended = asyncio.Event()
        self._left_by: asyncio.Task[Any] | None = None

    @property
    def capabilities(self) -> Capabilities:
        return self._host.capabilities

    @property
    def language(self) -> str:
        return self._host.language

    async def send(self, command: Command) -> Outcome:
        async with self._call():
            return await self._host.send(command)

    async def get(self, query: Query[Value]) -> Value:
        async with self._call():
            return await self._host.get(query)

    async def follow(self, session: SessionId, after: int = 0) -> AsyncGenerator[Recorded | Live, None]:
        async with aclosing(self._host.follow(session, after)) as feed:
            while True:
                async with self._call():
                    each = await anext(feed, None)
                if each is None:
                    return
                yield each

    async def follow_all(
        self, after: Mapping[SessionId, int] | None = None
    ) -> AsyncGenerator[tuple[SessionId, Recorded | Live], None]:
        async with aclosing(self._host.follow_all(after)) as feed:
            while True:
                async with self._call():
                    each = await anext(feed, None)
                if each is None:
                    return
                yield each

    def lend(self, session: SessionId, lent: Lent) -> Callable[[], None]:
        return self._host.lend(session, lent)

    def key_value_store(self, name: str) -> KeyValueStore:
        return self._host.key_value_store(name)

    async def leave(self) -> None:
        """Cancel all calls in progress, and return when none is left."""
        self._left_by = asyncio.current_task()
        for task in self._under_way:
            task.cancel()
        if self._under_way:
            self._last_ended.clear()
            await self._last_ended.wait()

    @asynccontextmanager
    async def _call(self) -> AsyncGenerator[None, None]:
        task = asyncio.current_task()
        assert task is not None
        if self._left_by not in (None, task):
            task.cancel()
            await asyncio.sleep(0)  # the cancellation is delivered here
        self._under_way.add(task)
        try:
            yield
        finally:
            self._under_way.discard(task)
            if not self._under_way:
                self._last_ended.set()


class Coder:
    """The asynchronous public API. `client` gives access to the full Client contract behind it."""

    def __init__(self, client: Client, app: App, who: str) -> None:
        self.client = client
        self._app = app
        self._by = By(who=who, via="script")

    async def start(
        self,
        prompt: str,
        *,
        cwd: str = ".",
        mode: Mode = "default",
        model: str | None = None,
        allowed_tools: Sequence[str] = (),
    ) -> SessionId:
        """Create a session and send its first prompt. Returns as soon as both are on disk."""
        found = await detect(self._app.config, os.environ, flag=model)
        session = SessionId(new_id())
        await self.client.send(
            CreateSession(
                session=session,
                cwd=os.path.realpath(cwd),
                model=found.model,
                agent=found.agent,
                mode=mode,
                allowed_tools=tuple(allowed_tools),
                by=self._by,
            )
        )
        await self.prompt(session, prompt)
        return session

    async def prompt(self, session: SessionId, text: str) -> Outcome:
        """Queue a prompt. If a crash interrupted a turn, that turn is resumed first."""
        prompt_id = PromptId(new_id())
        return await self.client.send(SendPrompt(session=session, prompt_id=prompt_id, text=text, by=self._by))

    async def open(self, session: SessionId) -> None:
        """Resume a turn that a crash interrupted, if this process can run the session."""
        await self.client.send(OpenSession(session=session, by=self._by))

    async def wait(self, session: SessionId) -> TurnEnded:
        """Wait until no turn is running or queued, and return the end of the last turn. An open ask keeps this
        waiting."""
        last: TurnEnded | None = None
        async with aclosing(self.follow(session)) as feed:
            async for each in feed:
                if not isinstance(each, Recorded):
                    continue
                if isinstance(each.event, TurnEnded):
                    last = each.event
                if isinstance(each.event, SessionDeleted):
                    break
                if last is not None and await self._rests_at(session, each.seq):
                    return last
        raise UnknownSession(session)

    async def _rests_at(self, session: SessionId, seq: int) -> bool:
        summary = await self.session(session)
        return summary.head <= seq and not summary.turn_open and not summary.queued

    def follow(self, session: SessionId, after: int = 0) -> AsyncGenerator[Recorded | Live, None]:
        return self.client.follow(session, after)

    def follow_all(
        self, after: Mapping[SessionId, int] | None = None
    ) -> AsyncGenerator[tuple[SessionId, Recorded | Live], None]:
        """Follow all sessions, also those that other processes start later. Sessions in `after` are replayed from
        that event on, others are followed from now on."""
        return self.client.follow_all(after)

    async def sessions(self, *, cwd: str | None = None, limit: int = 100) -> list[Summary]:
        return await self.client.get(ListSessions(None if cwd is None else os.path.realpath(cwd), limit))

    async def session(self, session: SessionId) -> Summary:
        return await self.client.get(ShowSession(session))

    async def asks(self, session: SessionId | None = None) -> list[AskRow]:
        """List the open asks of all sessions, or of one session and its children."""
        return await self.client.get(ListAsks(session))

    async def next_ask(self, session: SessionId) -> AskRow | None:
        """Wait for the next open ask of the session or of one of its children. Returns None when the session is idle
        and has no open ask."""
        async with aclosing(follow_family(self.client, session, 0)) as feed:
            async for each in feed:
                if not isinstance(each, Recorded):
                    continue
                if asks := await self.asks(session):
                    return asks[0]
                if each.session == session and await self._rests_at(session, each.seq):
                    return None
        raise UnknownSession(session)

    async def answer(self, ask: AskRow, answer: str | Decision) -> Outcome:
        """Answer an ask with a Decision, or with the words that `coder answer` accepts. If the ask was already
        answered elsewhere, the result is an Answered that says by whom."""
        decision = parse_answer(ask.ask, [answer]) if isinstance(answer, str) else answer
        return await self.client.send(AnswerAsk(session=ask.session, ask=ask.ask.id, decision=decision, by=self._by))

    async def stop(self, session: SessionId) -> Outcome:
        return await self.client.send(StopTurn(session=session, by=self._by))

    async def delete(self, session: SessionId) -> Outcome:
        return await self.client.send(DeleteSession(session=session, by=self._by))


class SyncCoder:
    """The blocking public API, for scripts without an event loop. A background thread runs the event loop and the
    sessions."""

    def __init__(self, coder: Coder, loop: asyncio.AbstractEventLoop) -> None:
        self._coder = coder
        self._loop = loop

    def start(
        self,
        prompt: str,
        *,
        cwd: str = ".",
        mode: Mode = "default",
        model: str | None = None,
        allowed_tools: Sequence[str] = (),
    ) -> SessionId:
        return self._do(self._coder.start(prompt, cwd=cwd, mode=mode, model=model, allowed_tools=allowed_tools))

    def prompt(self, session: SessionId, text: str) -> Outcome:
        return self._do(self._coder.prompt(session, text))

    def open(self, session: SessionId) -> None:
        self._do(self._coder.open(session))

    def wait(self, session: SessionId) -> TurnEnded:
        return self._do(self._coder.wait(session))

    def follow(self, session: SessionId, after: int = 0) -> Generator[Recorded | Live]:
        feed = self._coder.follow(session, after)
        try:
            while (each := self._do(anext(feed, None))) is not None:
                yield each
        finally:
            self._do(feed.aclose())

    def follow_all(
        self, after: Mapping[SessionId, int] | None = None
    ) -> Generator[tuple[SessionId, Recorded | Live]]:
        feed = self._coder.follow_all(after)
        try:
            while (each := self._do(anext(feed, None))) is not None:
                yield each
        finally:
            self._do(feed.aclose())

    def sessions(self, *, cwd: str | None = None, limit: int = 100) -> list[Summary]:
        return self._do(self._coder.sessions(cwd=cwd, limit=limit))

    def session(self, session: SessionId) -> Summary:
        return self._do(self._coder.session(session))

    def asks(self, session: SessionId | None = None) -> list[AskRow]:
        return self._do(self._coder.asks(session))

    def next_ask(self, session: SessionId) -> AskRow | None:
        return self._do(self._coder.next_ask(session))

    def answer(self, ask: AskRow, answer: str | Decision) -> Outcome:
        return self._do(self._coder.answer(ask, answer))

    def stop(self, session: SessionId) -> Outcome:
        return self._do(self._coder.stop(session))

    def delete(self, session: SessionId) -> Outcome:
        return self._do(self._coder.delete(session))

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class Connection:
    """The context manager that `connect()` returns: `async with` gives a Coder, `with` gives a SyncCoder."""

    def __init__(self, who: str) -> None:
        self._who = who
        self._app = App(load(os.environ), import_variables(os.environ).added_to(os.environ))
        self._host: Host | None = None
        self._client: ConnectedClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    async def __aenter__(self) -> Coder:
        self._host = await self._app.open_patiently()
        self._client = ConnectedClient(self._host)
        return Coder(self._client, self._app, self._who)

    async def __aexit__(self, *_: object) -> None:
        assert self._host is not None
        assert self._client is not None
        await self._client.leave()
        await self._app.close(self._host)

    def __enter__(self) -> SyncCoder:
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=loop.run_forever, name="coderelay", daemon=True)
        self._thread.start()
        coder = asyncio.run_coroutine_threadsafe(self.__aenter__(), loop).result()
        return SyncCoder(coder, loop)

    def __exit__(self, *_: object) -> None:
        loop, thread = self._loop, self._thread
        assert loop is not None
        assert thread is not None
        asyncio.run_coroutine_threadsafe(self._leave(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    async def _leave(self) -> None:
        await self.__aexit__()
        await asyncio.get_running_loop().shutdown_default_executor()
