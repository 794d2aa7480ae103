"""One bot of an app draws at a time, and another takes over when it has gone."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from coderelay.app import App
from coderelay.config.loaded_config import Config
from coderelay.protocol.key_value_store import Change, KeyValueStore
from coderelay.surfaces.feishu.card_outbox_interface import ChatPlace
from coderelay.surfaces.feishu.presenter_lease import LEASE_MS, LeasedOutbox, PresenterLease
from tests.feishu.chat_house import chat_house
from tests.feishu.recording_outbox import RecordingOutbox
from tests.house import house, story
from tests.model_server import Answer, History, bash, by_history, proposes, says, script
from tests.patience import PATIENCE

pytest_plugins = ["tests.postgres"]


class Bot:
    """Presents nothing, and tells when it may."""

    def __init__(self, key_values: KeyValueStore, clock: Callable[[], int]) -> None:
        self.begun, self.ended = asyncio.Event(), asyncio.Event()
        lease = PresenterLease(key_values, clock, renew=0.01, look=0.01)
        self.task = asyncio.create_task(lease.run(self._present))

    async def _present(self) -> None:
        self.ended.clear()
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.begun.clear()
            self.ended.set()

    async def close(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


@story
async def test_one_presents_until_it_ends(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder, asyncio.timeout(PATIENCE):
        key_values = coder.host.key_value_store("feishu:test")
        first = Bot(key_values, lambda: 0)
        await first.begun.wait()
        looked = asyncio.Event()

        def clock() -> int:
            looked.set()
            return 0

        second = Bot(key_values, clock)
        await looked.wait()
        looked.clear()
        await looked.wait()  # so the first look led to nothing
        assert not second.begun.is_set()
        await first.close()
        await second.begun.wait()
        assert first.ended.is_set()
        await second.close()


@story
async def test_a_bot_that_stands_still_loses_the_lease_and_stops(tmp_path: Path) -> None:
    """Its clock stands for a process that was suspended: it renews, but too late."""
    async with house(tmp_path, script()) as coder, asyncio.timeout(PATIENCE):
        key_values = coder.host.key_value_store("feishu:test")
        first = Bot(key_values, lambda: 0)
        await first.begun.wait()
        second = Bot(key_values, lambda: LEASE_MS + 1)
        await second.begun.wait()
        await first.ended.wait()
        assert second.begun.is_set()
        for each in (first, second):
            await each.close()


@story
async def test_a_bot_that_was_suspended_shows_nothing_old_when_it_goes_on(tmp_path: Path) -> None:
    """It goes on in the middle of its work, before it finds out that another bot has taken over."""
    now, shown = [0], RecordingOutbox()
    async with house(tmp_path, script()) as coder, asyncio.timeout(PATIENCE):
        key_values = coder.host.key_value_store("feishu:test")
        lease = PresenterLease(key_values, lambda: now[0], renew=3600, look=0.01)
        outbox = LeasedOutbox(shown, lease)
        suspended, goes_on, begun = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def present() -> None:
            await outbox.show("k", ChatPlace("oc_1"), {"state": "first"})
            suspended.set()
            await goes_on.wait()
            begun.set()
            outbox.stream("k", "old text")
            await outbox.show("k", ChatPlace("oc_1"), {"state": "old"})

        first = asyncio.create_task(lease.run(present))
        await suspended.wait()
        now[0] = LEASE_MS + 1
        second = Bot(key_values, lambda: now[0])
        await second.begun.wait()
        goes_on.set()
        await begun.wait()
        done, _ = await asyncio.wait([first], timeout=0.1)
        assert not done
        assert (shown.messages["k"].versions, shown.messages["k"].streamed) == ([{"state": "first"}], [])
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await second.close()


@story
async def test_a_process_that_has_gone_is_seen_at_once(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder, asyncio.timeout(PATIENCE):
        key_values = coder.host.key_value_store("feishu:test")
        first = Bot(key_values, lambda: 0)
        await first.begun.wait()
        entry = await key_values.read("chat.presenter")
        assert entry is not None
        first.task.cancel()
        await asyncio.gather(first.task, return_exceptions=True)
        told = [sys.executable, "-c", "import os; print(os.getpid())"]
        gone = subprocess.run(told, capture_output=True, check=True)
        held = entry.value.replace(str(os.getpid()).encode(), gone.stdout.strip())
        await key_values.write(Change("chat.presenter", held))
        second = Bot(key_values, lambda: 0)
        await second.begun.wait()
        await second.close()


def _next(history: History) -> Answer:
    if any(said.role == "assistant" for said in history):
        return says("done")
    return proposes(bash("rm -f x"))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_two_bots_share_a_log_of_either_kind(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    database = None if kind == "sqlite" else request.getfixturevalue("database")

    def build(config: Config, env: Mapping[str, str]) -> App:
        return App(config if database is None else replace(config, database_url=database), env)

    @story
    async def run() -> None:
        shown = RecordingOutbox()
        model = by_history(_next)
        async with (
            chat_house(tmp_path, model, outbox=shown, build=build) as one,
            chat_house(tmp_path, model, outbox=shown, build=build) as two,
        ):
            await one.say("go")
            confirm = await two.shown("请确认")
            assert (await two.click(confirm, "确认")).toast_kind == "success"
            await one.card("任务完成")
            assert one.titles() == ["正在执行任务...", "已确认", "继续执行...", "任务完成"]

    run()
