"""Tables: columns as wide as what is in them, narrower if there is no room; then cells have several lines."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from coderelay.surfaces.terminal.drawing.columns import rows_of, width_of
from coderelay.surfaces.terminal.drawing.paint import BOLD, DIM, paint, without_colours
from coderelay.surfaces.terminal.drawing.wrapping import Span, joined, wrap

Side = Literal["left", "right", "center"]
Cell = list[Span]
_BETWEEN, _RULE = " │ ", "─┼─"
_NARROWEST = 6


class Table(Struct, frozen=True):
    head: list[Cell]
    rows: list[list[Cell]]
    sides: list[Side]


def drawn_table(table: Table, width: int) -> list[str]:
    natural = [max(map(_width, column)) for column in zip(table.head, *table.rows, strict=True)]
    room = width - len(_BETWEEN) * (len(natural) - 1)
    if room < min(_NARROWEST * len(natural), sum(natural)):
        return _as_list(table, width)
    widths = _fitted(natural, room)
    head = [[(text, f"{style};{BOLD}" if style else BOLD) for text, style in cell] for cell in table.head]
    drawn = [_row(cells, widths, table.sides) for cells in [head, *table.rows]]
    rule = paint(_RULE.join("─" * each for each in widths), DIM)
    many = any(len(row) > 1 for row in drawn[1:])
    lines = [*drawn[0], rule]
    for number, row in enumerate(drawn[1:]):
        lines += [rule, *row] if many and number else row
    return lines


def _width(cell: Cell) -> int:
    return max(width_of(line) for line in "".join(text for text, _ in cell).split("\n"))


def _fitted(natural: Sequence[int], room: int) -> list[int]:
    """Those that are narrow keep their width, the wide ones share the rest."""
    widths = dict[int, int]()
    for number, wanted in sorted(enumerate(natural), key=lambda each: each[1]):
        share = (room - sum(widths.values())) // (len(natural) - len(widths))
        widths[number] = max(1, min(wanted, share))
    return [widths[number] for number in range(len(natural))]


def _row(cells: Sequence[Cell], widths: Sequence[int], sides: Sequence[Side]) -> list[str]:
    columns = [
        [row for line in wrap(cell, width) for row in rows_of(joined(line), width)]
        for cell, width in zip(cells, widths, strict=True)
    ]
    lines: list[str] = []
    for number in range(max(map(len, columns))):
        texts = [column[number] if number < len(column) else "" for column in columns]
        padded = [_padded(*each) for each in zip(texts, widths, sides, strict=True)]
        lines.append(paint(_BETWEEN, DIM).join(padded).rstrip())
    return lines


def _padded(text: str, width: int, side: Side) -> str:
    free = width - width_of(without_colours(text))
    left = 0 if side == "left" else free if side == "right" else free // 2
    return " " * left + text + " " * (free - left)


def _as_list(table: Table, width: int) -> list[str]:
    """Where a table has no room: each row a few lines, each with its heading."""
    lines: list[str] = []
    for row in table.rows:
        lines += [""] if lines else []
        for name, cell in zip(table.head, row, strict=True):
            label = [(text, BOLD) for text, _ in name]
            lines += map(joined, wrap([*label, (": ", BOLD), *cell] if label else cell, width))
    return lines
