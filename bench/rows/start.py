"""One trivial turn: how soon the model is asked, and what the whole costs."""

from bench.compare import alternate
from bench.job import DONE
from bench.lab import lab
from bench.table import Row, at_most, at_most_times


def measure() -> list[Row]:
    with lab() as here:
        runs = alternate(15, lambda: here.coder([DONE]), lambda: here.floor([DONE]))
    cpu = runs.median(lambda ran: ran.cpu)
    return [
        Row("start to first model request", "ms", *runs.median(lambda ran: ran.first_request_ms), at_most_times(2.7)),
        Row("one trivial turn, start to end", "ms", *runs.median(lambda ran: ran.ms), cpu=cpu),
        Row("one trivial turn, CPU", "s", *cpu, at_most(0.2, "s"), cpu),
        Row("one trivial turn, peak memory", "MB", *runs.median(lambda ran: ran.rss), at_most(60, "MB")),
    ]
