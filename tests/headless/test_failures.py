"""`coder -p` that fails: what has become of the prompt is known and said."""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.headless import failing_log
from tests.model_server import ModelServerThread, bash, proposes, says, script

CoderOn = Callable[[ModelServerThread], Coder]
COUNT = proposes(bash("echo x >> effects"))
PROMPT = ("-p", "count", "--mode", "yolo")


def the_session(coder: Coder) -> dict[str, Any]:
    return json.loads(coder.run("sessions", "--json").out)


def fail(coder: Coder, kinds: str) -> Ran:
    """The prompt, with a log to which such events cannot be appended."""
    program = (str(Path(failing_log.__file__)),)
    return coder.start(*PROMPT, "--continue", program=program, env={"CODER_FAILING": kinds}).wait()


@pytest.fixture
def coder(serve: Serve, coder_on: CoderOn) -> Coder:
    """With one session, which has had a turn already."""
    coder = coder_on(serve(script(says("begun"), COUNT, says("done"))))
    assert coder.run("-p", "begin").code == 0
    return coder


def test_a_prompt_that_failed_for_want_of_a_lock_was_done_twice_when_sent_again(coder: Coder, folder: Path) -> None:
    owners = coder.home / "owners"
    owners.rmdir()
    owners.write_text("in the way")
    failed = coder.run(*PROMPT, "--continue")
    assert failed.code == 1
    assert "cannot lock a file in" in failed.err
    assert the_session(coder).get("queued", 0) == 0
    owners.unlink()
    assert coder.run(*PROMPT, "--continue").code == 0
    assert (folder / "effects").read_text() == "x\n"


def test_a_prompt_that_could_not_begin_is_taken_back(coder: Coder, folder: Path) -> None:
    failed = fail(coder, "session.claimed")
    assert failed == Ran(
        1,
        "",
        f"coder: {failing_log.PROBLEM}\nCheck the disk and your quota on it.\n"
        "The prompt was withdrawn before anything was done. You can send it again.\n",
    )
    assert the_session(coder).get("queued", 0) == 0
    assert coder.run(*PROMPT, "--continue").code == 0
    assert (folder / "effects").read_text() == "x\n"


def test_a_prompt_that_cannot_be_taken_back_is_said_to_wait_and_where(coder: Coder, folder: Path) -> None:
    failed = fail(coder, "session.claimed,prompt.recalled")
    session = the_session(coder)
    told = (
        f"The prompt is queued in session {session['id']} and has not started. "
        f"Run it with `coder resume {session['id']}`."
    )
    assert (failed.code, session["queued"]) == (1, 1)
    assert told in failed.err
    assert coder.run("resume", session["id"]).code == 0
    assert (folder / "effects").read_text() == "x\n"


def test_a_failure_in_mid_turn_said_that_nothing_was_changed(coder: Coder, folder: Path) -> None:
    failed = fail(coder, "call.ended")
    session = the_session(coder)
    assert failed.code == 1
    assert f"may have changed files; session {session['id']} records what is known." in failed.err
    assert "Nothing was changed" not in failed.err
    assert (folder / "effects").read_text() == "x\n"
    coder.run("resume", session["id"])
    assert (folder / "effects").read_text() == "x\n"


def test_a_prompt_that_was_never_admitted_is_not_said_to_wait(coder: Coder) -> None:
    failed = fail(coder, "prompt.admitted")
    assert failed == Ran(1, "", f"coder: {failing_log.PROBLEM}\nCheck the disk and your quota on it.\n")
    assert the_session(coder).get("queued", 0) == 0


def test_a_model_server_that_is_not_running_here_is_given_up_after_seconds(tmp_path: Path, folder: Path) -> None:
    """With every retry it took more than a minute."""
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        coder = Coder(tmp_path / "home", folder, f"http://127.0.0.1:{nobody_listens.getsockname()[1]}/v1")
        failed = coder.start("-p", "hello", env={"CODER_RETRY_SECONDS": "0.01"}).wait()
    assert failed.code == 1
    assert failed.err.count("retrying") == 2
    assert "cannot be reached: Connection refused" in failed.err
