"""What a tool brought: behind a bar, so that it cannot be taken for anything that we say."""

from collections.abc import Iterable

from coderelay.surfaces.terminal.drawing.columns import rows_of
from coderelay.surfaces.terminal.drawing.paint import DIM, paint
from coderelay.surfaces.terminal.drawing.printable import printable

_BAR = "│ "


def drawn_output(text: str, width: int, style: str = DIM) -> list[str]:
    """In its own colours as far as it has any."""
    text = printable(text, keep_colours=True).expandtabs(8)
    room = within(width)
    return behind_bar(paint(row, style) for line in text.split("\n") for row in rows_of(line.rstrip(), room))


def behind_bar(lines: Iterable[str], style: str = DIM, bar: str = _BAR) -> list[str]:
    mark, bare = paint(bar, style), paint(bar.rstrip(), style)
    return [f"{mark}{line}" if line else bare for line in lines]


def within(width: int) -> int:
    return max(width - len(_BAR), 8)
