"""Splits streamed markdown into blocks, line by line, so that each block is parsed only once.

Block boundaries depend on whole lines only, never on how the text was split in transit. A wrong boundary would only
affect the appearance, because each block is parsed on its own.
"""

import re
from typing import Literal

from msgspec import Struct

_INDENTED = re.compile(r"(?: {4}| {0,3}\t)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_QUOTE = re.compile(r" {0,3}>")
_ITEM = re.compile(r"( {0,3})([-*+]|(\d{1,9})([.)]))(?:([ \t]+)(?=\S)|[ \t]*$)")
_TABLE_RULE = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")


class Prose(Struct, frozen=True):
    """A paragraph, heading, quote, table, rule or indented code."""

    source: str


class ListItem(Struct, frozen=True):
    """One item of a list, with its nested content."""

    source: str
    number: int | None = None
    needs_blank_line_before: bool = True


class CodeBegins(Struct, frozen=True):
    language: str


class CodeLine(Struct, frozen=True):
    text: str


class CodeEnds(Struct, frozen=True):
    pass


Block = Prose | ListItem | CodeBegins | CodeLine | CodeEnds
_Kind = Literal["", "paragraph", "table", "quote", "indented", "item", "code"]


class MarkdownSplitter:
    """The splitter. `done` holds the finished blocks; `lines` and `kind` describe the block that is open."""

    def __init__(self) -> None:
        self.done: list[Block] = []
        self.lines: list[str] = []
        self.kind: _Kind = ""
        self._fence = ("", 0)  # the closing fence of the code, and its indentation
        self._content = 0  # the column where the content of the open item begins
        self._item = ListItem("")
        self._marker = ""  # the marker of the last item, while its list continues

    def add(self, line: str) -> None:
        """Add one complete line."""
        match self.kind:
            case "":
                self._begin(line)
            case "code":
                self._add_code(line)
            case "item":
                self._add_to_item(line)
            case "indented":
                if line.strip() and not _INDENTED.match(line):
                    self._end_and_begin(line)
                else:
                    self.lines.append(line)
            case "paragraph" if _UNDERLINE.match(line) and not _is_table(self.lines[-1], line):
                self.lines.append(line)
                self.end()
            case "paragraph" if _is_table(self.lines[-1], line):
                head = self.lines.pop()
                if self.lines:
                    self.end()
                self.lines, self.kind = [head, line], "table"
            case "paragraph" | "table" | "quote":
                if not line.strip() or _interrupts(line, self.kind):
                    self._end_and_begin(line)
                else:
                    self.lines.append(line)

    def end(self) -> None:
        """Finish the open block."""
        source = "\n".join(self.lines)
        match self.kind:
            case "":
                pass
            case "code":
                self.done.append(CodeEnds())
            case "item":
                item = self._item
                self.done.append(ListItem(source.rstrip(), item.number, item.needs_blank_line_before))
            case _:
                self.done.append(Prose(source.rstrip()))
        self.lines, self.kind = [], ""

    def take(self) -> list[Block]:
        done, self.done = self.done, []
        return done

    def last_lines(self, most: int) -> list[str]:
        """The last lines of the open block, with the table head or code fence that is needed to draw them alone."""
        if len(self.lines) <= most:
            return self.lines
        left_out, kept = self.lines[:-most], self.lines[-most:]
        if self.kind == "table":
            return [*self.lines[:2], *kept]
        if self.kind == "item":
            fences = [line.strip() for line in left_out if line.lstrip().startswith(("```", "~~~"))]
            return [*(fences[-1:] if len(fences) % 2 else []), *(line[self._content :] for line in kept)]
        return kept

    @property
    def number(self) -> int | None:
        """The number of the open item, if its list is ordered."""
        return self._item.number if self.kind == "item" else None

    @property
    def needs_blank_line_before(self) -> bool:
        """Whether an empty line goes before the open block."""
        return self.kind != "item" or self._item.needs_blank_line_before

    def _begin(self, line: str) -> None:
        if not line.strip():
            return
        self._marker = ""
        if fence := _FENCE.match(line):
            self._fence = (fence[1], len(line) - len(line.lstrip(" ")))
            self.done.append(CodeBegins(fence[2].strip()))
            self.kind = "code"
        elif _HEADING.match(line) or _RULE.match(line):
            self.done.append(Prose(line))
        elif item := _ITEM.match(line):
            self._begin_item(line, item)
        else:
            self.lines = [line]
            self.kind = "quote" if _QUOTE.match(line) else "indented" if _INDENTED.match(line) else "paragraph"

    def _end_and_begin(self, line: str) -> None:
        self.end()
        self._begin(line)

    def _add_code(self, line: str) -> None:
        mark, indent = self._fence
        stripped = line.strip()
        if not _INDENTED.match(line) and len(stripped) >= len(mark) and set(stripped) == {mark[0]}:
            self.end()
            return
        spaces = len(line) - len(line.lstrip(" "))
        self.done.append(CodeLine(line[min(spaces, indent) :]))

    def _begin_item(self, line: str, item: re.Match[str], *, needs_blank_line_before: bool = True) -> None:
        indent, marker, digits, delimiter, gap = item.groups()
        kind = delimiter or marker
        number = int(digits) if digits else None
        if self._marker == kind and self._item.number is not None:
            number = self._item.number + 1
        self._item, self._marker = ListItem("", number, needs_blank_line_before), kind
        spaces = len((gap or " ").expandtabs(4))
        self._content = len(indent) + len(marker) + (spaces if spaces <= 4 else 1)
        self.lines, self.kind = [line], "item"

    def _add_to_item(self, line: str) -> None:
        blank_before = not self.lines[-1].strip()
        expanded = line.expandtabs(4)
        if not line.strip() or len(expanded) - len(expanded.lstrip(" ")) >= self._content:
            self.lines.append(line)
        elif (item := _ITEM.match(line)) and not _RULE.match(line):
            self.end()
            self._begin_item(line, item, needs_blank_line_before=blank_before)
        elif blank_before or _interrupts(line, "item"):
            self._end_and_begin(line)
        else:
            self.lines.append(line)


def _interrupts(line: str, kind: _Kind) -> bool:
    """Whether the line begins another block without an empty line before it."""
    if _FENCE.match(line) or _HEADING.match(line) or _RULE.match(line):
        return True
    if _QUOTE.match(line):
        return kind != "quote"
    item = _ITEM.match(line)
    return item is not None and (kind == "table" or (item[5] is not None and item[3] in (None, "1")))


def _is_table(head: str, line: str) -> bool:
    return "|" in head and "|" in line and _TABLE_RULE.match(line) is not None
