"""The living keep their sessions, whatever clocks and sleeping machines do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coderelay.host.ownership import Ownership
from coderelay.protocol.ids import OwnerId
from coderelay.store.owners import Alive, Dead, FileOwners

pytestmark = pytest.mark.quick

OTHER = OwnerId("other")


class Scene:
    """Another owner as it is seen from here, and a clock that goes as the test says."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.seen: Alive | Dead = Alive(1)
        self.ownership = Ownership(self, still_seconds=15.0, clock=lambda: self.time)

    def me(self) -> OwnerId:
        return OwnerId("me")

    def beat(self) -> None:
        raise AssertionError("nobody beats for another")

    def look(self, owner: OwnerId) -> Alive | Dead:
        return self.seen

    def close(self) -> None:
        pass

    def watch(self, seconds: float, every: float = 0.25, beating: bool = False) -> bool:
        """Look again and again for so long; whether the session could be taken at any time."""
        taken = False
        until = self.time + seconds
        while self.time < until:
            self.time += every
            if beating and isinstance(self.seen, Alive):
                self.seen = Alive(self.seen.counter + 1)
            taken = self.ownership.may_follow(OTHER) or taken
        return taken


def test_nobody_and_oneself_can_always_be_followed() -> None:
    scene = Scene()
    assert scene.ownership.may_follow(None)
    assert scene.ownership.may_follow(OwnerId("me"))


def test_a_dead_owner_is_followed_at_once() -> None:
    scene = Scene()
    scene.seen = Dead()
    assert scene.ownership.may_follow(OTHER)


def test_a_living_owner_is_followed_only_after_15_seconds_without_a_sign() -> None:
    scene = Scene()
    assert not scene.watch(15.0)
    assert scene.watch(0.5)


def test_a_living_owner_that_works_is_never_followed() -> None:
    assert not Scene().watch(3600.0, beating=True)


def test_one_sign_of_life_starts_the_count_anew() -> None:
    scene = Scene()
    assert not scene.watch(14.0)
    scene.seen = Alive(2)
    assert not scene.watch(14.0)
    assert scene.watch(2.0)


def test_a_machine_that_slept_proves_nothing() -> None:
    """Both slept for an hour: to the one that looks, the clock jumped between two looks."""
    scene = Scene()
    assert not scene.watch(5.0)
    scene.time += 3600.0
    assert not scene.watch(5.0)
    assert not scene.watch(5.0, beating=True)


def test_a_file_lock_tells_the_living_from_the_dead(tmp_path: Path) -> None:
    here = FileOwners(str(tmp_path / "owners"))
    me = here.me()
    there = FileOwners(str(tmp_path / "owners"))
    assert there.look(me) == Alive(0)
    here.beat()
    assert there.look(me) == Alive(1)
    here.close()
    assert there.look(me) == Dead()
    assert there.look(OwnerId("never was")) == Dead()


def test_a_killed_process_is_dead_at_once_and_swept_away(tmp_path: Path) -> None:
    code = (
        "import sys; from coderelay.store.owners import FileOwners; o = FileOwners(sys.argv[1]);"
        " print(o.me(), flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        owner = OwnerId(process.stdout.readline().strip())
        here = FileOwners(str(tmp_path))
        assert here.look(owner) == Alive(0)
        process.kill()
        process.wait()
    assert here.look(owner) == Dead()
    me = here.me()
    assert os.listdir(tmp_path) == [me]
    here.close()
