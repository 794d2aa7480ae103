"""A backup that is taken while sessions are in use, and restored as docs/backup.md says."""

import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.crash.journey import wait_until
from tests.model_server import ModelServerThread, bash, proposes, says, script

CoderOn = Callable[[ModelServerThread], Coder]
STEPS = 20


def test_a_backup_under_writes_is_whole_and_can_be_gone_on_from(
    serve: Serve, coder_on: CoderOn, tmp_path: Path, folder: Path
) -> None:
    work = [proposes(bash(f"echo {number} >> made")) for number in range(STEPS)]
    server = serve(script(*work, says("built"), says("restored")))
    coder = coder_on(server)
    busy = coder.start("-p", "build it", "--mode", "yolo")
    assert wait_until(lambda: (folder / "made").exists(), lambda: ["did not begin"]) == []
    during = tmp_path / "during.db"
    ran = coder.run("sessions", "backup", str(during))
    assert (ran.code, ran.err) == (0, "")
    assert busy.wait() == Ran(0, "built\n", "")
    after = tmp_path / "after.db"
    assert coder.run("sessions", "backup", str(after)).code == 0
    whole = _events(coder.home / "sessions.db")
    taken = _events(during)
    assert taken == whole[: len(taken)]
    assert len(taken) > 3
    assert _events(after) == whole
    assert stat.S_IMODE(after.stat().st_mode) == 0o600
    assert sorted(each.name for each in tmp_path.glob("*.db*")) == ["after.db", "during.db"]

    restored = Coder(tmp_path / "restored", folder, server.base_url)
    restored.home.mkdir(mode=0o700)
    shutil.copy(after, restored.home / "sessions.db")
    assert "build it" in restored.run("sessions").out
    assert restored.run("-p", "go on", "--continue") == Ran(0, "restored\n", "")
    assert _events(restored.home / "sessions.db")[: len(whole)] == whole


def test_a_backup_replaces_nothing_and_says_why(serve: Serve, coder_on: CoderOn, tmp_path: Path) -> None:
    coder = coder_on(serve(script(says("hello"))))
    assert "there is no log at" in coder.run("sessions", "backup", str(tmp_path / "none.db")).err
    assert coder.run("-p", "hi").code == 0
    (tmp_path / "mine.db").write_text("mine")
    ran = coder.run("sessions", "backup", str(tmp_path / "mine.db"))
    assert (ran.code, (tmp_path / "mine.db").read_text()) == (1, "mine")
    assert "already exists" in ran.err
    ran = coder.run("sessions", "backup", str(tmp_path / "no" / "folder.db"))
    assert (ran.code, "cannot write" in ran.err) == (1, True)
    ran = coder.run("sessions", "backup", "copy.db", env={"CODER_DATABASE_URL": "postgresql://localhost/none"})
    assert (ran.code, "Use pg_dump." in ran.err) == (1, True)


def _events(file: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as log:
        found = log.execute(
            "SELECT rowid, session_id, seq, kind, body FROM event ORDER BY session_id, seq"
        ).fetchall()
    assert [each[2] for each in found] == list(range(1, len(found) + 1)), "a hole in the one session"
    return found
