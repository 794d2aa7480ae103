"""A streamed answer drawn for a terminal: what is finished after each token, and the live tail ten times a second.

The floor is rich, which draws the whole answer once, when it is there: what a program pays that shows nothing before.
"""

import io
import time

from bench.answer import pieces
from bench.compare import alternate
from bench.stopwatch import Took, stopwatch
from bench.table import Row, at_most
from coderelay.surfaces.terminal.drawing.markdown_stream import MarkdownStream

TOKENS = 20_000
WIDTH, TAIL_ROWS, FRAME = 100, 10, 0.1


def measure() -> list[Row]:
    answer = pieces(TOKENS)
    runs = alternate(5, lambda: _drawn(answer), lambda: _drawn_by_rich("".join(answer)))
    cpu = runs.median(lambda took: took.cpu)
    return [Row(f"{TOKENS:,} tokens drawn as they come, CPU (floor: rich, once)", "s", *cpu, at_most(0.9, "s"), cpu)]


def _drawn(answer: list[str]) -> Took:
    screen = io.StringIO()
    written, painted = MarkdownStream(), time.monotonic()
    with stopwatch() as took:
        for piece in answer:
            written.feed(piece)
            screen.write(written.take_finished(WIDTH))
            if time.monotonic() - painted >= FRAME:
                screen.write(written.tail(WIDTH, TAIL_ROWS))
                painted = time.monotonic()
        screen.write(written.finish(WIDTH))
    return took


def _drawn_by_rich(answer: str) -> Took:
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(file=io.StringIO(), width=WIDTH, force_terminal=True)
    with stopwatch() as took:
        console.print(Markdown(answer))
    return took
