"""Rows, the budgets they must keep to, and how they are printed."""

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

Unit = Literal["ms", "s", "MB", "/s"]


class Budget(Struct, frozen=True):
    text: str
    holds: Callable[[float, float], bool]  # of our value and the floor's


def at_most(value: float, unit: Unit) -> Budget:
    return Budget(f"≤ {value:g} {unit}", lambda ours, floor: ours <= value)


def at_most_times(ratio: float) -> Budget:
    return Budget(f"≤ {ratio:g}x", lambda ours, floor: ours <= ratio * floor)


def at_least_times(ratio: float) -> Budget:
    return Budget(f"≥ {ratio:g}x", lambda ours, floor: ours >= ratio * floor)


def at_most_over(more: float, unit: Unit) -> Budget:
    return Budget(f"≤ floor + {more:g} {unit}", lambda ours, floor: ours <= floor + more)


class Row(Struct, frozen=True):
    """Medians. `cpu` is what ours and the floor used for all that was measured, in seconds."""

    what: str
    unit: Unit
    ours: float
    floor: float
    budget: Budget | None = None
    cpu: tuple[float, float] | None = None

    def cells(self) -> list[str]:
        ours_cpu, floor_cpu = (f"{each:.3f}" for each in self.cpu) if self.cpu else ("", "")
        met = "" if self.budget is None else "yes" if self.budget.holds(self.ours, self.floor) else "NO"
        return [
            self.what,
            _value(self.ours, self.unit),
            _value(self.floor, self.unit),
            f"{self.ours / self.floor:.2f}",
            ours_cpu,
            floor_cpu,
            self.budget.text if self.budget else "",
            met,
        ]


HEAD = ["what", "coder", "floor", "ratio", "CPU s", "floor CPU", "budget", "met"]


def text(rows: Sequence[Row]) -> str:
    """Columns for a terminal."""
    cells = [HEAD, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rule = ["-" * width for width in widths]
    return "\n".join(_aligned(line, widths) for line in [HEAD, rule, *cells[1:]])


def markdown(rows: Sequence[Row]) -> str:
    rule = ["---", *["--:"] * 5, "---", "---"]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [HEAD, rule, *(row.cells() for row in rows)])


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.ljust(width) if column in (0, 6, 7) else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join([first, *others]).rstrip()


def _value(value: float, unit: Unit) -> str:
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {unit}"
