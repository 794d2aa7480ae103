"""Streamed tokens, each an event and an HTTP chunk of its own.

Once as fast as the client takes them, where it may join what has piled up; once with a pause after each,
as a person sees them, where every token costs a wake-up.
"""

from collections.abc import Sequence

from bench.compare import alternate
from bench.lab import Lab, lab
from bench.server import Answer, answer
from bench.table import Budget, Row, at_most
from tests.model_server import tokens

FAST, SLOW, PAUSE = 20_000, 2000, 0.0002
FORMS = ("text", "stream-json")


def measure() -> list[Row]:
    fast, slow = [answer(tokens(FAST), events_per_write=8)], [answer(tokens(SLOW), events_per_write=1)]
    budget = at_most(0.45, "s")
    with lab() as here:
        return [
            *(_row(f"20,000 tokens at once, {form}, CPU", here, fast, form, 0.0, budget) for form in FORMS),
            *(_row(f"2,000 tokens one by one, {form}, CPU", here, slow, form, PAUSE) for form in FORMS),
        ]


def _row(
    what: str, here: Lab, answers: Sequence[Answer], form: str, pause: float, budget: Budget | None = None
) -> Row:
    runs = alternate(
        5, lambda: here.coder(answers, "--output", form, pause=pause), lambda: here.floor(answers, pause)
    )
    cpu = runs.median(lambda ran: ran.cpu)
    return Row(what, "s", *cpu, budget, cpu)
