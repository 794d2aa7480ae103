"""Draws markdown while it is streamed, as a model writes it.

What is finished is drawn once; only the open block or line is drawn repeatedly.
"""

from typing import TYPE_CHECKING

from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces.terminal.drawing.markdown_splitter import (
    Block,
    CodeBegins,
    CodeEnds,
    CodeLine,
    ListItem,
    MarkdownSplitter,
    Prose,
)
from coderelay.surfaces.terminal.drawing.sanitizing import without_wide_joins
from coderelay.surfaces.terminal.drawing.width_and_truncation import last_rows, rows_of

if TYPE_CHECKING:
    from coderelay.surfaces.terminal.drawing.syntax_highlighting import CodeHighlighter


class MarkdownStream:
    """A streamed markdown text. `feed` adds text; `take_finished` returns each complete block once; `tail` the rest.

    An empty line goes before each block, also before the first; none goes after the last.
    """

    def __init__(self) -> None:
        self._arriving = LineBuffer()
        self._blocks = MarkdownSplitter()
        self._code: CodeHighlighter | None = None

    def feed(self, text: str) -> None:
        for line in self._arriving.take(text):
            self._blocks.add(visible(line))

    def take_finished(self, width: int) -> str:
        """The blocks that are complete now, as lines with their line ends; or an empty string."""
        return "".join(f"{line}\n" for block in self._blocks.take() for line in self._drawn(block, width))

    def tail(self, width: int, rows: int) -> str:
        """The last rows of the incomplete block, for the live region. Call it after `take_finished`."""
        rest = without_wide_joins(visible(self._arriving.rest[-2 * width * rows :]))
        if self._code is not None:
            return last_rows([self._code.preview(rest)] if rest else [], width, rows)
        lines = [
            *map(without_wide_joins, self._blocks.last_lines(2 * rows)),
            *([_with_markup_closed(rest)] if rest else []),
        ]
        if not lines:
            return ""
        from coderelay.surfaces.terminal.drawing.markdown_block import drawn_block  # loaded with the first answer

        drawn = drawn_block("\n".join(lines), width, self._blocks.number)
        return last_rows(["", *drawn] if self._blocks.needs_blank_line_before else drawn, width, rows)

    def finish(self, width: int) -> str:
        """End the text. Returns everything that was not drawn yet."""
        if self._arriving.rest:
            self.feed("\n")
        self._blocks.end()
        return self.take_finished(width)

    def _drawn(self, block: Block, width: int) -> list[str]:
        from coderelay.surfaces.terminal.drawing.markdown_block import drawn_block  # both loaded late
        from coderelay.surfaces.terminal.drawing.syntax_highlighting import CodeHighlighter

        match block:
            case CodeBegins():
                self._code = CodeHighlighter(block.language)
                return [""]
            case CodeLine():
                assert self._code is not None, "code begins before it goes on"
                return [self._code.draw(block.text)]
            case CodeEnds():
                self._code = None
                return []
            case Prose():
                return ["", *drawn_block(block.source, width)]
            case ListItem():
                drawn = drawn_block(block.source, width, block.number)
                return ["", *drawn] if block.needs_blank_line_before else drawn


def _with_markup_closed(line: str) -> str:
    """Close open code and bold markup in an incomplete line, so that it looks as it will when it is complete."""
    if line.count("`") % 2:
        return f"{line}`"
    if line.count("**") % 2 and not line.endswith("*"):
        return f"{line.rstrip()}**"
    return line


def drawn_markdown(text: str, width: int) -> str:
    """Draw a complete text, with the same result as if it had been streamed."""
    written = MarkdownStream()
    written.feed(text)
    return written.finish(width)


def markdown_lines(text: str, width: int) -> list[str]:
    """Draw a text that is embedded in something else: without the leading empty line, and never wider than
    `width`."""
    lines = drawn_markdown(text, width).removeprefix("\n").removesuffix("\n").split("\n")
    return [row for line in lines for row in rows_of(line, width)]


class LineBuffer:
    """Splits streamed text into complete lines."""

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def take(self, text: str) -> list[str]:
        """Take a piece of text. Returns the lines that are complete now, without their line ends (LF, CR LF or
        CR)."""
        if "\n" not in text:
            self._pieces.append(text)
            return []
        first, *others = text.split("\n")
        lines = ["".join([*self._pieces, first]), *others]
        self._pieces = [lines.pop()]
        return [part for line in lines for part in line.removesuffix("\r").split("\r")]

    @property
    def rest(self) -> str:
        """The last line, which is not complete yet."""
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]
