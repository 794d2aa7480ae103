"""One block of markdown, drawn. HTML is text, images are links, and what others define elsewhere is not looked up."""

from collections.abc import Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from coderelay.surfaces.terminal.drawing.code import drawn_code
from coderelay.surfaces.terminal.drawing.inline import spans_of
from coderelay.surfaces.terminal.drawing.paint import BOLD, DIM, ITALIC, UNDERLINED, paint
from coderelay.surfaces.terminal.drawing.tables import Cell, Side, Table, drawn_table
from coderelay.surfaces.terminal.drawing.wrapping import joined, wrap

_HEADINGS = {"h1": f"{BOLD};{UNDERLINED}", "h2": BOLD}
_OTHER_HEADINGS = f"{BOLD};{ITALIC}"
_BULLETS = "•◦▪"
_RULE = 40
_NARROWEST = 12


def drawn_block(source: str, width: int, number: int | None = None) -> list[str]:
    """`number` is that of the item, if the source is one of an ordered list."""
    return _Drawing(_parser().parse(source), number).blocks(width)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return parser.disable(["reference", "html_block", "html_inline"])


class _Drawing:
    """Goes through the tokens once; what is within something is drawn narrower and moved to the right."""

    def __init__(self, tokens: Sequence[Token], number: int | None) -> None:
        self._tokens = tokens
        self._at = 0
        self._number = number
        self._depth = 0

    def blocks(self, width: int, *, in_item: bool = False) -> list[str]:
        """Up to the end of what they are in."""
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

    def _table(self) -> Table:
        rows: list[list[Cell]] = []
        sides: list[Side] = []
        while (token := self._next()).type != "table_close":
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("th_open", "td_open"):
                rows[-1].append(spans_of(self._next().children or ()))
                if token.type == "th_open":
                    sides.append(_side(token))
        return Table(rows[0], rows[1:], sides)


def _within(width: int, less: int = 2) -> int:
    return max(width - less, _NARROWEST)


def _moved(lines: Sequence[str], indent: str, first: str | None = None) -> list[str]:
    """To the right, with nothing behind the last word."""
    starts = [indent if first is None else first, *[indent] * (len(lines) - 1)]
    return [f"{start}{line}" if line else start.rstrip() for start, line in zip(starts, lines or [""], strict=True)]


def _side(token: Token) -> Side:
    style = str(token.attrs.get("style", ""))
    return "right" if style.endswith("right") else "center" if style.endswith("center") else "left"
