"""The same step late in a long session: does it grow with the history?"""

from collections.abc import Sequence
from statistics import median

from bench.compare import alternate
from bench.job import job
from bench.lab import YOLO, Ran, lab
from bench.table import Row, at_most_over

MARKS = (10, 200, 1000)
AROUND = 7  # steps on either side: five of each kind


def measure() -> list[Row]:
    answers = job(MARKS[-1] + AROUND)
    with lab() as here:
        arguments = (*YOLO, "--max-steps", str(len(answers)))
        runs = alternate(2, lambda: here.coder(answers, *arguments), lambda: here.floor(answers), warm_up=0)
    whole = runs.median(lambda ran: ran.cpu)
    return [
        Row(
            f"tool step around {mark} of one session",
            "ms",
            _around(mark, runs.ours),
            _around(mark, runs.floor),
            at_most_over(5, "ms"),
            whole if mark == MARKS[-1] else None,
        )
        for mark in MARKS
    ]


def _around(mark: int, runs: Sequence[Ran]) -> float:
    return median(ms for ran in runs for ms in ran.step_ms[mark - AROUND - 1 : mark + AROUND])
