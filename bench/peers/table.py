"""What was measured, one column for each contestant; and what there is to say about them."""

from collections.abc import Callable, Sequence
from statistics import median

from msgspec import Struct

from bench.job import KINDS, kind_of
from bench.lab import Ran
from bench.peers.contest import Contest
from bench.peers.contestant import STEPS, TOKENS, TURN, VERSION, Contestant, Job
from bench.percentile import p95
from bench.table import Unit, shown


class Row(Struct, frozen=True):
    what: str
    unit: Unit
    job: Job
    of: Callable[[Sequence[Ran]], float]

    def cell(self, contestant: Contestant) -> str:
        ran = contestant.ran(self.job)
        return shown(self.of(ran), self.unit) if ran else "–"


def _median(of: Callable[[Ran], float]) -> Callable[[Sequence[Ran]], float]:
    return lambda runs: median(map(of, runs))


def _steps(runs: Sequence[Ran], kind: str | None = None) -> list[float]:
    return [ms for ran in runs for step, ms in enumerate(ran.step_ms) if kind in (None, kind_of(step))]


def _of_kind(kind: str) -> Callable[[Sequence[Ran]], float]:
    return lambda runs: median(_steps(runs, kind))


ROWS = [
    Row("--version", "ms", VERSION, _median(lambda ran: ran.ms)),
    Row("start to first model request", "ms", TURN, _median(lambda ran: ran.first_request_ms)),
    Row("one trivial turn, start to end", "ms", TURN, _median(lambda ran: ran.ms)),
    Row("one trivial turn, CPU", "s", TURN, _median(lambda ran: ran.cpu)),
    Row("one trivial turn, peak memory", "MB", TURN, _median(lambda ran: ran.rss)),
    Row("tool step, median of 30", "ms", STEPS, lambda runs: median(_steps(runs))),
    Row("tool step, p95", "ms", STEPS, lambda runs: p95(_steps(runs))),
    *(Row(f"- {kind} step", "ms", STEPS, _of_kind(kind)) for kind in KINDS),
    Row("30-step job, CPU", "s", STEPS, _median(lambda ran: ran.cpu)),
    Row("30-step job, peak memory", "MB", STEPS, _median(lambda ran: ran.rss)),
    Row("20,000 tokens at once, start to end", "ms", TOKENS, _median(lambda ran: ran.ms)),
    Row("20,000 tokens at once, CPU", "s", TOKENS, _median(lambda ran: ran.cpu)),
]


def text(contest: Contest) -> str:
    cells = _cells(contest)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths])
    lines = ["  ".join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]) for first, *others in cells]
    return "\n".join([*lines, "", *_notes(contest)])


def markdown(contest: Contest) -> str:
    head, *rows = _cells(contest)
    rule = ["---", *["--:"] * (len(head) - 1)]
    lines = [f"| {' | '.join(cells)} |" for cells in [head, rule, *rows]]
    return "\n".join([*lines, "", *(f"- {note}" for note in _notes(contest))])


def _cells(contest: Contest) -> list[list[str]]:
    head = ["what", *(f"{each.name} {each.version}".strip() for each in contest.contestants)]
    return [head, *([row.what, *map(row.cell, contest.contestants)] for row in ROWS)]


def _notes(contest: Contest) -> list[str]:
    made = [f"{each.name}: {note}" for each in contest.contestants for note in each.notes()]
    return [*made, f"not found: {', '.join(contest.not_found)}"] if contest.not_found else made
