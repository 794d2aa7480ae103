"""The web server: CPU for each event that each client is given, beside bare Starlette."""

import json

from bench.lab import Lab, lab
from bench.processes import FAN_OUT
from bench.table import INFORMATIONAL, Row, at_most_times

RUNS = 3


def measure() -> list[Row]:
    with lab() as here:
        return [row for clients in (1, 100, 1000) for row in _rows(here, clients)]


def _rows(here: Lab, clients: int) -> list[Row]:
    floor, ours, batched = (_cost(here, kind, clients) for kind in ("floor", "ours", "batched"))
    who = "1 client" if clients == 1 else f"{clients:,} clients"
    return [
        Row(f"web, an event to {who}, CPU per delivery", "us", ours, floor, at_most_times(1.5)),
        Row("- in arrays, one per 16 ms", "us", batched, floor, INFORMATIONAL),
    ]


def _cost(here: Lab, kind: str, clients: int) -> float:
    """The least of some runs: others on the machine only add to it."""
    report = here.work / "fan_out.json"
    costs: list[float] = []
    for _ in range(RUNS):
        here.wait(*here.start([*FAN_OUT, kind, str(clients), str(report)]))
        costs.append(json.loads(report.read_text())["us"])
    return min(costs)
