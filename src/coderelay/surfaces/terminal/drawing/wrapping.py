"""Line wrapping of styled text. Chinese and Japanese text may break anywhere except before closing punctuation."""

import re
from collections.abc import Iterable
from functools import cache
from unicodedata import east_asian_width

from coderelay.surfaces.terminal.drawing.ansi_styles import paint
from coderelay.surfaces.terminal.drawing.width_and_truncation import rows_of, width_of

Span = tuple[str, str]
"""A piece of text and its style."""
_CLOSING = "、。，．！？：；）］｝」』】》〉〕…"
_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6"
    "\U00020000-\U0003fffd"
)
_PIECE = re.compile(r"[ \t]+|[^ \t]+")
_COLUMN = re.compile(r"^ +|(?<=\S) {2,}(?=\S)")


@cache
def _pieces_of_all() -> re.Pattern[str]:
    """The pattern for text that is not ASCII. Compiled on first use, because that takes a while."""
    return re.compile(rf"[ \t]+|[{_CLOSING}]+|[{_WIDE}]|[^ \t{_CLOSING}{_WIDE}]+")


def wrap(spans: Iterable[Span], width: int) -> list[list[Span]]:
    """Break text into lines at word boundaries. A word longer than a line is not broken: the terminal wraps it
    itself, and copies it in one piece."""
    lines = _Lines(width)
    for text, style in spans:
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.end_line()
            for piece in (_PIECE if part.isascii() else _pieces_of_all()).findall(part):
                lines.add(piece, style)
    lines.end_line()
    return lines.done


class _Lines:
    def __init__(self, width: int) -> None:
        self.done: list[list[Span]] = []
        self._width = width
        self._line: list[Span] = []
        self._used = 0
        self._gap: list[Span] = []
        self._word: list[Span] = []
        self._word_is_wide = False

    def add(self, piece: str, style: str) -> None:
        if piece[0] in " \t":
            self._end_word()
            self._gap.append((piece, style))
        elif piece[0] in _CLOSING:
            self._word.append((piece, style))
        else:
            is_wide = len(piece) == 1 and east_asian_width(piece) in "WF"
            if is_wide or self._word_is_wide:
                self._end_word()
            self._word.append((piece, style))
            self._word_is_wide = is_wide

    def end_line(self) -> None:
        self._end_word()
        self._gap = []
        self.done.append(self._line)
        self._line, self._used = [], 0

    def _end_word(self) -> None:
        if not self._word:
            return
        gap = sum(len(text) for text, _ in self._gap)
        needed = sum(width_of(text) for text, _ in self._word)
        if self._used and self._used + gap + needed > self._width:
            self.done.append(self._line)
            self._line, self._used = [], 0
        if self._line:
            self._line += self._gap
            self._used += gap
        self._line += self._word
        self._used += needed
        self._gap, self._word, self._word_is_wide = [], [], False


def joined(line: Iterable[Span]) -> str:
    """The text of a line with colour codes. Adjacent spans of one style share their codes."""
    parts: list[str] = []
    run: list[str] = []
    last = ""
    for text, style in line:
        if style != last and run:
            parts.append(paint("".join(run), last))
            run = []
        last = style
        run.append(text)
    parts.append(paint("".join(run), last))
    return "".join(parts)


def wrapped(text: str, width: int, style: str = "") -> list[str]:
    """Wrap plain text into lines that never exceed the width; longer words are broken."""
    return [row for line in wrap([(text, style)], width) for row in rows_of(joined(line), width)]


def in_width(text: str, width: int) -> list[str]:
    """Wrap lines at word boundaries with a hanging indent: the rest of a line continues under its last text column
    within the first two thirds of the width, or at the left edge."""
    return [row for line in text.split("\n") for row in _in_columns(line, width)]


def _in_columns(line: str, width: int) -> list[str]:
    if width_of(line) <= width:
        return [line]
    columns = [found.end() for found in _COLUMN.finditer(line)]
    begins = max((each for each in columns if width_of(line[:each]) <= width * 2 // 3), default=0)
    before = line[:begins]
    indent = " " * width_of(before)
    rows = wrap([(line[begins:], "")], width - len(indent))
    return [(indent if number else before) + joined(row) for number, row in enumerate(rows)]
