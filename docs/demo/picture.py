"""A terminal's screen as an SVG: one text per run of equal colours, each at its own column; or several, one after
the other, of two terminals side by side."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.sax.saxutils import escape

from pyte.screens import Char

WIDTH, HEIGHT, MARGIN, BAR = 8.4, 19, 14, 30  # of a cell, around everything, for the window's title
GROUND, INK, FAINT, FRAME = "#15181e", "#d7dce4", "#8a93a3", "#252a33"
COLOURS = {
    "black": "#3b4252",
    "red": "#f07178",
    "green": "#a5d67d",
    "brown": "#ffcb6b",
    "blue": "#82aaff",
    "magenta": "#c792ea",
    "cyan": "#7fdbca",
    "white": "#d7dce4",
    "brightblack": "#6b7486",
    "brightred": "#ff8b92",
    "brightgreen": "#c3e88d",
    "brightbrown": "#ffe585",
    "brightblue": "#9cc4ff",
    "brightmagenta": "#e1acff",
    "brightcyan": "#a3f7ff",
    "brightwhite": "#ffffff",
}
FONT = "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Noto Sans Mono CJK SC',monospace"


GAP = 18  # between two windows


def picture(rows: Sequence[Sequence[Char]], columns: int, title: str) -> str:
    width, height = _size(columns, len(rows))
    return "\n".join([_opening(width, height, title), *_window(width, height, title), *_lines(rows), "</svg>", ""])


Frame = tuple[float, Sequence[Sequence[Sequence[Char]]]]
"""For how many seconds, and the rows of each window."""


def film(frames: Sequence[Frame], columns: int, rows: int, titles: Sequence[str]) -> str:
    """Windows below each other, which change together and begin again at the end."""
    width, height = _size(columns, rows)
    whole = len(titles) * (height + GAP) - GAP
    parts = [_opening(width, whole, ", ".join(titles)), _style([seconds for seconds, _ in frames])]
    for number, title in enumerate(titles):
        parts += [f'<g transform="translate(0 {number * (height + GAP):.0f})">', *_window(width, height, title)]
        for at, (_, screens) in enumerate(frames):
            parts += [f'<g class="f{at}">', *_lines(screens[number]), "</g>"]
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _style(seconds: Sequence[float]) -> str:
    """Each frame is seen in its share of the time. Whoever wants no motion sees the last one."""
    total, at, rules = sum(seconds), 0.0, list[str]()
    for number, each in enumerate(seconds):
        begin, end = 100 * at / total, 100 * (at + each) / total
        hidden = f"0%,{begin:.3f}%{{visibility:hidden}}" if at else ""
        rules.append(
            f"@keyframes f{number}{{{hidden}{begin + 0.001:.3f}%,{end:.3f}%{{visibility:visible}}"
            f"{min(end + 0.001, 100):.3f}%,100%{{visibility:{'hidden' if end < 100 else 'visible'}}}}}"
        )
        rules.append(f".f{number}{{visibility:hidden;animation:f{number} {total:.1f}s step-end infinite}}")
        at += each
    still = "".join(f".f{number}{{animation:none}}" for number in range(len(seconds)))
    still += f".f{len(seconds) - 1}{{visibility:visible}}"
    return f"<style>{''.join(rules)}@media(prefers-reduced-motion:reduce){{{still}}}</style>"


def _size(columns: int, rows: int) -> tuple[float, float]:
    return columns * WIDTH + 2 * MARGIN, rows * HEIGHT + 2 * MARGIN + BAR


def _opening(width: float, height: float, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'role="img" aria-label="{escape(title)}" font-family="{FONT}" font-size="14">'
    )


def _window(width: float, height: float, title: str) -> list[str]:
    return [
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="9" fill="{GROUND}"/>',
        f'<path d="M0 {BAR}V9a9 9 0 0 1 9-9H{width - 9:.0f}a9 9 0 0 1 9 9V{BAR}z" fill="{FRAME}"/>',
        *(
            f'<circle cx="{18 + 20 * number}" cy="{BAR / 2:.0f}" r="6" fill="{colour}"/>'
            for number, colour in enumerate(("#f07178", "#ffcb6b", "#a5d67d"))
        ),
        f'<text x="{width / 2:.0f}" y="20" fill="{FAINT}" text-anchor="middle" font-size="13">{escape(title)}</text>',
    ]


def _lines(rows: Sequence[Sequence[Char]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield from _texts(row, BAR + MARGIN + number * HEIGHT + 14)


def _texts(row: Sequence[Char], y: float) -> Iterator[str]:
    column = 0
    for look, cells in groupby(row, _look):
        run = list(cells)
        text = "".join(cell.data for cell in run)
        if text.strip():
            x, length = MARGIN + column * WIDTH, len(run) * WIDTH
            yield (
                f'<text x="{x:.1f}" y="{y:.0f}" textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs" '
                f'xml:space="preserve" {look}>{escape(text)}</text>'
            )
        column += len(run)


def _look(cell: Char) -> str:
    """Wide characters are runs of their own kind: fonts differ in how wide they are."""
    colour = COLOURS.get(cell.fg, INK if cell.fg == "default" else f"#{cell.fg}")
    if cell.blink:  # the emulator's sign for faint
        colour = FAINT if cell.fg == "default" else colour
    look = f'fill="{colour}"'
    look += ' font-weight="bold"' if cell.bold else ""
    look += ' font-style="italic"' if cell.italics else ""
    return look + (' text-decoration="underline"' if cell.underscore else "")
