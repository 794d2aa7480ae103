"""A model server that does not stop writing, seen through `coder -p`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coderelay.testing.command import PROGRAM, Coder, Ran
from tests.models.chat import STOP, delta, events
from tests.models.endless import ENDLESS, endless_then

MOST_MEBIBYTES = 200
HELLO = events(delta(content="hello"), STOP, b"data: [DONE]\n\n")


@pytest.mark.parametrize("what", ["text", "arguments", "line"])
def test_an_endless_answer_took_gigabytes_and_now_fails_the_turn_only(
    tmp_path: Path, folder: Path, what: str
) -> None:
    home = tmp_path / "home"
    with endless_then(ENDLESS["openai-chat"][what], HELLO) as url:
        coder = Coder(home, folder, url)
        code, errors, mebibytes = _run_measured(coder)
        assert (code, mebibytes < MOST_MEBIBYTES) == (1, True), (errors, mebibytes)
        assert "the model's answer is too long" in errors
        assert "never ending" not in errors
        kept = sum(file.stat().st_size for file in home.glob("*.db*"))
        assert kept < 1024 * 1024, "what arrived was stored"
        assert coder.run("-p", "again", "--continue") == Ran(0, "hello\n", "")


def _run_measured(coder: Coder) -> tuple[int, str, int]:
    """The exit code, what was written to standard error, and the peak of its memory in MiB."""
    with subprocess.Popen(
        [sys.executable, *PROGRAM, "-p", "hi"],
        cwd=coder.cwd,
        env=coder.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        errors = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, errors, used.ru_maxrss // 1024
