"""Display width of text in terminal columns: measuring, truncating, breaking into rows."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from coderelay.client.i18n import t
from coderelay.surfaces.terminal.drawing.ansi_styles import DIM, RESET, paint

_CODE = re.compile(r"(\x1b\[[0-9;]*m)")


def width_of(text: str) -> int:
    """The number of terminal columns of a text without colour codes."""
    return len(text) if text.isascii() else _measure()(text)


@cache
def _measure() -> Callable[[str], int]:
    from rich.cells import cell_len  # loaded with the first text that is not ASCII

    return cell_len


def cut(text: str, width: int) -> str:
    """Truncate one line without colour codes to the width, with an ellipsis if it is too long."""
    if width_of(text) <= width:
        return text
    return f"{next(_pieces(text, width - 1))}…" if width > 1 else "…"[: max(width, 0)]


def rows_of(line: str, width: int) -> list[str]:
    """Break a line with colour codes into the rows that a terminal would need for it."""
    if len(line) <= width and line.isascii():
        return [line]
    rows: list[str] = []
    row: list[str] = []
    used, code = 0, ""
    for part in _CODE.split(line):
        if part.startswith("\x1b["):
            code = "" if part == RESET else part
            row.append(part)
            continue
        first, *others = _pieces(part, width, width - used)
        row.append(first)
        used += width_of(first)
        for piece in others:
            rows.append("".join([*row, RESET if code else ""]))
            row, used = [code, piece], width_of(piece)
    return [*rows, "".join(row)]


def _pieces(text: str, width: int, first: int | None = None) -> Iterator[str]:
    """Split text into pieces that fit the width (the first piece: `first`), with at least one character each, except
    that the first may be empty."""
    room = width if first is None else first
    if width_of(text) <= room:
        yield text
        return
    kept: list[str] = []
    for character in text:
        needed = width_of(character)
        if needed > room and (kept or room < width):
            yield "".join(kept)
            kept, room = [], width
        kept.append(character)
        room -= needed
    yield "".join(kept)


def last_rows(lines: Iterable[str], width: int, rows: int) -> str:
    """The last rows of lines with colour codes, each with a line end."""
    last = [row for line in lines for row in rows_of(line, width)][-rows:] if rows > 0 else []
    return "".join(f"{row}\n" for row in last)


_BAR = "│ "
_HEAD_SHARE = 3  # one third of the rows from the beginning, the rest from the end, where commands say how they ended


class Shortening:
    """Shortens what one call prints. `lines` is the number of rows that stay; 0 shortens nothing. With
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
        if not self._lines or len(rows) <= self._lines + 1:  # the row that tells of the cut takes the place of one
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


_SHARE = 3


def short_path(folder: str, width: int) -> str:
    """A folder for the prompt: `~` for the home folder, and only the end of a path longer than a third of the
    line."""
    home = os.path.expanduser("~")
    name = f"~{folder.removeprefix(home)}" if folder == home or folder.startswith(f"{home}/") else folder
    room = max(12, width // _SHARE)
    if len(name) <= room:
        return name
    parts = name.split("/")
    while len(parts) > 1 and len("/".join(("…", *parts))) > room:
        parts.pop(0)
    return "/".join(("…", *parts))
