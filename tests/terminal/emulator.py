"""A terminal as people have it: pyte's screen, with scrollback, wide characters and lines that wrap anew.

What pyte leaves out and a REPL meets: a joiner or a variation selector ends what pyte draws; a wide character does
not fit into the last column; a smaller window loses lines.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import pyte
from pyte.modes import DECAWM
from pyte.screens import Char, StaticDefaultDict
from wcwidth import wcwidth


class Row(StaticDefaultDict[int, Char]):
    """Cells by column. `goes_on` when the terminal, not the program, began the next row."""

    goes_on = False

    def cells(self, columns: int) -> list[Char]:
        """Without the blanks at its end, except where the text goes on."""
        last = max((at for at, cell in self.items() if self.goes_on or not _is_blank(cell)), default=-1)
        return [self[at] for at in range(min(last + 1, columns))]


class Emulator(pyte.Screen):
    def __init__(self, columns: int, rows: int) -> None:
        self.answers: list[str] = []
        self.bells = 0
        self.scrollback: list[Row] = []
        self._settled: list[str] = []
        self._settled_rows = 0
        super().__init__(columns, rows)
        self.rows: defaultdict[int, Row] = defaultdict(lambda: Row(self.default_char))
        self.buffer = self.rows  # pyright: ignore[reportAttributeAccessIssue]  a dict is invariant; ours are rows too

    def visible(self) -> list[str]:
        """Row by row, without what is blank at the ends."""
        rows = [_text(self.rows[y].cells(self.columns)) for y in range(self.lines)]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def everything(self) -> list[str]:
        """Scrollback and screen, line by line: a line that the terminal wrapped is one."""
        self._settle()
        lines = [*self._settled, *(_text(cells) for _, cells, _ in self._written(self._settled_rows))]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def _settle(self) -> None:
        """What was scrolled away is read once: it does not change."""
        cells = list[Char]()
        for number, row in enumerate(islice(self.scrollback, self._settled_rows, None), self._settled_rows + 1):
            cells += row.cells(self.columns)
            if not row.goes_on:
                self._settled.append(_text(cells))
                self._settled_rows, cells = number, []

    def draw(self, data: str) -> None:
        cells = {char: self.cursor.attrs._replace(data=char) for char in set(data)}
        for char in data:
            width = 1 if " " <= char < "\x7f" else wcwidth(char)
            if width <= 0:
                self._join(char)
                continue
            if self.cursor.x + width > self.columns:
                self._wrap(width)
            row = self.rows[self.cursor.y]
            row[self.cursor.x] = cells[char]
            if width == 2:
                row[self.cursor.x + 1] = cells[char]._replace(data="")
            self.cursor.x += width
        self.dirty.add(self.cursor.y)

    def _wrap(self, width: int) -> None:
        if DECAWM in self.mode:
            self.rows[self.cursor.y].goes_on = True
            self.carriage_return()
            self.linefeed()
        else:
            self.cursor.x = self.columns - width

    def _join(self, char: str) -> None:
        """What has no width belongs to the character before it."""
        row = self.rows[self.cursor.y]
        at = self.cursor.x - 1
        if at > 0 and row[at].data == "":
            at -= 1
        if at >= 0 and wcwidth(char) == 0:
            row[at] = row[at]._replace(data=row[at].data + char)

    def index(self) -> None:
        top, bottom = self.margins or (0, self.lines - 1)
        if self.cursor.y == bottom and top == 0:
            self.scrollback.append(self.rows[0])
        super().index()

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        if how != 1:
            self.rows[self.cursor.y].goes_on = False
        super().erase_in_line(how, private)

    def erase_in_display(self, how: int = 0, *args: object, **kwargs: object) -> None:
        if how == 3:
            self._forget_scrollback()
        for y in range(self.cursor.y if how == 0 else 0, self.lines):
            self.rows[y].goes_on = False
        super().erase_in_display(how, *args, **kwargs)

    def _forget_scrollback(self) -> None:
        self.scrollback, self._settled, self._settled_rows = [], [], 0

    def select_graphic_rendition(self, *attrs: int) -> None:
        """Faint too, which pyte does not know: kept as its sign for blinking, which nobody uses."""
        super().select_graphic_rendition(*attrs)
        if 38 not in attrs and 48 not in attrs and {2, 22} & {*attrs}:
            self.cursor.attrs = self.cursor.attrs._replace(blink=22 not in attrs)

    def bell(self, *_: object) -> None:
        self.bells += 1

    def write_process_input(self, data: str) -> None:
        self.answers.append(data)

    def report_device_status(self, mode: int, **kwargs: object) -> None:
        if mode == 6:
            self.answers.append(f"\x1b[{self.cursor.y + 1};{min(self.cursor.x, self.columns - 1) + 1}R")
        elif not kwargs:
            super().report_device_status(mode)

    def reflow(self, columns: int, rows: int) -> None:
        """Another size, as in most terminals: lines wrap anew, what no longer fits goes into the scrollback or comes
        back from there, and of what is below the cursor as much is lost as must be."""
        top, cursor_row, cursor_column, folded = 0, 0, 0, list[Row]()
        for begun, cells, cursor in self._written():
            top = len(folded) if begun <= len(self.scrollback) else top
            cells += [self.default_char] * ((cursor or 0) - len(cells))
            new = self._fold(cells, columns)
            if cursor is not None:
                cursor_row, cursor_column = _place(new, cursor)
                cursor_row += len(folded)
            folded += new
        top = max(min(top, len(folded) - rows), cursor_row - rows + 1, 0)
        self._forget_scrollback()
        self.scrollback += folded[:top]
        self.rows.clear()
        self.rows.update(enumerate(folded[top : top + rows]))
        self.lines, self.columns = rows, columns
        self.set_margins()
        self.cursor.x, self.cursor.y = cursor_column, cursor_row - top
        self.dirty.update(range(rows))

    def _fold(self, cells: Sequence[Char], columns: int) -> list[Row]:
        folded = [Row(self.default_char)]
        at = 0
        for place, cell in enumerate(cells):
            wide = place + 1 < len(cells) and cells[place + 1].data == "" != cell.data
            if at + 1 + wide > columns:
                folded[-1].goes_on = True
                folded.append(Row(self.default_char))
                at = 0
            folded[-1][at] = cell
            at += 1
        return folded

    def _written(self, after: int = 0) -> Iterator[tuple[int, list[Char], int | None]]:
        """Line by line: the row it begins in, its cells, where in them the cursor is; not the empty rows below."""
        begun, cells, cursor = after, list[Char](), None
        rows = [*islice(self.scrollback, after, None), *(self.rows[y] for y in range(self._used()))]
        for y, row in enumerate(rows, after):
            if y == len(self.scrollback) + self.cursor.y:
                cursor = len(cells) + self.cursor.x
            cells += row.cells(self.columns)
            if not row.goes_on or y == after + len(rows) - 1:
                yield begun, cells, cursor
                begun, cells, cursor = y + 1, [], None

    def _used(self) -> int:
        """Rows down to the cursor or the last one with something in it."""
        return 1 + max(y for y in range(self.lines) if y <= self.cursor.y or self.rows[y].cells(self.columns))


def _place(rows: Sequence[Row], offset: int) -> tuple[int, int]:
    """Row and column of a cell of the line that these rows hold."""
    for number, row in enumerate(rows[:-1]):
        if offset < len(row):
            return number, offset
        offset -= len(row)
    return len(rows) - 1, offset


def _text(cells: Iterable[Char]) -> str:
    return "".join(cell.data for cell in cells).rstrip()


def _is_blank(cell: Char) -> bool:
    return cell.data == " " and cell.bg == "default" and not cell.reverse and not cell.underscore
