"""Whole sessions with the log on PostgreSQL: two processes that share nothing but the server and the folder."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from coderelay.app import App
from coderelay.config.loaded_config import Config
from coderelay.protocol.commands import Accepted
from coderelay.protocol.events import CallStarted
from tests.coder_process import Coder
from tests.house import house, story
from tests.model_server import bash, proposes, says, script, write
from tests.postgres_server import PrivateServer, rows

pytest_plugins = ["tests.postgres"]

Build = Callable[[Config, Mapping[str, str]], App]


@pytest.fixture
def team(database: str) -> Build:
    return lambda config, env: App(replace(config, database_url=database), env)


@story
async def test_what_one_process_asks_another_answers(tmp_path: Path, team: Build, database: str) -> None:
    async with (
        house(tmp_path, script(proposes(write("a", "x")), says("done")), build=team) as first,
        house(tmp_path, script(says("done")), build=team) as second,  # goes on itself if the first is too slow
    ):
        await first.create("default")
        await first.prompt("go")
        await first.asks()  # so that it is the first who has begun the turn
        await second.open(first.session)
        (ask,) = await second.asks()
        await second.answer(ask)
        assert (await first.ended()).text == (await second.ended()).text == "done"
        assert await second.events() == await first.events()
        assert await second.story() == ["user: go", "write: ok", "agent: done"]
    assert not (tmp_path / "home" / "sessions.db").exists()
    assert rows(database, "SELECT status FROM sessions") == [("completed",)]
    assert rows(database, "SELECT count(*) FROM owner") == [(0,)]


@story
async def test_a_stop_from_another_process_ends_the_command(tmp_path: Path, team: Build) -> None:
    async with (
        house(tmp_path, script(proposes(bash("touch began; sleep 600"))), build=team) as first,
        house(tmp_path, script(), build=team) as second,
    ):
        await first.prompt("go")
        await first.until(lambda event: isinstance(event, CallStarted))
        await second.open(first.session)
        assert isinstance(await second.stop(), Accepted)
        assert (await second.ended()).ending == "stopped"


@story
async def test_an_owner_that_leaves_is_followed_by_an_attending_process(tmp_path: Path, team: Build) -> None:
    async with house(tmp_path, script(says("carried on")), build=team) as second:
        async with house(tmp_path, script(proposes(bash("touch began; sleep 600"))), build=team) as first:
            await first.prompt("go")
            await first.until(lambda event: isinstance(event, CallStarted))
            await second.open(first.session)
        assert (await second.ended()).text == "carried on"
        assert await second.story() == ["user: go", "bash: unknown", "agent: carried on"]


@story
async def test_a_turn_outlives_a_restart_of_the_server(tmp_path: Path, team: Build, postgres: PrivateServer) -> None:
    release = "while [ ! -e go-on ]; do sleep 0.01; done; echo once >> effects"
    async with house(tmp_path, script(proposes(bash(release)), says("still here")), build=team) as coder:
        await coder.prompt("go")
        await coder.until(lambda event: isinstance(event, CallStarted))
        await asyncio.to_thread(postgres.restart)
        (coder.folder / "go-on").touch()
        assert (await coder.ended()).text == "still here"
        assert await coder.story() == ["user: go", "bash: ok", "agent: still here"]
        assert (coder.folder / "effects").read_text() == "once\n"


def test_coder_says_that_the_server_cannot_be_reached(tmp_path: Path) -> None:
    coder = Coder(tmp_path / "home", tmp_path, "http://127.0.0.1:9/v1")
    url = f"postgresql://ann:hunter2@/team?host={tmp_path}"
    ran = coder.run("-p", "go", env={"CODER_DATABASE_URL": url})
    assert ran.code == 1
    assert f"PostgreSQL at {tmp_path}/team cannot be reached" in ran.err
    assert "hunter2" not in ran.out + ran.err
    assert "Traceback" not in ran.err
