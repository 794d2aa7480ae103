"""What a tool step costs beside the model: from the last byte of an answer to the next request."""

from collections.abc import Sequence
from statistics import median

from bench.compare import alternate
from bench.job import KINDS, job, kind_of
from bench.lab import YOLO, Ran, lab
from bench.percentile import p95
from bench.table import Row, at_most

STEPS = 30


def measure() -> list[Row]:
    answers = job(STEPS)
    with lab() as here:
        runs = alternate(8, lambda: here.coder(answers, *YOLO), lambda: here.floor(answers))
    ours, floor = _steps(runs.ours), _steps(runs.floor)
    cpu = runs.median(lambda ran: ran.cpu)
    return [
        Row("tool step, median of 30", "ms", median(ours), median(floor), at_most(5, "ms"), cpu),
        Row("tool step, p95", "ms", p95(ours), p95(floor), at_most(15, "ms")),
        *(
            Row(f"- {kind} step", "ms", median(_steps(runs.ours, kind)), median(_steps(runs.floor, kind)))
            for kind in KINDS
        ),
    ]


def _steps(runs: Sequence[Ran], kind: str | None = None) -> list[float]:
    return [ms for ran in runs for step, ms in enumerate(ran.step_ms) if kind in (None, kind_of(step))]
