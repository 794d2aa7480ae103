"""A whole product in this process, on a real log and a scripted model: for stories about sessions.

    async with house(tmp_path, script(proposes(bash("make")), says("built"))) as coder:
        await coder.prompt("build it")
        assert await coder.story() == ["user: build it", "bash: ok", "agent: built"]

Two houses on one folder stand for two processes.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from coderelay.app import App
from coderelay.config.loaded_config import load
from coderelay.host.host import Host
from coderelay.protocol.asks import Allow, Ask, By, Decision, PermissionAsk
from coderelay.protocol.calls import Failed, Finished
from coderelay.protocol.commands import (
    AnswerAsk,
    CreateSession,
    DeleteSession,
    OpenSession,
    Outcome,
    SendPrompt,
    StopTurn,
)
from coderelay.protocol.events import (
    AnyEvent,
    AskOpened,
    BatchOpened,
    CallAsked,
    CallEnded,
    CallProposed,
    MessageAdded,
    Recorded,
    TurnEnded,
    TurnStarted,
)
from coderelay.protocol.ids import AskId, PromptId, SessionId, new_id
from coderelay.protocol.message_content import text_of
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.session_setting_values import Mode
from tests.model_server import ModelServer, Script, model_server

ME = By(who="tester", via="test")
log_address: str | None = None
"""Where houses keep their logs instead of in their folders: the address of a PostgreSQL database."""

P = ParamSpec("P")


def story(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an async test in a loop of its own."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


class InHouse:
    """One process's view. `session` is the one it talks about; make one with `create`."""

    def __init__(self, host: Host, server: ModelServer, folder: Path) -> None:
        self.host = host
        self.server = server
        self.folder = folder
        self.session = SessionId("")

    async def create(self, mode: Mode = "yolo", agent: str = "native") -> SessionId:
        self.session = SessionId(new_id())
        command = CreateSession(
            session=self.session, cwd=str(self.folder), agent=agent, model="openai:scripted", mode=mode, by=ME
        )
        await self.host.send(command)
        return self.session

    async def prompt(self, text: str, prompt_id: str | None = None) -> Outcome:
        if not self.session:
            await self.create()
        prompt = PromptId(prompt_id or new_id())
        return await self.host.send(SendPrompt(session=self.session, prompt_id=prompt, text=text, by=ME))

    async def open(self, session: SessionId) -> None:
        self.session = session
        await self.host.send(OpenSession(session=session, by=ME))

    async def stop(self) -> Outcome:
        return await self.host.send(StopTurn(session=self.session, by=ME))

    async def delete(self) -> Outcome:
        return await self.host.send(DeleteSession(session=self.session, by=ME))

    async def answer(self, ask: Ask | AskId, decision: Decision | None = None, by: By = ME) -> Outcome:
        ask_id = ask if isinstance(ask, str) else ask.id
        return await self.host.send(AnswerAsk(session=self.session, ask=ask_id, decision=decision or Allow(), by=by))

    async def until(self, wanted: Callable[[AnyEvent], bool], after: int = 0) -> Recorded:
        """The first event after a cursor that is wanted."""
        async with aclosing(self.host.follow(self.session, after)) as feed:
            async for each in feed:
                if isinstance(each, Recorded) and wanted(each.event):
                    return each
        raise AssertionError("the session was deleted before it came")

    async def ended(self, turns: int = 1) -> TurnEnded:
        """Wait for the end of the nth turn."""
        seen = 0

        def nth(event: AnyEvent) -> bool:
            nonlocal seen
            seen += isinstance(event, TurnEnded)
            return seen == turns

        event = (await self.until(nth)).event
        assert isinstance(event, TurnEnded)
        return event

    async def asks(self) -> list[Ask]:
        """Wait for a batch that must be asked about."""
        batch = await self.until(
            lambda event: isinstance(event, BatchOpened) and any(each.ask for each in event.judged)
        )
        assert isinstance(batch.event, BatchOpened)
        return [each.ask for each in batch.event.judged if each.ask is not None]

    async def asks_again(self) -> list[PermissionAsk]:
        """Wait for a call that finds out too late that it must ask."""
        event = (await self.until(lambda event: isinstance(event, CallAsked))).event
        assert isinstance(event, CallAsked)
        return [event.ask]

    async def plan_asks(self) -> list[Ask]:
        """Wait for a plan that is put before the person at the end of a turn."""
        event = (await self.until(lambda event: isinstance(event, AskOpened))).event
        assert isinstance(event, AskOpened)
        return [event.ask]

    async def events(self) -> list[Recorded]:
        record = await self.host.load(self.session)
        return await record.read(0)

    async def summary(self) -> Summary | None:
        found = [each for each in await self.host.store.sessions() if each.id == self.session]
        return found[0] if found else None

    async def story(self) -> list[str]:
        """What happened, a line each."""
        tools: dict[str, str] = {}
        lines: list[str] = []
        for recorded in await self.events():
            match recorded.event:
                case TurnStarted(text=text):
                    lines.append(f"user: {text}")
                case MessageAdded() as message:
                    tools.update({call.id: call.name for call in message.calls})
                    if text := text_of(message.blocks):
                        lines.append(f"{'agent' if message.author == 'model' else 'workflow'}: {text}")
                case CallProposed(call=call):
                    tools[call.id] = call.name
                case CallEnded(call_id=call_id, outcome=outcome):
                    lines.append(f"{tools[call_id]}: {_word(outcome)}")
                case TurnEnded(ending=ending) if ending != "done":
                    lines.append(f"({ending})")
                case _:
                    pass
        return lines


def _word(outcome: object) -> str:
    match outcome:
        case Finished():
            return "ok"
        case Failed(message=message):
            return f"failed: {message}"
        case _:
            return type(outcome).__name__.lower()


@asynccontextmanager
async def house(root: Path, script: Script, *, build: Callable[..., App] = App) -> AsyncGenerator[InHouse, None]:
    folder = root / "work"
    folder.mkdir(exist_ok=True, parents=True)
    async with model_server(script) as server:
        env = {
            "CODER_HOME": str(root / "home"),
            "OPENAI_API_KEY": "scripted",
            "OPENAI_BASE_URL": server.base_url,
            "CODER_RETRY_SECONDS": "0",  # a failure is told at once; a test that wants retries says so
            "PATH": "/usr/bin:/bin",
            **({} if log_address is None else {"CODER_DATABASE_URL": log_address}),
        }
        rooms = build(load(env), env)
        host = rooms.open()
        try:
            yield InHouse(host, server, folder)
        finally:
            await rooms.close(host)
        assert server.violations == []
