"""A temporary folder, a model server, and the two programs to run there: coder and the floor."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from bench.job import lay_out
from bench.server import Answer, Exchange, ModelServer, model_server

_HERE = Path(__file__).parent
_STARTER = [sys.executable, "-I", "-S", str(_HERE / "starter.py")]
CODER = [str(Path(sys.executable).with_name("coder"))]
FLOOR = [sys.executable, str(_HERE / "floor.py")]
YOLO = ("--mode", "yolo")
MOST_SECONDS = 60.0


class Ran(Struct, frozen=True):
    """One process, start to end, with everything it waited for. Times are `time.perf_counter`."""

    began: float
    ended: float
    cpu: float
    rss: float
    exchanges: list[Exchange]

    @property
    def ms(self) -> float:
        return (self.ended - self.began) * 1000

    @property
    def first_request_ms(self) -> float:
        return (self.exchanges[0].arrived - self.began) * 1000

    @property
    def step_ms(self) -> list[float]:
        """From the last byte of an answer to the next request, for each step."""
        pairs = zip(self.exchanges, self.exchanges[1:], strict=False)
        return [(after.arrived - before.answered) * 1000 for before, after in pairs]


class Starter:
    """Our end of `starter.py`."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def start(
        self, argv: Sequence[str], env: dict[str, str], cwd: Path, errors: Path, terminal: str = ""
    ) -> tuple[int, float]:
        """Its pid, and when it began."""
        started = self._tell({"argv": argv, "env": env, "cwd": str(cwd), "errors": str(errors), "terminal": terminal})
        return started["pid"], started["began"]

    def wait(self, pid: int) -> dict[str, Any]:
        return self._tell({"wait": pid})

    def _tell(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


@contextmanager
def starter() -> Generator[Starter]:
    with subprocess.Popen(_STARTER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Starter(process)


class Lab:
    def __init__(self, folder: Path, server: ModelServer, starter: Starter) -> None:
        self.server = server
        self._starter = starter
        self.work = folder / "work"
        self.home = folder / "home"
        self._errors = folder / "stderr"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "CODER_HOME": str(self.home),
            "OPENAI_BASE_URL": server.base_url,
            "OPENAI_API_KEY": "scripted",
            "OPENAI_MODEL": "scripted",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }
        self._running: set[int] = set()
        self.work.mkdir()
        lay_out(self.work)

    def coder(self, answers: Sequence[Answer], *arguments: str, pause: float = 0.0) -> Ran:
        """One turn of `coder -p`, which must use up the answers."""
        return self.run([*CODER, "-p", "hi", *arguments], answers, pause)

    def floor(self, answers: Sequence[Answer], pause: float = 0.0) -> Ran:
        return self.run([*FLOOR, "hi"], answers, pause)

    def run(self, argv: Sequence[str], answers: Sequence[Answer] = (), pause: float = 0.0) -> Ran:
        self.server.play(answers, pause)
        pid, began = self.start(argv)
        ran = self.wait(pid, began)
        if len(ran.exchanges) != len(answers):
            raise RuntimeError(f"{len(ran.exchanges)} of {len(answers)} answers were asked for")
        return ran

    def start(self, argv: Sequence[str], terminal: str = "") -> tuple[int, float]:
        """Its pid, and when it began."""
        pid, began = self._starter.start(argv, self.env, self.work, self._errors, terminal)
        self._running.add(pid)
        return pid, began

    def wait(self, pid: int, began: float, code: int = 0) -> Ran:
        watchdog = threading.Timer(MOST_SECONDS, os.kill, (pid, signal.SIGKILL))
        watchdog.start()
        ended = self._starter.wait(pid)
        watchdog.cancel()
        self._running.discard(pid)
        if ended["code"] != code:
            raise RuntimeError(f"exit code {ended['code']}: {self._errors.read_text()[-2000:]}")
        return Ran(began, ended["ended"], ended["cpu"], ended["rss"], self.server.exchanges)

    def wait_for_file(self, name: str) -> None:
        """Until somebody made it in the work folder; it is removed."""
        deadline = time.monotonic() + MOST_SECONDS
        while not (self.work / name).exists():
            assert time.monotonic() < deadline, f"{name} did not come: {self._errors.read_text()[-2000:]}"
            time.sleep(0.002)
        (self.work / name).unlink()

    def close(self) -> None:
        for pid in self._running:
            os.kill(pid, signal.SIGKILL)


@contextmanager
def lab() -> Generator[Lab]:
    with (
        tempfile.TemporaryDirectory(prefix="coder-bench-", ignore_cleanup_errors=True) as folder,
        model_server() as server,
        starter() as starts,
    ):
        opened = Lab(Path(folder), server, starts)
        try:
            yield opened
        finally:
            opened.close()
