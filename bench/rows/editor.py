"""`coder acp` as an editor feels it: how soon it can be spoken to, and how soon a prompt reaches the model."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import IO, Any

from msgspec import Struct

from bench.compare import alternate
from bench.job import DONE
from bench.lab import CODER, Lab, lab
from bench.table import Line, Missing, Row, at_most_over, at_most_times

TIMES = 15
PEER_TIMES = 5
FLOOR = [sys.executable, str(Path(__file__).parent.parent / "editor_floor.py")]
PEERS = {"opencode acp": ("opencode", "acp"), "gemini --acp": ("gemini", "--acp")}
_LEAVING_SECONDS = 10
_INITIALIZE: dict[str, Any] = {"protocolVersion": 1, "clientCapabilities": {}}


class Spoken(Struct, frozen=True):
    """Milliseconds from the start of the program to its first answer, from a new session to its answer, and from a
    prompt to the request to the model."""

    initialized: float
    opened: float
    asked: float


def measure() -> list[Line]:
    with lab() as here:
        runs = alternate(TIMES, lambda: _spoken(here, [*CODER, "acp"]), lambda: _spoken(here, FLOOR))
        rows: list[Line] = [
            Row("coder acp, start to the answer to initialize", "ms", *runs.median(_first), at_most_times(4)),
            Row("- session/new", "ms", *runs.median(lambda ran: ran.opened), at_most_over(50, "ms")),
            Row(
                "- prompt to the first model request",
                "ms",
                *runs.median(lambda ran: ran.asked),
                at_most_over(25, "ms"),
            ),
        ]
        return [*rows, *(_peer(here, name, argv) for name, argv in PEERS.items())]


def _first(ran: Spoken) -> float:
    return ran.initialized


def _peer(here: Lab, name: str, argv: Sequence[str]) -> Line:
    what = f"- {name}, start to the answer to initialize"
    if shutil.which(argv[0]) is None:
        return Missing(what, "not installed here")
    return Row(what, "ms", median(_initialized(here, argv) for _ in range(PEER_TIMES)))


def _initialized(here: Lab, argv: Sequence[str]) -> float:
    with _program(here, argv) as program:
        return (program.ask("initialize", **_INITIALIZE)[0] - program.began) * 1000


def _spoken(here: Lab, argv: Sequence[str]) -> Spoken:
    here.server.play([DONE])
    with _program(here, argv) as program:
        initialized, _ = program.ask("initialize", **_INITIALIZE)
        opened, session = program.ask("session/new", cwd=str(here.work), mcpServers=[])
        time.sleep(0.3)  # as a person would: by then, what is looked up after the answer is known
        prompted = time.perf_counter()
        program.ask("session/prompt", sessionId=session["sessionId"], prompt=[{"type": "text", "text": "hi"}])
    arrived = here.server.exchanges[0].arrived
    return Spoken((initialized - program.began) * 1000, (opened - initialized) * 1000, (arrived - prompted) * 1000)


class _Program:
    """A program that answers requests, one on each line."""

    def __init__(self, reads: IO[bytes], writes: IO[bytes], began: float) -> None:
        self.began = began
        self._reads = reads
        self._writes = writes
        self._key = 0

    def ask(self, method: str, **params: Any) -> tuple[float, dict[str, Any]]:
        """When the answer was here, and its result."""
        self._key += 1
        message = {"jsonrpc": "2.0", "id": self._key, "method": method, "params": params}
        self._writes.write(json.dumps(message).encode() + b"\n")
        self._writes.flush()
        for line in self._reads:
            arrived = time.perf_counter()
            said = json.loads(line)
            if said.get("id") == self._key and "method" not in said:
                return arrived, said["result"]
        raise RuntimeError(f"no answer to {method}")


@contextmanager
def _program(here: Lab, argv: Sequence[str]) -> Generator[_Program]:
    began = time.perf_counter()
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    process = subprocess.Popen(argv, cwd=here.work, env=here.env, stdin=pipe, stdout=pipe, stderr=nothing)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield _Program(process.stdout, process.stdin, began)
    finally:
        process.stdin.close()
        try:
            process.wait(_LEAVING_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
