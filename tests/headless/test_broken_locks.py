"""Homes on file systems where `flock` does not work: a session still has one owner at a time, or is refused."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.crash.journey import wait_until
from tests.model_server import ModelServerThread, bash, proposes, says, script
from tests.store.broken_locks import broken_locks

CoderOn = Callable[[ModelServerThread], Coder]
UNTIL_GO = "touch began; until [ -e go ]; do sleep 0.01; done"


@pytest.mark.parametrize("defined", [(), ("FLOCK_FAILS",)], ids=["keeps-nobody-out", "is-refused"])
def test_owners_stole_a_session_from_each_other_without_end(
    serve: Serve, coder_on: CoderOn, tmp_path: Path, folder: Path, defined: tuple[str, ...]
) -> None:
    coder = coder_on(serve(script(proposes(bash(UNTIL_GO)), says("first"), says("second"))))
    env = broken_locks(tmp_path, *defined)
    first = coder.start("-p", "go", "--mode", "yolo", env=env)
    _wait_until(lambda: (folder / "began").exists())
    second = coder.start("-p", "then", "--continue", env=env)
    _wait_until(lambda: _count(coder, "prompt.admitted") == 2)
    assert _count(coder, "session.claimed") == 1
    (folder / "go").touch()
    assert first.wait() == Ran(0, "first\n", "")
    assert second.wait() == Ran(0, "second\n", "")
    assert _count(coder, "session.claimed") <= 2
    assert _count(coder, "call.started") == 1


def test_a_home_without_any_locks_is_refused_in_words(serve: Serve, coder_on: CoderOn, tmp_path: Path) -> None:
    coder = coder_on(serve(script(says("never"))))
    ran = coder.run("-p", "go", env=broken_locks(tmp_path, "NO_RANGE_LOCKS"))
    assert ran.code == 1
    assert "file locks do not work in" in ran.err
    assert "Set CODER_HOME to a folder on a local disk" in ran.err
    assert list((coder.home / "owners").iterdir()) == []


def _wait_until(done: Callable[[], bool]) -> None:
    assert wait_until(done, lambda: ["did not happen"]) == []


def _count(coder: Coder, kind: str) -> int:
    with closing(sqlite3.connect(coder.home / "sessions.db")) as log:
        (number,) = log.execute("SELECT count(*) FROM event WHERE kind = ?", (kind,)).fetchone()
    return number
