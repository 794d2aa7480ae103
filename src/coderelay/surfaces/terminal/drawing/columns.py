"""Text in columns: how wide it is, and what fits."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from coderelay.surfaces.terminal.drawing.paint import RESET

_CODE = re.compile(r"(\x1b\[[0-9;]*m)")


def width_of(text: str) -> int:
    """Without colours."""
    return len(text) if text.isascii() else _measure()(text)


@cache
def _measure() -> Callable[[str], int]:
    from rich.cells import cell_len  # with the first text that needs it

    return cell_len


def cut(text: str, width: int) -> str:
    """One line without colours, or its beginning and a sign that there was more."""
    if width_of(text) <= width:
        return text
    return f"{next(_pieces(text, width - 1))}…" if width > 1 else "…"[: max(width, 0)]


def rows_of(line: str, width: int) -> list[str]:
    """A line with colours, in as many rows as a terminal would need for it."""
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
    """As much as fits, then the rest likewise. At least one character each."""
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
    """Of lines with colours, the rows that are at the end, each with a line end."""
    last = [row for line in lines for row in rows_of(line, width)][-rows:] if rows > 0 else []
    return "".join(f"{row}\n" for row in last)
