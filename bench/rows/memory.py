"""How large the process gets in a session of 200 steps."""

from bench.compare import alternate
from bench.job import job
from bench.lab import YOLO, lab
from bench.table import Row

STEPS = 200


def measure() -> list[Row]:
    answers = job(STEPS)
    with lab() as here:
        arguments = (*YOLO, "--max-steps", str(len(answers)))
        runs = alternate(2, lambda: here.coder(answers, *arguments), lambda: here.floor(answers))
    rss, cpu = runs.median(lambda ran: ran.rss), runs.median(lambda ran: ran.cpu)
    return [Row("200-step session, peak memory", "MB", *rss, cpu=cpu)]
