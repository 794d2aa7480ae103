"""How long something took in this process: wall milliseconds and CPU seconds of all its threads."""

import time
from collections.abc import Generator
from contextlib import contextmanager

from msgspec import Struct


class Took(Struct):
    ms: float = 0.0
    cpu: float = 0.0


@contextmanager
def stopwatch() -> Generator[Took]:
    took = Took()
    cpu, began = time.process_time(), time.perf_counter()
    yield took
    took.ms = (time.perf_counter() - began) * 1000
    took.cpu = time.process_time() - cpu
