"""Draws one block of markdown. HTML is shown as text, images as links; reference definitions are not supported."""

from collections.abc import Sequence
from functools import cache
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import Struct

from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces.terminal.drawing.ansi_styles import (
    BOLD,
    CYAN,
    DIM,
    ITALIC,
    STRUCK,
    UNDERLINED,
    paint,
    without_colours,
)
from coderelay.surfaces.terminal.drawing.syntax_highlighting import drawn_code
from coderelay.surfaces.terminal.drawing.width_and_truncation import rows_of, width_of
from coderelay.surfaces.terminal.drawing.wrapping import Span, joined, wrap

_HEADINGS = {"h1": f"{BOLD};{UNDERLINED}", "h2": BOLD}
_OTHER_HEADINGS = f"{BOLD};{ITALIC}"
_BULLETS = "•◦▪"
_RULE = 40
_NARROWEST = 12
_STYLES = {"strong": BOLD, "em": ITALIC, "s": STRUCK, "link": UNDERLINED}
_ITEM_MARKS = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}
Side = Literal["left", "right", "center"]
Cell = list[Span]
_BETWEEN, _TABLES_RULE = " │ ", "─┼─"
_TABLES_NARROWEST = 6


def drawn_block(source: str, width: int, number: int | None = None) -> list[str]:
    """Draw a block as lines. `number` is the item's number, if the source is one item of an ordered list."""
    return _Drawing(_parser().parse(source), number).blocks(width)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return parser.disable(["reference", "html_block", "html_inline"])


class MarkdownTable(Struct, frozen=True):
    head: list[Cell]
    rows: list[list[Cell]]
    alignments: list[Side]


class _Drawing:
    """Walks the parsed tokens once. Nested content is drawn narrower and indented."""

    def __init__(self, tokens: Sequence[Token], number: int | None) -> None:
        self._tokens = tokens
        self._at = 0
        self._number = number
        self._depth = 0

    def blocks(self, width: int, *, in_item: bool = False) -> list[str]:
        """Draw blocks up to the end of the enclosing one."""
        lines: list[str] = []
        is_tight = False
        while self._at < len(self._tokens) and (token := self._next()).nesting >= 0:
            is_tight = is_tight or token.hidden
            drawn = self._block(token, width, in_item=in_item)
            lines += [""] if lines and not is_tight else []
            lines += drawn
            in_item = False
        return lines

    def _next(self) -> Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _block(self, token: Token, width: int, *, in_item: bool) -> list[str]:
        match token.type:
            case "paragraph_open" | "heading_open":
                style = _HEADINGS.get(token.tag, _OTHER_HEADINGS) if token.type == "heading_open" else ""
                content = self._next()
                self._next()
                return [
                    joined(line) for line in wrap(spans_of(content.children or (), style, in_item=in_item), width)
                ]
            case "fence" | "code_block":
                return drawn_code(token.content.removesuffix("\n"), token.info)
            case "hr":
                return [paint("─" * min(width, _RULE), DIM)]
            case "blockquote_open":
                return _moved(self.blocks(_within(width)), paint("▎ ", DIM))
            case "bullet_list_open" | "ordered_list_open":
                return self._list(token, width)
            case "table_open":
                return drawn_table(self._table(), width)
            case _:
                return [joined(line) for line in wrap([(token.content, "")], width)]

    def _list(self, opened: Token, width: int) -> list[str]:
        number = int(opened.attrs.get("start", 1)) if self._number is None else self._number
        self._number = None
        bullet = _BULLETS[self._depth % len(_BULLETS)]
        self._depth += 1
        lines: list[str] = []
        while self._next().nesting > 0:
            mark = f"{bullet} " if opened.type == "bullet_list_open" else f"{number}. "
            number += 1
            first = self._tokens[self._at]
            lines += [""] if lines and first.type == "paragraph_open" and not first.hidden else []
            lines += _moved(self.blocks(_within(width, len(mark)), in_item=True), " " * len(mark), mark)
        self._depth -= 1
        return lines

    def _table(self) -> MarkdownTable:
        rows: list[list[Cell]] = []
        alignments: list[Side] = []
        while (token := self._next()).type != "table_close":
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                rows[-1].append(spans_of(self._next().children or ()))
                if token.type == "th_open":
                    alignments.append(_side(token))
        return MarkdownTable(rows[0], rows[1:], alignments)


def _within(width: int, less: int = 2) -> int:
    return max(width - less, _NARROWEST)


def _moved(lines: Sequence[str], indent: str, first: str | None = None) -> list[str]:
    """Indent lines, without trailing spaces."""
    starts = [indent if first is None else first, *[indent] * (len(lines) - 1)]
    return [f"{start}{line}" if line else start.rstrip() for start, line in zip(starts, lines or [""], strict=True)]


def _side(token: Token) -> Side:
    style = str(token.attrs.get("style", ""))
    return "right" if style.endswith("right") else "center" if style.endswith("center") else "left"


def spans_of(tokens: Sequence[Token], style: str = "", *, in_item: bool = False) -> list[Span]:
    """Inline tokens as styled text. A link is followed by its address. Line breaks of the source are kept."""
    spans: list[Span] = []
    open_styles = [style] if style else []
    links: list[tuple[str, int]] = []
    for token in tokens:
        kind, _, place = token.type.rpartition("_")
        now = ";".join(dict.fromkeys(open_styles))
        if token.type == "text":
            spans.append((visible(token.content), now))
        elif token.type == "code_inline":
            spans.append((visible(token.content), f"{now};{CYAN}" if now else CYAN))
        elif token.type in ("softbreak", "hardbreak"):
            spans.append(("\n", ""))
        elif token.type == "image":
            spans += _link(token.content, _address(token, "src"), [(visible(token.content), now)])
        elif place == "open" and kind in _STYLES:
            open_styles.append(_STYLES[kind])
            if kind == "link":
                links.append((_address(token, "href"), len(spans)))
        elif place == "close" and kind in _STYLES:
            open_styles.remove(_STYLES[kind])
            if kind == "link":
                address, at = links.pop()
                spans[at:] = _link("".join(text for text, _ in spans[at:]), address, spans[at:])
        elif token.content:
            spans.append((visible(token.content), now))
    if in_item and spans and (mark := _ITEM_MARKS.get(spans[0][0][:4])):
        spans[0] = (mark + spans[0][0][4:], spans[0][1])
    return spans


def _link(text: str, address: str, shown: list[Span]) -> list[Span]:
    if not address or text == address or f"mailto:{text}" == address:
        return shown
    return [*shown, (f" ({address})" if text else address, DIM)]


def _address(token: Token, name: str) -> str:
    return visible(str(token.attrs.get(name, "")))


def drawn_table(table: MarkdownTable, width: int) -> list[str]:
    natural = [max(map(_width, column)) for column in zip(table.head, *table.rows, strict=True)]
    room = width - len(_BETWEEN) * (len(natural) - 1)
    if room < min(_TABLES_NARROWEST * len(natural), sum(natural)):
        return _as_list(table, width)
    widths = _fitted(natural, room)
    head = [[(text, f"{style};{BOLD}" if style else BOLD) for text, style in cell] for cell in table.head]
    drawn = [_row(cells, widths, table.alignments) for cells in [head, *table.rows]]
    rule = paint(_TABLES_RULE.join("─" * each for each in widths), DIM)
    many = any(len(row) > 1 for row in drawn[1:])
    lines = [*drawn[0], rule]
    for number, row in enumerate(drawn[1:]):
        lines += [rule, *row] if many and number else row
    return lines


def _width(cell: Cell) -> int:
    return max(width_of(line) for line in "".join(text for text, _ in cell).split("\n"))


def _fitted(natural: Sequence[int], room: int) -> list[int]:
    """Column widths: narrow columns keep their natural width, wide ones share the rest."""
    widths = dict[int, int]()
    for number, wanted in sorted(enumerate(natural), key=lambda each: each[1]):
        share = (room - sum(widths.values())) // (len(natural) - len(widths))
        widths[number] = max(1, min(wanted, share))
    return [widths[number] for number in range(len(natural))]


def _row(cells: Sequence[Cell], widths: Sequence[int], alignments: Sequence[Side]) -> list[str]:
    columns = [
        [row for line in wrap(cell, width) for row in rows_of(joined(line), width)]
        for cell, width in zip(cells, widths, strict=True)
    ]
    lines: list[str] = []
    for number in range(max(map(len, columns))):
        texts = [column[number] if number < len(column) else "" for column in columns]
        padded = [_padded(*each) for each in zip(texts, widths, alignments, strict=True)]
        lines.append(paint(_BETWEEN, DIM).join(padded).rstrip())
    return lines


def _padded(text: str, width: int, side: Side) -> str:
    free = width - width_of(without_colours(text))
    left = 0 if side == "left" else free if side == "right" else free // 2
    return " " * left + text + " " * (free - left)


def _as_list(table: MarkdownTable, width: int) -> list[str]:
    """Draw a table that is too wide as a list: each cell on a line of its own, with its column heading."""
    lines: list[str] = []
    for row in table.rows:
        lines += [""] if lines else []
        for name, cell in zip(table.head, row, strict=True):
            label = [(text, BOLD) for text, _ in name]
            lines += map(joined, wrap([*label, (": ", BOLD), *cell] if label else cell, width))
    return lines
