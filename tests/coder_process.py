"""`coder` as a person runs it: a process, an environment, a folder."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from tests.forked_process import ForkedProcess, fork_server, is_like_server
from tests.patience import PATIENCE

PROGRAM = ("-m", "coderelay.cli")


class Ran(Struct, frozen=True):
    """`err` is without the progress of the turn (`• bash make` and what follows it), unless a test asks for it."""

    code: int
    out: str
    err: str


class Coder:
    """Runs `coder` in `cwd` with its own CODER_HOME and the model server at `base_url`."""

    def __init__(self, home: Path, cwd: Path, base_url: str | None) -> None:
        self.home = home
        self.cwd = cwd
        self.env = _environment(home, base_url)

    def run(
        self,
        *arguments: str,
        text: str | None = None,
        env: Mapping[str, str] | None = None,
        with_progress: bool = False,
    ) -> Ran:
        """In a process forked from one that has loaded `coder`, unless it is told what it reads or how Python starts.
        Tests of how `coder` begins use `start`."""
        whole_env = self.env | dict(env or {})
        if text is None and is_like_server(whole_env):
            return self.fork("coder", *arguments, env=env).wait(with_progress=with_progress)
        done = subprocess.run(
            [sys.executable, *PROGRAM, *arguments],
            cwd=self.cwd,
            env=whole_env,
            input=text,
            stdin=subprocess.DEVNULL if text is None else None,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=PATIENCE,
            check=False,
        )
        err = done.stderr if with_progress else _without_progress(done.stderr)
        return Ran(done.returncode, done.stdout, err)

    def start(
        self, *arguments: str, env: Mapping[str, str] | None = None, program: Sequence[str] = PROGRAM
    ) -> "Started":
        process = subprocess.Popen(
            [sys.executable, *program, *arguments],
            cwd=self.cwd,
            env=self.env | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return Started(process)

    def fork(self, program: str, *arguments: str, env: Mapping[str, str] | None = None) -> "Started":
        """Start a program of `tests.fork_server`, without the time that loading it takes."""
        return Started(fork_server().start(program, arguments, self.env | dict(env or {}), self.cwd))


class Started:
    def __init__(self, process: subprocess.Popen[str] | ForkedProcess) -> None:
        self.process = process

    @property
    def pid(self) -> int:
        return self.process.pid

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self, seconds: float = PATIENCE, *, with_progress: bool = False) -> Ran:
        """A process that takes longer is killed: nothing of a test that fails is left to the next."""
        try:
            out, err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        code = self.process.wait()
        if code == -signal.SIGKILL:
            count_kill(os.environ.get("PYTEST_CURRENT_TEST", "").partition("[")[0])
        return Ran(code, out or "", (err or "") if with_progress else _without_progress(err or ""))

    def kill(self) -> Ran:
        """As a power cut would: no goodbye."""
        self.process.kill()
        return self.wait()


def count_kill(kind: str) -> None:
    """`make soak` tells how many processes were killed in which test, and in which situation."""
    if (tally := os.environ.get("CODER_SOAK_TALLY")) is not None:
        with Path(tally).open("a") as file:
            file.write(f"{kind}\n")


def _without_progress(err: str) -> str:
    kept: list[str] = []
    is_progress = False
    for line in err.splitlines(keepends=True):
        is_progress = line.startswith("• ") or (is_progress and line.startswith("  "))
        kept += [] if is_progress else [line]
    return "".join(kept)


def _environment(home: Path, base_url: str | None) -> dict[str, str]:
    """Nothing of the person's own set-up reaches the process, keys above all."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    model = {} if base_url is None else {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "scripted"}
    return {
        **kept,
        **model,
        "CODER_HOME": str(home),
        "HOME": str(home.parent / "person"),
        "LANG": "C.UTF-8",
        "CODER_RETRY_SECONDS": "0",
        "OPENAI_MODEL": "scripted",
        "PYTHONWARNINGS": "error",
    }
