"""A model server that does not stop writing, seen through `coder -p`."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.coder_process import PROGRAM, Coder, Ran
from tests.models.chat_completions import STOP, delta, events
from tests.models.endless_answers import ENDLESS, endless_then

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


_MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


def _run_measured(coder: Coder) -> tuple[int, str, int]:
    """The exit code, what was written to standard error, and the peak of its memory in MiB. A small process in
    between starts it, because the kernel counts the memory of whoever starts a process as its own."""
    ran = subprocess.run(
        [sys.executable, "-c", _MEASURE, sys.executable, *PROGRAM, "-p", "hi"],
        cwd=coder.cwd,
        env=coder.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    code, mebibytes = map(int, ran.stdout.split())
    return code, ran.stderr, mebibytes
