"""A log that fails for a while, or an event that cannot be shown: clients are shown all the rest."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from coderelay.app import App
from coderelay.client.views.cowork_messages import SessionRows
from coderelay.config.loaded_config import Config
from coderelay.protocol.errors import StoreLocked
from coderelay.protocol.events import CallEnded, Recorded
from coderelay.protocol.live_updates import Live
from coderelay.store.sqlite.store import SqliteStore
from coderelay.store.store import ChangeCursor, Changes, Projection, Store
from coderelay.surfaces.web.all_sessions_broadcast import BroadcastOptions
from coderelay.surfaces.web.session_frames import Frame, SessionFrames
from coderelay.testing.scripted_external_agent import Emits, Says
from tests.blocking.scene import blocking_house, steps
from tests.house import house, story
from tests.model_server import bash, proposes, says, script
from tests.web.browser import Site, serving, web


class Failing(SqliteStore):
    """It fails when somebody looks for changes, once each time that `fails` is set."""

    fails = False
    failed = asyncio.Event()

    async def changed(self, cursor: ChangeCursor | None) -> Changes:
        if Failing.fails:
            Failing.fails = False
            Failing.failed.set()
            raise StoreLocked("the log is locked", "Try again.")
        return await super().changed(cursor)


class FailingHouse(App):
    def __init__(self, config: Config, env: Mapping[str, str]) -> None:
        super().__init__(config, env)
        self.opened: Projection = SessionRows()

    def store(self) -> Store:
        return Failing(self.config.database, self.opened)


@story
async def test_what_happens_while_the_feed_is_broken_is_shown_later(tmp_path: Path) -> None:
    """Of a session that was followed, and of one that begins meanwhile."""
    Failing.failed = asyncio.Event()
    async with (
        house(tmp_path, script(says("zero"), says("one"), says("two")), build=FailingHouse) as coder,
        serving(coder.host, BroadcastOptions(cwd=str(coder.folder))) as server,
        Site(coder, server).client() as page,
    ):
        await page.send("session.start", title="t", prompt="zero")
        first = (await page.until("session.status", status="completed"))["sessionId"]
        Failing.fails = True
        new = await coder.create()
        await Failing.failed.wait()
        await coder.prompt("one")
        await coder.ended()
        await page.send("session.continue", sessionId=first, prompt="two")
        await page.until("session.status", sessionId=new, status="completed")
        while page.story(first)[-1:] != ["status completed"] or page.story(first).count("prompt two") == 0:
            await page.next()
        turn = ["message system init", "message assistant text", "message result success", "status completed"]
        assert page.story(new) == ["status running", "prompt one", *turn]
        assert page.story(first) == ["status running", "prompt zero", *turn, "status running", "prompt two", *turn]


@story
async def test_an_event_that_cannot_be_shown_ends_nothing(tmp_path: Path) -> None:
    shown = SessionFrames.frames

    def frames(view: SessionFrames, each: Recorded | Live) -> list[Frame]:
        if isinstance(each, Recorded) and isinstance(each.event, CallEnded):
            raise ValueError("a bug")
        return shown(view, each)

    answers = script(proposes(bash("echo one")), says("done"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SessionFrames, "frames", frames)
        async with web(tmp_path, answers) as site, site.client() as page:
            await page.send("session.start", title="t", prompt="go", mode="yolo")
            session = (await page.until("session.status", status="completed"))["sessionId"]
            assert "message user tool_result" not in page.story(session)


@story
async def test_many_events_at_once_do_not_drop_a_client_that_reads(tmp_path: Path) -> None:
    """They are one append, three times as much as a client may have unsent."""
    text = "x" * 100_000
    messages = tuple(json.dumps({"type": "assistant", "uuid": f"u-{n}", "text": text}) for n in range(30))
    async with (
        blocking_house(tmp_path, steps(Emits(messages), Says("done"))) as coder,
        serving(coder.host, BroadcastOptions(cwd=str(coder.folder))) as server,
        Site(coder, server).client() as page,
        Site(coder, server).client(batched=True) as batched,
    ):
        await page.send("session.start", title="t", prompt="go", agent="blocking")
        for each in (page, batched):
            await each.until("session.status", status="completed")
            shown = [x["payload"]["message"] for x in each.seen if x["type"] == "stream.message"]
            assert [x["uuid"] for x in shown if "text" in x] == [f"u-{n}" for n in range(30)]


@story
async def test_an_answer_to_an_ask_from_before_the_server_names_its_tool_use(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(bash("touch made")), says("made it"))) as first:
        await first.create(mode="default")
        await first.prompt("make it")
        (ask,) = await first.asks()
        async with web(tmp_path, script()) as site, site.client() as page:
            await first.answer(ask)
            resolved = await page.until("permission.resolved")
            assert (resolved["toolUseId"], resolved["askId"]) == (ask.call_id, ask.id)
