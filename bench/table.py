"""Rows, the budgets they must keep to, and how they are printed."""

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

Unit = Literal["ms", "us", "s", "MB", "/s", "cores", ""]
"""Nothing: a number of things."""


class Budget(Struct, frozen=True):
    """`holds` compares our value with the floor's, if there is one. Without it, nothing is promised."""

    text: str
    holds: Callable[[float, float], bool] | None = None


INFORMATIONAL = Budget("informational")


def at_most(value: float, unit: Unit) -> Budget:
    return Budget(f"≤ {value:g} {unit}".rstrip(), lambda ours, floor: ours <= value)


def at_least(value: float, unit: Unit) -> Budget:
    return Budget(f"≥ {value:,g} {unit}", lambda ours, floor: ours >= value)


def at_most_times(ratio: float) -> Budget:
    return Budget(f"≤ {ratio:g}x", lambda ours, floor: ours <= ratio * floor)


def at_least_times(ratio: float) -> Budget:
    return Budget(f"≥ {ratio:g}x", lambda ours, floor: ours >= ratio * floor)


def at_most_over(more: float, unit: Unit) -> Budget:
    return Budget(f"≤ floor + {more:g} {unit}", lambda ours, floor: ours <= floor + more)


class Row(Struct, frozen=True):
    """Medians, if `what` says nothing else. No floor: nothing is there to compare with. `cpu` is what ours and the
    floor used for all that was measured, in seconds."""

    what: str
    unit: Unit
    ours: float
    floor: float | None = None
    budget: Budget | None = None
    cpu: tuple[float, float] | None = None

    def cells(self) -> list[str]:
        ours_cpu, floor_cpu = (f"{each:.3f}" for each in self.cpu) if self.cpu else ("", "")
        return [
            self.what,
            shown(self.ours, self.unit),
            shown(self.floor, self.unit) if self.floor else "–",
            f"{self.ours / self.floor:.2f}" if self.floor else "",
            ours_cpu,
            floor_cpu,
            self.budget.text if self.budget else "",
            self._met(),
        ]

    @property
    def is_missed(self) -> bool:
        return self._met() == "NO"

    def told(self) -> str:
        """The figure and its budget, in a few words."""
        ratio = f", {self.ours / self.floor:.2f}x" if self.floor else ""
        return f"{shown(self.ours, self.unit)}{ratio}; the budget is {self.budget.text if self.budget else 'none'}"

    def _met(self) -> str:
        if self.budget is None or self.budget.holds is None:
            return ""
        return "yes" if self.budget.holds(self.ours, self.floor or 0.0) else "NO"


class Missing(Struct, frozen=True):
    """A row that cannot be measured here, and why."""

    what: str
    why: str

    def cells(self) -> list[str]:
        return [self.what, self.why, *[""] * (len(HEAD) - 2)]


Line = Row | Missing
HEAD = ["what", "coder", "floor", "ratio", "CPU s", "floor CPU", "budget", "met"]


def text(rows: Sequence[Line]) -> str:
    """Columns for a terminal."""
    cells = [HEAD, *(row.cells() for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rule = ["-" * width for width in widths]
    return "\n".join(_aligned(line, widths) for line in [HEAD, rule, *cells[1:]])


def markdown(rows: Sequence[Line]) -> str:
    rule = ["---", *["--:"] * 5, "---", "---"]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [HEAD, rule, *(row.cells() for row in rows)])


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.ljust(width) if column in (0, 6, 7) else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join([first, *others]).rstrip()


def shown(value: float, unit: Unit) -> str:
    if not unit:
        return f"{value:,.0f}"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {unit}"
