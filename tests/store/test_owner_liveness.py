"""Signs of life: the living are never taken for dead, the dead soon known."""

import errno
import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from coderelay.protocol.errors import StoreFailed
from coderelay.protocol.ids import OwnerId
from coderelay.store.owner_liveness_by_file_lock import FileOwners
from coderelay.store.owner_liveness_interface import Alive, Dead
from tests.house import story


@story
async def test_a_living_owner_shows_its_counter_and_a_closed_one_is_dead(tmp_path: Path) -> None:
    one, other = FileOwners(str(tmp_path / "owners")), FileOwners(str(tmp_path / "owners"))
    me = await one.me()
    assert await one.me() == me
    assert await other.liveness(me) == Alive(0)
    await one.send_heartbeat()
    await one.send_heartbeat()
    assert await other.liveness(me) == Alive(2)
    assert await other.liveness(OwnerId("nobody")) == Dead()
    await one.close()
    assert await other.liveness(me) == Dead()
    await one.close()
    assert os.listdir(tmp_path / "owners") == []
    assert stat.S_IMODE((tmp_path / "owners").stat().st_mode) == 0o700


@story
async def test_a_killed_owner_is_dead_at_once_and_swept_away_by_the_next(tmp_path: Path) -> None:
    program = (
        "import asyncio, os, sys; from coderelay.store.owner_liveness_by_file_lock import FileOwners;"
        "asyncio.run(FileOwners(sys.argv[1]).me()); os.kill(0, 9)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], start_new_session=True, check=False)
    (killed,) = map(OwnerId, os.listdir(tmp_path))
    owners = FileOwners(str(tmp_path))
    assert await owners.liveness(killed) == Dead()
    me = await owners.me()
    assert os.listdir(tmp_path) == [me]
    await owners.close()


@story
async def test_a_dead_owner_is_dead_to_all_who_look_at_once(tmp_path: Path) -> None:
    """Symptom: of two processes that looked at the same moment, one took the other for the owner."""
    (tmp_path / "dead").touch()
    other = os.open(tmp_path / "dead", os.O_RDWR)
    fcntl.flock(other, fcntl.LOCK_SH)  # what a look holds
    assert await FileOwners(str(tmp_path)).liveness(OwnerId("dead")) == Dead()
    os.close(other)


@story
async def test_one_who_enters_is_not_swept_away_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Symptom: a file was found dead, then locked by its new owner, and removed all the same."""
    (tmp_path / "entering").touch()
    unlink, could_enter = os.unlink, list[bool]()

    def unlink_later(path: str) -> None:
        file = os.open(path, os.O_RDWR)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            could_enter.append(True)
        except BlockingIOError:
            could_enter.append(False)
        finally:
            os.close(file)
        unlink(path)

    monkeypatch.setattr(os, "unlink", unlink_later)
    owners = FileOwners(str(tmp_path))
    me = await owners.me()
    monkeypatch.undo()
    assert could_enter == [False]
    assert os.listdir(tmp_path) == [me]
    await owners.close()


@story
async def test_a_full_disk_does_not_end_a_living_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Symptom: a heartbeat that could not be written ended the task that watches the log."""
    owners = FileOwners(str(tmp_path))
    me = await owners.me()
    assert (tmp_path / me).stat().st_size == 8

    def full(file: int, content: bytes, offset: int) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    await owners.send_heartbeat()
    monkeypatch.undo()
    assert await FileOwners(str(tmp_path)).liveness(me) == Alive(0)
    await owners.close()


@story
async def test_a_folder_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "owners").write_text("a file")
    with pytest.raises(StoreFailed, match="owners") as caught:
        await FileOwners(str(tmp_path / "owners")).me()
    assert "CODER_HOME" in caught.value.hint
