"""Draws the thinking of a model, which is plain text, while it is streamed."""

from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces.terminal.drawing.ansi_styles import DIM, ITALIC, paint
from coderelay.surfaces.terminal.drawing.markdown_stream import LineBuffer
from coderelay.surfaces.terminal.drawing.sanitizing import without_wide_joins
from coderelay.surfaces.terminal.drawing.width_and_truncation import last_rows
from coderelay.surfaces.terminal.drawing.wrapping import wrapped

_THOUGHT_STYLE = f"{DIM};{ITALIC}"
_FIRST_ROW, _NEXT_ROW = "✻ ", "  "


class ThinkingStream:
    """The thinking of a model, drawn in full. Like `MarkdownStream`, but for text without markup: each line is
    complete when it ends. An empty line goes first."""

    def __init__(self) -> None:
        self._arriving = LineBuffer()
        self._lines: list[str] = []
        self._has_begun = False
        self._gap = True

    def feed(self, text: str) -> None:
        self._lines += map(visible, self._arriving.take(text))

    def take_finished(self, width: int) -> str:
        drawn = [row for line in self._lines for row in self._drawn(line, width)]
        self._lines = []
        return "".join(f"{row}\n" for row in drawn)

    def tail(self, width: int, rows: int) -> str:
        rest = without_wide_joins(visible(self._arriving.rest[-2 * width * rows :]))
        if not rest.strip():
            return ""
        gap = [""] if self._gap else []
        return last_rows([*gap, *self._rows(rest, width)], width, rows)

    def finish(self, width: int) -> str:
        if self._arriving.rest:
            self.feed("\n")
        return self.take_finished(width)

    def _drawn(self, line: str, width: int) -> list[str]:
        """Draw one line. Consecutive empty lines become one, and trailing ones are dropped."""
        if not line.strip():
            self._gap = True
            return []
        rows = self._rows(line, width)
        gap = [""] if self._gap else []
        self._has_begun, self._gap = True, False
        return [*gap, *rows]

    def _rows(self, line: str, width: int) -> list[str]:
        rows = wrapped(line.rstrip(), max(width - 2, 1), _THOUGHT_STYLE)
        starts = [_NEXT_ROW if self._has_begun else paint(_FIRST_ROW, DIM), *[_NEXT_ROW] * (len(rows) - 1)]
        return [start + row for start, row in zip(starts, rows, strict=True)]


def drawn_thought(text: str, width: int) -> str:
    thought = ThinkingStream()
    thought.feed(text)
    return thought.finish(width)
