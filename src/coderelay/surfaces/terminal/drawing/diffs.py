"""Draws a unified diff: a heading for each file, line numbers, added lines in green, removed lines in red."""

import re
from collections.abc import Sequence

from msgspec import Struct

from coderelay.client.i18n import t
from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces.terminal.drawing.ansi_styles import BOLD, DIM, GREEN, RED, paint
from coderelay.surfaces.terminal.drawing.width_and_truncation import rows_of

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)")
_STYLES = {"+": GREEN, "-": RED, " ": ""}
_UNTOLD = ("diff --git ", "index ", "new file mode ", "deleted file mode ", "similarity index ")


class DiffLine(Struct, frozen=True):
    """One line of a diff. `sign` is `+`, `-` or a space; it is empty for a remark about the file."""

    sign: str
    number: int
    text: str


class File(Struct):
    """The changes to one file. An empty `was` means that the file is new, an empty `now` that it is deleted."""

    was: str = ""
    now: str = ""
    hunks: list[list[DiffLine]] = []

    def count(self, sign: str) -> int:
        return sum(line.sign == sign for hunk in self.hunks for line in hunk)


def drawn_diff(diff: str, width: int) -> list[str]:
    files = files_in(diff)
    rows: list[str] = []
    for file in files:
        rows += [_heading(file)] if file.was or file.now else []
        numbers = [line.number for hunk in file.hunks for line in hunk]
        column = len(str(max(numbers, default=0)))
        for place, hunk in enumerate(file.hunks):
            rows += [paint(f"{' ' * column} ⋮", DIM)] if place else []
            rows += [row for line in hunk for row in _rows(line, column, width)]
    return rows


def files_in(diff: str) -> list[File]:
    """Parse a diff. The line counts of the hunk headers are obeyed, so that a changed line that looks like a file
    heading is not taken for one."""
    files: list[File] = []
    old = new = old_left = new_left = 0
    for text in diff.removesuffix("\n").split("\n"):
        sign = text[:1] or " "
        if (old_left or new_left) and sign in _STYLES:
            files[-1].hunks[-1].append(DiffLine(sign, new if sign != "-" else old, text[1:]))
            old, old_left = (old + 1, old_left - 1) if sign != "+" else (old, old_left)
            new, new_left = (new + 1, new_left - 1) if sign != "-" else (new, new_left)
        elif found := _HUNK.match(text):
            old, old_left, new, new_left = (int(each or 1) for each in found.groups()[:4])
            files = files or [File()]
            files[-1].hunks.append([])
        elif text.startswith("--- "):
            files.append(File(was=_name(text)))
            old_left = new_left = 0
        elif text.startswith("+++ ") and files:
            files[-1].now = _name(text)
        elif text and not text.startswith(_UNTOLD):
            files = files or [File()]
            files[-1].hunks = files[-1].hunks or [[]]
            files[-1].hunks[-1].append(DiffLine("", 0, text))
    return files


def _name(heading: str) -> str:
    name = heading[4:].partition("\t")[0]
    return "" if name == "/dev/null" else name[2:] if name[:2] in ("a/", "b/") else name


def _heading(file: File) -> str:
    name = visible(file.now or file.was)
    if not file.was:
        name = t("{name} (new)", name=name)
    elif not file.now:
        name = t("{name} (deleted)", name=name)
    elif file.was != file.now:
        name = f"{visible(file.was)} → {visible(file.now)}"
    added, removed = paint(f"+{file.count('+')}", GREEN), paint(f"−{file.count('-')}", RED)
    return f"{paint(name, BOLD)}  {added} {removed}"


def _rows(line: DiffLine, column: int, width: int) -> Sequence[str]:
    text = visible(line.text).expandtabs(4)
    if not line.sign:
        return rows_of(paint(text, DIM), width)
    number = paint(str(line.number).rjust(column), DIM)
    style = _STYLES[line.sign]
    first, *others = rows_of(paint(text, style), max(width - column - 3, 8))
    rest = " " * (column + 3)
    return [f"{number} {paint(line.sign, style)} {first}".rstrip(), *(rest + row for row in others)]
