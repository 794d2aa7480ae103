"""A command that fills the disk, on a small disk of its own."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coder_process import PROGRAM, Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, proposes, says, script

FILL = "while head -c 1M /dev/zero >> $(( n++ / 8 )); do sleep 0.05; done; echo the disk is full"
MOUNT = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
ON_SMALL_DISK = 'mount -t tmpfs -o size=64m none "$0" && cd "$0" && exec "$@"'


def test_one_command_filled_the_disk(
    serve: Serve, coder_on: Callable[[ModelServerThread], Coder], folder: Path
) -> None:
    if (
        shutil.which("unshare") is None
        or subprocess.run([*MOUNT, ON_SMALL_DISK, folder, "true"], check=False).returncode
    ):
        pytest.skip("a small disk cannot be mounted here")
    server = serve(script(proposes(bash(FILL)), proposes(bash("df --output=pcent . | tail -1")), says("ended")))
    coder = coder_on(server)
    prompt = [sys.executable, *PROGRAM, "-p", "fill it", "--mode", "yolo"]
    ran = subprocess.run(
        [*MOUNT, ON_SMALL_DISK, folder, *prompt],
        env=coder.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "ended\n"), ran.stderr
    first, second = [each["content"] for each in server.requests[-1]["messages"] if each["role"] == "tool"]
    assert "is almost full: less than" in first
    assert "the disk is full" not in first
    assert int(second.strip().rstrip("%")) < 90
