"""One job, killed anywhere and carried on by new processes until it is done."""

import json
import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.coder_process import Coder, Started
from tests.log_checker import (
    Event,
    check_acknowledged,
    check_effects,
    check_settled,
    read_logs,
)
from tests.model_server import Answer, History, ModelServerThread, bash, proposes, says
from tests.patience import PATIENCE

CRASHING = "crashing"  # a program of the fork server
FLAGS = ("--mode", "yolo", "--output", "stream-json")


def job(history: History) -> Answer:
    """Two messages with three calls each, then an answer. Depends on the history alone, so that a
    repeated request gets the same answer."""
    prompt = max(place for place, said in enumerate(history) if said.role == "user")
    step = sum(1 for said in history[prompt:] if said.role == "assistant")
    name = history[prompt].text.split()[-1]
    if step == 2:
        return says(f"done {name}")
    calls = [bash(f"echo {name}{step}{call} >> effects # {name}{step}{call}") for call in "abc"]
    return proposes(*calls, text=f"step {step}")


class Journey:
    """Processes on one log, one after the other or at once, and what they left behind."""

    def __init__(self, coder: Coder, server: ModelServerThread) -> None:
        self.coder = coder
        self.server = server
        self.printed: list[list[str]] = []  # by process

    def start(self, *arguments: str, **env: str) -> Started:
        known = {"HOME": str(self.coder.home)}  # marks all that the forked process starts, for `left_over`
        return self.coder.fork(CRASHING, *arguments, *FLAGS, env=known | env)

    def finish(self, started: Started) -> int:
        ran = started.wait()
        self.printed.append(ran.out.splitlines(keepends=True))
        return ran.code

    def run(self, *arguments: str, **env: str) -> int:
        return self.finish(self.start(*arguments, **env))

    def carry_on(self, name: str = "last", **env: str) -> None:
        """A new process takes up what is there, and one more prompt behind it."""
        assert self.run("-p", f"do {name}", *self.go_on(), **env) == 0, self.printed[-1][-3:]

    def go_on(self) -> list[str]:
        """The flag for a further process, unless the first one died before there was a session."""
        database = self.coder.home / "sessions.db"
        return ["--continue"] if database.exists() and read_logs(database) else []

    def wait_until_paused(self, started: Started) -> None:
        """Until the process has stopped itself."""
        status = Path(f"/proc/{started.pid}/stat")
        assert wait_until(lambda: ") T " in status.read_text(), else_return=lambda: ["did not stop"]) == []

    def kill_at_random_moments(self, seed: int, *, between: tuple[float, float]) -> None:
        """One to three processes die on the same turn, each some time after its start, and so does the last."""
        chance = random.Random(seed)
        started = self.start("-p", "do first")
        for number in range(chance.randint(1, 3)):
            time.sleep(chance.uniform(*between))
            started.process.kill()
            self.finish(started)
            started = self.start("-p", f"do more{number}", *self.go_on())
        started.process.kill()
        self.finish(started)

    def append_without_comparing(self) -> None:
        """Both processes saw the same prompt waiting; the one that was paused starts it again."""
        first = self.start("-p", "do first", CODER_PAUSE="before:turn.started:1", CODER_MUTANT="no-compare")
        self.wait_until_paused(first)
        self.carry_on()
        first.send(signal.SIGCONT)
        self.finish(first)

    def run_calls_twice(self) -> None:
        assert self.run("-p", "do first", CODER_CRASH="after:tool.ran:2") == -9
        assert self.run("-p", "do last", "--continue", CODER_MUTANT="rerun") == 0

    def check(self) -> None:
        """Every promise, on what is on disk, in the folder, on the wire and in the process table."""
        log = self.log()
        check_settled(log)
        check_effects(log, self.effects())
        for lines in self.printed:
            check_acknowledged(log, lines)
        assert self.server.violations == []
        assert self.left_over() == []
        for path in (self.coder.cwd / ".coder" / "sessions").glob("*.json"):
            json.loads(path.read_text())

    def log(self) -> list[Event]:
        (log,) = read_logs(self.coder.home / "sessions.db").values()
        return log

    def effects(self) -> list[str]:
        path = self.coder.cwd / "effects"
        return path.read_text().split() if path.exists() else []

    def left_over(self) -> list[str]:
        """Processes of this journey that still run, given a moment to be gone."""
        return wait_until(lambda: not self._running(), else_return=self._running)

    def _running(self) -> list[str]:
        marker = f"HOME={self.coder.home}".encode()
        found: list[str] = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            if marker in _environment(entry) or _folder(entry) == str(self.coder.cwd):
                found.append(_command_line(entry))
        return found


def wait_until(
    done: Callable[[], bool], else_return: Callable[[], list[str]], seconds: float = PATIENCE
) -> list[str]:
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return else_return()
        time.sleep(0.01)
    return []


def _environment(process: Path) -> Sequence[bytes]:
    try:
        return (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _folder(process: Path) -> str:
    """Where a process is: what was forked has the environment of the fork server in /proc."""
    try:
        return os.readlink(process / "cwd")
    except OSError:
        return ""


def _command_line(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
