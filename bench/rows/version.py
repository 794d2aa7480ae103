"""`coder --version` beside a Python that does nothing."""

import sys

from bench.compare import alternate
from bench.lab import CODER, lab
from bench.table import Row, at_most


def measure() -> list[Row]:
    with lab() as here:
        runs = alternate(
            20, lambda: here.run([*CODER, "--version"]), lambda: here.run([sys.executable, "-c", "pass"])
        )
    ms, cpu = runs.median(lambda ran: ran.ms), runs.median(lambda ran: ran.cpu)
    return [Row("coder --version (floor: python -c pass)", "ms", *ms, at_most(30, "ms"), cpu)]
