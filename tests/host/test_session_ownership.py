"""The living keep their sessions, whatever clocks and sleeping machines do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coderelay.host.session_ownership import SessionOwnership
from coderelay.protocol.ids import OwnerId
from coderelay.store.owner_liveness_by_file_lock import FileOwners
from coderelay.store.owner_liveness_interface import Alive, Dead
from tests.house import story

pytestmark = pytest.mark.quick

OTHER = OwnerId("other")


class Scene:
    """Another owner as it is seen from here, and a clock that goes as the test says."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.seen: Alive | Dead = Alive(1)
        self.takeover = SessionOwnership(self, still_seconds=15.0, clock=lambda: self.time)

    async def me(self) -> OwnerId:
        return OwnerId("me")

    async def send_heartbeat(self) -> None:
        raise AssertionError("nobody beats for another")

    async def liveness(self, owner: OwnerId) -> Alive | Dead:
        return self.seen

    async def close(self) -> None:
        pass

    async def watch(self, seconds: float, every: float = 0.25, beating: bool = False) -> bool:
        """Look again and again for so long; whether the session could be taken at any time."""
        taken = False
        until = self.time + seconds
        while self.time < until:
            self.time += every
            if beating and isinstance(self.seen, Alive):
                self.seen = Alive(self.seen.counter + 1)
            taken = await self.takeover.may_take_over(OTHER) or taken
        return taken


@story
async def test_owners_whose_sessions_are_over_are_not_remembered() -> None:
    """Symptom: a process that lived long remembered every owner that it had ever seen alive."""
    scene = Scene()
    for number in range(1000):
        scene.time += 1.0
        assert not await scene.takeover.may_take_over(OwnerId(f"owner{number}"))
    assert scene.takeover.watched_count <= 60


@story
async def test_nobody_and_oneself_can_always_be_followed() -> None:
    scene = Scene()
    assert await scene.takeover.may_take_over(None)
    assert await scene.takeover.may_take_over(OwnerId("me"))


@story
async def test_a_dead_owner_is_followed_at_once() -> None:
    scene = Scene()
    scene.seen = Dead()
    assert await scene.takeover.may_take_over(OTHER)


@story
async def test_a_living_owner_is_followed_only_after_15_seconds_without_a_sign() -> None:
    scene = Scene()
    assert not await scene.watch(15.0)
    assert await scene.watch(0.5)


@story
async def test_a_living_owner_that_works_is_never_followed() -> None:
    assert not await Scene().watch(3600.0, beating=True)


@story
async def test_one_sign_of_life_starts_the_count_anew() -> None:
    scene = Scene()
    assert not await scene.watch(14.0)
    scene.seen = Alive(2)
    assert not await scene.watch(14.0)
    assert await scene.watch(2.0)


@story
async def test_a_machine_that_slept_proves_nothing() -> None:
    """Both slept for an hour: to the one that looks, the clock jumped between two looks."""
    scene = Scene()
    assert not await scene.watch(5.0)
    scene.time += 3600.0
    assert not await scene.watch(5.0)
    assert not await scene.watch(5.0, beating=True)


@story
async def test_a_file_lock_tells_the_living_from_the_dead(tmp_path: Path) -> None:
    here = FileOwners(str(tmp_path / "owners"))
    me = await here.me()
    there = FileOwners(str(tmp_path / "owners"))
    assert await there.liveness(me) == Alive(0)
    await here.send_heartbeat()
    assert await there.liveness(me) == Alive(1)
    await here.close()
    assert await there.liveness(me) == Dead()
    assert await there.liveness(OwnerId("never was")) == Dead()


@story
async def test_a_killed_process_is_dead_at_once_and_swept_away(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys; from coderelay.store.owner_liveness_by_file_lock import FileOwners;"
        " o = FileOwners(sys.argv[1]); print(asyncio.run(o.me()), flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        owner = OwnerId(process.stdout.readline().strip())
        here = FileOwners(str(tmp_path))
        assert await here.liveness(owner) == Alive(0)
        process.kill()
        process.wait()
    assert await here.liveness(owner) == Dead()
    me = await here.me()
    assert os.listdir(tmp_path) == [me]
    await here.close()
