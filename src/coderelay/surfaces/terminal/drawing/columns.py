"""Display width of text in terminal columns: measuring, truncating, breaking into rows; and colour codes."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

_CODE = re.compile(r"(\x1b\[[0-9;]*m)")
RESET = "\x1b[0m"
DIM, BOLD, ITALIC, UNDERLINED, STRUCK = "2", "1", "3", "4", "9"
RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN = "31", "32", "33", "34", "35", "36"
_CODES = re.compile(r"\x1b\[[0-9;]*m")
_SHARE = 3


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


def in_words(ms: int) -> str:
    """Format a duration."""
    if ms < 1000:
        return f"{ms}ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f}s"
    minutes, seconds = divmod(ms // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02}m" if hours else f"{minutes}m {seconds:02}s"


def paint(text: str, style: str) -> str:
    """Style a line or a part of one. Colours inside the text are kept, and `style` is restored after each of them."""
    if not style or not text:
        return text
    start = f"\x1b[{style}m"
    return f"{start}{text.replace(RESET, RESET + start)}{RESET}"


def without_colours(text: str) -> str:
    return _CODES.sub("", text)


def place_name(folder: str, width: int) -> str:
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
