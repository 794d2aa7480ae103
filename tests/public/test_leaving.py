"""A script that leaves while its tasks still ask: they end, and the process lives."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, by_history, says


def test_leaving_a_connection_while_tasks_ask_ends_them_and_not_the_process(
    serve: Serve, coder_on: Callable[[ModelServerThread], Coder]
) -> None:
    """Symptom: the reading connection was closed under them: a segmentation fault, or `closed database`."""
    coder = coder_on(serve(by_history(lambda _: says("done"))))
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("leaving_script.py"))],
        cwd=coder.cwd,
        env=coder.env,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
