"""A permission asked in one process and answered in another: from the answer in the log to what comes of it.

Two cases: the process that asked is there and goes on, or it was killed and the one that answered goes on.
Both processes have been running for a while; their start is not in it. Nobody else has this, so there is no floor.
"""

import os
import signal
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from statistics import median

from msgspec import Struct

from bench.job import DONE
from bench.lab import Lab, lab
from bench.percentile import p95
from bench.processes import ANSWERER, OPENER
from bench.server import answer
from bench.table import Row, at_most
from tests.model_server import bash, proposes

ASKS = 50
ASKS_FOR_A_COMMAND = answer(proposes(bash("echo $EPOCHREALTIME >> effects")))
BUDGET = at_most(150, "ms")


class Delays(Struct, frozen=True):
    """Milliseconds after the answer: until the call's start was in the log, and until its command ran."""

    started: Sequence[float]
    ran: Sequence[float]


def measure() -> list[Row]:
    with lab() as here:
        stayed = _owner_stays(here)
    with lab() as here:
        gone = _owner_is_gone(here)
    return [
        Row("answered in another process, command runs, p50", "ms", median(stayed.ran)),
        Row("answered in another process, command runs, p95", "ms", p95(stayed.ran), None, BUDGET),
        Row("- its start is in the log, p50", "ms", median(stayed.started)),
        Row("- its start is in the log, p95", "ms", p95(stayed.started), None, BUDGET),
        Row("the same, asking process killed, p50", "ms", median(gone.ran)),
        Row("the same, asking process killed, p95", "ms", p95(gone.ran), None, BUDGET),
    ]


def _owner_stays(here: Lab) -> Delays:
    """One session, one ask after the other."""
    here.server.play([*[ASKS_FOR_A_COMMAND] * ASKS, DONE])
    opener = here.start([*OPENER, "1"])
    here.wait_for_file("opened")
    answerer = here.start(ANSWERER)
    here.wait(*answerer)
    here.wait(*opener)
    return _delays(here)


def _owner_is_gone(here: Lab) -> Delays:
    """Sessions with one ask each: whoever answers one would have the next ask of the same session by itself."""
    here.server.play([*[ASKS_FOR_A_COMMAND] * ASKS, *[DONE] * ASKS])
    pid, began = here.start([*OPENER, str(ASKS)])
    here.wait_for_file("opened")
    os.kill(pid, signal.SIGKILL)
    here.wait(pid, began, code=-signal.SIGKILL)
    here.wait(*here.start(ANSWERER))
    return _delays(here)


def _delays(here: Lab) -> Delays:
    answered, started = _times(here, "ask.answered"), _times(here, "call.started")
    ran = [float(line) * 1000 for line in (here.work / "effects").read_text().split()]
    return Delays(_differences(answered, started), _differences(answered, ran))


def _times(here: Lab, kind: str) -> list[float]:
    """When such events were written, in milliseconds of the wall clock."""
    with closing(sqlite3.connect(here.home / "sessions.db")) as log:
        return [at for (at,) in log.execute("SELECT at FROM event WHERE kind = ? ORDER BY at", (kind,))]


def _differences(before: Sequence[float], after: Sequence[float]) -> list[float]:
    return [late - early for early, late in zip(before, after, strict=True)]
