"""An answer while it is written: what is finished is drawn once, and only what is not is looked at again."""

from typing import TYPE_CHECKING

from coderelay.client.visible import visible
from coderelay.surfaces.terminal.drawing.columns import last_rows, rows_of
from coderelay.surfaces.terminal.drawing.markdown_blocks import (
    Block,
    Blocks,
    CodeBegins,
    CodeEnds,
    CodeLine,
    ListItem,
    Prose,
)
from coderelay.surfaces.terminal.drawing.printable import without_wide_joins
from coderelay.surfaces.terminal.drawing.wrapping import Arriving

if TYPE_CHECKING:
    from coderelay.surfaces.terminal.drawing.code import Code


class Written:
    """Markdown. `feed` it; `take_finished` gives what is complete, each block once, and `tail` what is not.

    An empty line goes before each block, also before the first; none goes behind.
    """

    def __init__(self) -> None:
        self._arriving = Arriving()
        self._blocks = Blocks()
        self._code: Code | None = None

    def feed(self, text: str) -> None:
        for line in self._arriving.take(text):
            self._blocks.add(visible(line))

    def take_finished(self, width: int) -> str:
        """Nothing, or whole lines with their ends."""
        return "".join(f"{line}\n" for block in self._blocks.take() for line in self._drawn(block, width))

    def tail(self, width: int, rows: int) -> str:
        """The last rows of what is not complete, for a region that is painted again and again. To be asked for after
        `take_finished`."""
        rest = without_wide_joins(visible(self._arriving.rest[-2 * width * rows :]))
        if self._code is not None:
            return last_rows([self._code.preview(rest)] if rest else [], width, rows)
        lines = [*map(without_wide_joins, self._blocks.last_lines(2 * rows)), *([_mended(rest)] if rest else [])]
        if not lines:
            return ""
        from coderelay.surfaces.terminal.drawing.markdown_block import drawn_block  # with the first answer

        drawn = drawn_block("\n".join(lines), width, self._blocks.number)
        return last_rows(["", *drawn] if self._blocks.is_apart else drawn, width, rows)

    def finish(self, width: int) -> str:
        """No more will come."""
        if self._arriving.rest:
            self.feed("\n")
        self._blocks.end()
        return self.take_finished(width)

    def _drawn(self, block: Block, width: int) -> list[str]:
        from coderelay.surfaces.terminal.drawing.code import Code
        from coderelay.surfaces.terminal.drawing.markdown_block import drawn_block  # both with the first answer

        match block:
            case CodeBegins():
                self._code = Code(block.language)
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
                return ["", *drawn] if block.apart else drawn


def _mended(line: str) -> str:
    """What is still open in it is closed, so that it looks as it will."""
    if line.count("`") % 2:
        return f"{line}`"
    if line.count("**") % 2 and not line.endswith("*"):
        return f"{line.rstrip()}**"
    return line


def drawn_markdown(text: str, width: int) -> str:
    """The same as if it had been written piece by piece."""
    written = Written()
    written.feed(text)
    return written.finish(width)


def markdown_lines(text: str, width: int) -> list[str]:
    """To stand within something else: without the empty line before it, and nowhere wider than that."""
    lines = drawn_markdown(text, width).removeprefix("\n").removesuffix("\n").split("\n")
    return [row for line in lines for row in rows_of(line, width)]
