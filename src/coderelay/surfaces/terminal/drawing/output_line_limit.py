"""Shortens long texts to their first and last rows, as the person wants it (`display.output_lines`, `/output`)."""

from collections.abc import Iterable

from coderelay.client.i18n import t
from coderelay.surfaces.terminal.drawing.ansi_styles import DIM, paint

_BAR = "│ "
_HEAD_SHARE = 3  # one third of the rows from the beginning, the rest from the end, where commands say how they ended


class Shortening:
    """Shortens what one call prints. `lines` is how many rows are left; 0 leaves everything as it is. With
    `everything`, diffs and thoughts are shortened, too. `left_out` counts the rows that were left out so far."""

    def __init__(self, lines: int = 0, *, everything: bool = False) -> None:
        self._lines = lines
        self._everything = everything
        self.left_out = 0

    def output(self, rows: Iterable[str]) -> list[str]:
        """What a tool has printed."""
        return self._cut(list(rows))

    def other(self, rows: Iterable[str], start: str = _BAR) -> list[str]:
        """What is shown in full except in a history: diffs, thoughts, prompts. Their rows begin with `start`."""
        return self._cut(list(rows), start) if self._everything else list(rows)

    def _cut(self, rows: list[str], start: str = _BAR) -> list[str]:
        if not self._lines or len(rows) <= self._lines + 1:  # the row that says so takes the place of one
            return rows
        head = self._lines // _HEAD_SHARE
        tail = self._lines - head
        count = len(rows) - head - tail
        self.left_out += count
        told = (
            t("… 1 more line (Ctrl+T shows it)")
            if count == 1
            else t("… {count} more lines (Ctrl+T shows them)", count=f"{count:,}")
        )
        return [*rows[:head], paint(f"{start}{told}", DIM), *rows[-tail:]]
