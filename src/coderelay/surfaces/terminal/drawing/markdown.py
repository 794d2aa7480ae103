"""Markdown that is there as a whole."""

from coderelay.surfaces.terminal.drawing.columns import rows_of
from coderelay.surfaces.terminal.drawing.markdown_stream import Written


def drawn_markdown(text: str, width: int) -> str:
    """The same as if it had been written piece by piece."""
    written = Written()
    written.feed(text)
    return written.finish(width)


def markdown_lines(text: str, width: int) -> list[str]:
    """To stand within something else: without the empty line before it, and nowhere wider than that."""
    lines = drawn_markdown(text, width).removeprefix("\n").removesuffix("\n").split("\n")
    return [row for line in lines for row in rows_of(line, width)]
