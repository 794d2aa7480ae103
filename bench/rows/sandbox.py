"""A command in the sandbox beside the same one outside, in a repository; and what its start costs, once a session."""

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from bench.compare import alternate
from bench.table import INFORMATIONAL, Line, Missing, Row, at_most_over
from coderelay.workspace.processes.command_runner import Processes
from coderelay.workspace.processes.environment import command_environment
from coderelay.workspace.processes.session_command_runner import CommandContext, SessionCommandRunner
from coderelay.workspace.sandbox.sandbox_backend import BACKENDS, SandboxBackend
from coderelay.workspace.sandbox.sandbox_probe import probe
from coderelay.workspace.sandbox.session_sandbox import Sandbox

TIMES, STARTS, IDLE = 40, 5, 5
ARGV = ["bash", "--noprofile", "--norc", "-c", "true"]


class Scene:
    def __init__(self, place: Path, backend: SandboxBackend, runner: asyncio.Runner) -> None:
        self._home, self._work = str(place / "home"), str(place / "work")
        self._backend: SandboxBackend = backend
        self._runner = runner
        self._plain = Processes()
        self._environment = command_environment(os.environ)
        subprocess.run(["git", "init", "-q", self._work], check=True)
        self._sandbox = self._new()
        self._commands = self._commands_in(self._sandbox)

    def inside(self) -> float:
        return self._timed(lambda: self._commands.run(ARGV, seconds=60))

    def outside(self) -> float:
        return self._timed(lambda: self._commands.run(ARGV, seconds=60, rights=["outside"]))

    def first(self) -> float:
        sandbox = self._new()
        ms = self._timed(lambda: self._commands_in(sandbox).run(ARGV, seconds=60))
        self._runner.run(sandbox.close())
        return ms

    def probe(self) -> float:
        began = time.perf_counter()
        assert probe(self._backend, self._home) == ""
        return (time.perf_counter() - began) * 1000

    def idle_megabytes(self) -> float:
        """What one more sandbox that waits takes of memory: what it shares is counted in parts."""
        sandboxes = [self._new() for _ in range(IDLE)]
        for each in sandboxes:
            self._timed(lambda each=each: self._commands_in(each).run(ARGV, seconds=60))
        total = sum(_megabytes(pid) for pid in _descendants(os.getpid()))
        for each in sandboxes:
            self._runner.run(each.close())
        return (total - sum(_megabytes(pid) for pid in _descendants(os.getpid()))) / IDLE

    def close(self) -> None:
        self._runner.run(self._sandbox.close())
        self._runner.run(self._plain.close())

    def _new(self) -> Sandbox:
        return Sandbox(
            coder_home=self._home, folders=(self._work,), environment=self._environment, backend=self._backend
        )

    def _commands_in(self, sandbox: Sandbox) -> SessionCommandRunner:
        return SessionCommandRunner(
            self._plain, self._environment, self._work, sandbox=lambda: sandbox, wanted=CommandContext, variables={}
        )

    def _timed(self, work: Callable[[], Coroutine[Any, Any, object]]) -> float:
        async def run() -> float:
            began = time.perf_counter()
            await work()
            return (time.perf_counter() - began) * 1000

        return self._runner.run(run())


def measure() -> list[Line]:
    return [line for backend in BACKENDS for line in _rows(backend)]


def _rows(backend: SandboxBackend) -> list[Line]:
    with tempfile.TemporaryDirectory(prefix="coder-bench-") as folder, asyncio.Runner() as runner:
        if reason := probe(backend, folder):
            return [Missing(f"a command in {backend}", reason)]
        scene = Scene(Path(folder), backend, runner)
        commands = alternate(TIMES, scene.inside, scene.outside, warm_up=3).median(float)
        first = sorted(scene.first() for _ in range(STARTS))[STARTS // 2]
        tried = sorted(scene.probe() for _ in range(STARTS))[STARTS // 2]
        idle = scene.idle_megabytes()
        scene.close()
    is_best = backend == BACKENDS[0]
    return [
        Row(f"a command in {backend}", "ms", *commands, at_most_over(8, "ms") if is_best else INFORMATIONAL),
        Row(f"the first command in {backend}", "ms", first, None, INFORMATIONAL),
        Row(f"trying {backend}, once for a machine", "ms", tried, None, INFORMATIONAL),
        Row(f"an idle {backend}, for a minute", "MB", idle, None, INFORMATIONAL),
    ]


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            children = Path(f"/proc/{pid}/task/{task}/children").read_text().split()
        except OSError:
            continue
        for child in map(int, children):
            found += [child, *_descendants(child)]
    return found


def _megabytes(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
