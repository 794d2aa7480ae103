"""A client follows all sessions at once (B-09): its own, those of other processes, and those to come."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from coderelay.app import App
from coderelay.config.loaded_config import Config
from coderelay.host.host import Host
from coderelay.protocol.asks import Approval, Unanswered
from coderelay.protocol.commands import ConfigureSession, StopTurn
from coderelay.protocol.errors import StoreFailed
from coderelay.protocol.events import (
    AnyEvent,
    ApprovalGranted,
    AskParked,
    CallStarted,
    MessageAdded,
    Recorded,
    SessionCreated,
    SessionDeleted,
    TurnEnded,
)
from coderelay.protocol.ids import APPROVALS, AskId, SessionId
from coderelay.protocol.live_updates import Live, OutputDelta, TextDelta
from tests.host.test_asks import COLOUR, late
from tests.house import ME, InHouse, house, story
from tests.model_server import bash, proposes, says, script, write
from tests.patience import PATIENCE

pytest_plugins = ["tests.postgres"]

Build = Callable[[Config, Mapping[str, str]], App]


@pytest.fixture(params=["sqlite", "postgres"])
def build(request: pytest.FixtureRequest) -> Build:
    if request.param == "sqlite":
        return App
    database: str = request.getfixturevalue("database")
    return lambda config, env: App(replace(config, database_url=database), env)


class Watcher:
    """Follows all sessions from when it is entered, and notes what it is told."""

    def __init__(self, host: Host, after: Mapping[SessionId, int] | None) -> None:
        self._feed = host.follow_all(after)
        self._changed = asyncio.Condition()
        self.told: list[tuple[SessionId, Recorded | Live]] = []

    async def run(self) -> None:
        async with aclosing(self._feed):
            async for each in self._feed:
                self.told.append(each)
                async with self._changed:
                    self._changed.notify_all()

    async def until(self, session: SessionId, wanted: Callable[[AnyEvent], bool]) -> None:
        await self.shown(lambda of, each: of == session and isinstance(each, Recorded) and wanted(each.event))

    async def shown(self, wanted: Callable[[SessionId, Recorded | Live], bool]) -> None:
        async with asyncio.timeout(PATIENCE), self._changed:
            await self._changed.wait_for(lambda: any(wanted(*each) for each in self.told))

    def log(self, session: SessionId) -> list[Recorded]:
        return [each for of, each in self.told if of == session and isinstance(each, Recorded)]


@asynccontextmanager
async def watching(coder: InHouse, after: Mapping[SessionId, int] | None = None) -> AsyncGenerator[Watcher, None]:
    """A change that is seen proves that the watcher follows."""
    watcher = Watcher(coder.host, after)
    task = asyncio.create_task(watcher.run())
    try:
        canary = await coder.create()
        title = 0
        async with asyncio.timeout(PATIENCE):
            while not watcher.log(canary):
                assert not task.done(), task.exception()
                title += 1
                await coder.host.send(ConfigureSession(session=canary, title=str(title), by=ME))
                await asyncio.sleep(0.01)
        yield watcher
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def is_end(event: AnyEvent) -> bool:
    return isinstance(event, TurnEnded)


@story
async def test_a_session_that_another_process_creates_is_followed_from_its_first_event(
    tmp_path: Path, build: Build
) -> None:
    async with (
        house(tmp_path, script(), build=build) as here,
        house(tmp_path, script(proposes(write("a", "x")), says("done"), says("again")), build=build) as there,
        watching(here) as watcher,
    ):
        await there.create()
        await there.prompt("go")
        await watcher.until(there.session, is_end)
        await there.prompt("more")
        await there.ended(turns=2)
        await watcher.until(there.session, lambda event: isinstance(event, TurnEnded) and event.text == "again")
        assert watcher.log(there.session) == await there.events()
        assert here.host.supervised() == 0


@pytest.mark.parametrize(("unanswered", "was_there"), [("deny", False), ("stop", True), ("park", True)])
@story
async def test_x05_a_deadline_passes_although_the_process_that_asked_is_gone(
    tmp_path: Path, build: Build, unanswered: Unanswered, was_there: bool
) -> None:
    """Somebody who follows all sessions, since before or after the ask, acts upon it and goes on with the turn."""

    def acted(event: AnyEvent) -> bool:
        match event:
            case AskParked():
                return unanswered == "park"
            case TurnEnded():
                return event.ending == ("stopped" if unanswered == "stop" else "done")
            case _:
                return False

    async with house(tmp_path, script(says("went on")), build=build) as here, AsyncExitStack() as following:
        watcher = await following.enter_async_context(watching(here)) if was_there else None
        async with house(tmp_path, script(proposes(COLOUR)), build=build) as there:
            await there.create("default")
            await there.host.send(late(there, unanswered))
            await there.asks()
        watcher = watcher or await following.enter_async_context(watching(here))
        await watcher.until(there.session, acted)


@story
async def test_named_sessions_are_replayed_and_others_followed_from_now_on(tmp_path: Path, build: Build) -> None:
    async with house(tmp_path, script(*[says(f"{number}") for number in range(9)]), build=build) as coder:
        sessions: list[SessionId] = []
        for _ in range(3):
            sessions.append(await coder.create())
            await coder.prompt("go")
            await coder.ended()
        whole, later, unnamed = sessions
        approval = Approval(AskId("a"), "person", "bash", "make", command="make", sandbox="none")
        await (await coder.host.load(APPROVALS)).append(lambda _: [ApprovalGranted(approval=approval, by=ME)])
        async with watching(coder, {whole: 0, later: 3, SessionId("never"): 7, APPROVALS: 0}) as watcher:
            for session in sessions:
                coder.session = session
                before = (await coder.events())[-1].seq
                await coder.prompt("more")
                await coder.ended(turns=2)
                await watcher.until(session, is_end)
                await watcher.shown(
                    lambda of, each, session=session, before=before: (
                        of == session
                        and isinstance(each, Recorded)
                        and each.seq > before
                        and isinstance(each.event, TurnEnded)
                    )
                )
                log = await coder.events()
                first = {whole: 0, later: 3, unnamed: before}[session]
                assert watcher.log(session) == log[first:]
            assert watcher.log(APPROVALS) == []  # that is no session


@story
async def test_a_deleted_session_ends_quietly(tmp_path: Path, build: Build) -> None:
    async with (
        house(tmp_path, script(says("one")), build=build) as here,
        house(tmp_path, script(), build=build) as there,
        watching(here) as watcher,
    ):
        await here.create()
        await here.prompt("go")
        await here.ended()
        there.session = here.session
        await there.delete()
        await watcher.until(here.session, lambda event: isinstance(event, SessionDeleted))
        await there.create()
        await watcher.until(there.session, lambda event: isinstance(event, SessionCreated))
        seqs = [each.seq for each in watcher.log(here.session)]
        assert seqs == list(range(1, len(seqs) + 1))
        assert isinstance(watcher.log(here.session)[-1].event, SessionDeleted)


@story
async def test_following_all_never_runs_a_session(tmp_path: Path, build: Build) -> None:
    """X-24: the process that ran it is gone, and whoever only looks leaves it to those that attend it."""
    async with house(tmp_path, script(), build=build) as here, watching(here) as watcher:
        async with house(tmp_path, script(proposes(bash("touch began; sleep 600"))), build=build) as there:
            await there.prompt("go")
            await watcher.until(there.session, lambda event: isinstance(event, CallStarted))
        async with asyncio.timeout(PATIENCE):
            while here.host.supervised():  # noqa: ASYNC110 - the session of `watching` is being forgotten
                await asyncio.sleep(0.01)
        assert not [each for each in watcher.log(there.session) if is_end(each.event)]
        await here.host.send(StopTurn(session=there.session, by=ME))
        await watcher.until(there.session, is_end)


@story
async def test_live_pieces_of_all_processes_arrive_in_their_places(tmp_path: Path, build: Build) -> None:
    release = "echo on the way; while [ ! -e go-on ]; do sleep 0.01; done; rm go-on"
    async with (
        house(tmp_path, script(proposes(bash(release)), says("here")), build=build) as here,
        house(tmp_path, script(proposes(bash(release)), says("there")), build=build) as there,
        watching(here) as watcher,
    ):
        for coder in (here, there):
            await coder.create()
            await coder.prompt("go")
            await watcher.shown(
                lambda of, each, coder=coder: (
                    of == coder.session and isinstance(each, OutputDelta) and "on the way" in each.text
                )
            )
            (coder.folder / "go-on").touch()
            await watcher.until(coder.session, is_end)
            kinds = [type(each.event if isinstance(each, Recorded) else each) for of, each in watcher.told
                     if of == coder.session]  # fmt: skip
            assert kinds.index(CallStarted) < kinds.index(OutputDelta)
            assert watcher.log(coder.session) == await coder.events()
        texts = "".join(each.text for of, each in watcher.told if of == here.session and isinstance(each, TextDelta))
        assert texts == "here"
        assert any(isinstance(each.event, MessageAdded) for each in watcher.log(there.session))


@story
async def test_who_joins_midway_is_shown_what_is_being_written(tmp_path: Path) -> None:
    release = "echo on the way; while [ ! -e go-on ]; do sleep 0.01; done"

    def is_on_the_way(of: SessionId, each: Recorded | Live) -> bool:
        return of == there.session and isinstance(each, OutputDelta) and "on the way" in each.text

    async with (
        house(tmp_path, script()) as here,
        house(tmp_path, script(proposes(bash(release)), says("there"))) as there,
    ):
        async with watching(there) as own, watching(here) as first:
            await there.create()
            await there.prompt("go")
            await own.shown(is_on_the_way)
            await first.shown(is_on_the_way)
            async with watching(here) as late, watching(there) as late_own:
                there.session = first_session(own)
                await late.shown(is_on_the_way)
                await late_own.shown(is_on_the_way)
        (there.folder / "go-on").touch()
        await there.ended()


def first_session(watcher: Watcher) -> SessionId:
    return next(of for of, each in watcher.told if isinstance(each, OutputDelta))


@story
async def test_a_closed_host_follows_nothing(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.host.close()
        with pytest.raises(StoreFailed):
            await anext(coder.host.follow_all())
