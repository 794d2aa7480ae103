"""kill -9 in mid-command, then another process: how soon the model hears of it.

Nothing comparable exists to measure against: the floor is the start of the floor, which carries
nothing on.
"""

import os
import signal
import time

from bench.compare import alternate
from bench.job import DONE
from bench.lab import CODER, YOLO, Lab, lab
from bench.server import answer
from bench.table import Row, at_most
from tests.model_server import bash, proposes

SLEEPS = answer(proposes(bash("touch running; sleep 60")))


def measure() -> list[Row]:
    with lab() as here:
        runs = alternate(10, lambda: _killed_to_asked(here), lambda: here.floor([DONE]).first_request_ms)
    return [Row("kill -9 to the next process's request", "ms", *runs.median(float), at_most(300, "ms"))]


def _killed_to_asked(here: Lab) -> float:
    here.server.play([SLEEPS, DONE, DONE])
    pid, began = here.start([*CODER, "-p", "hi", *YOLO])
    here.wait_for_file("running")
    killed = time.perf_counter()
    os.kill(pid, signal.SIGKILL)
    second, second_began = here.start([*CODER, "-p", "go on", "--continue", *YOLO])
    here.wait(pid, began, code=-signal.SIGKILL)
    here.wait(second, second_began)
    carried_on = here.server.exchanges[1]
    assert b"may have run" in carried_on.request_end
    return (carried_on.arrived - killed) * 1000
