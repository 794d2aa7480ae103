"""Converts an HTML page to text in a form like Markdown: headings, lists, links, code, rough tables."""

import re
import time
from html.parser import HTMLParser
from typing import Literal
from urllib.parse import urljoin

from msgspec import Struct

_PIECE_CHARS = 64 * 1024
_SECONDS = 5.0
_MOST_CHARS = 4 * 1024 * 1024
_BLOCK_CHARS = 100  # what a block costs besides its text
_DEEPEST = 10  # nesting of lists
_ENOUGH_CHARS = 300

_HEADINGS = {f"h{level}": f"{'#' * level} " for level in range(1, 7)}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "dd", "details", "dialog", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "header", "hgroup", "html", "li", "main", "menu", "nav", "ol", "p",
    "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul",
}  # fmt: skip
_UNSEEN = {
    "script", "style", "template", "svg", "math", "iframe", "object", "canvas", "audio", "video", "button", "select",
    "textarea", "noembed", "noframes",
}  # fmt: skip
_VOID = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
}  # fmt: skip
_WHOLE = {"html", "body", "main"}  # some pages hide these until a script shows them
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\n\r\f]+")
_BREAK = re.compile(r" ?\v ?")  # a <br>; not in _BLANKS, so that it survives when blanks are joined

Kind = Literal["text", "item", "row"]
Attributes = list[tuple[str, str | None]]


def page_text(html: str, url: str) -> tuple[str, bool]:
    """Return the text of the page's main part, if that has enough text, else of the whole page. Links are made
    absolute with `url`.

    Also return whether all of it was read: a page can be made to take forever, or to expand far beyond its size.
    """
    reader = _HtmlReader(url)
    deadline = time.thread_time() + _SECONDS
    whole = True
    for start in range(0, len(html), _PIECE_CHARS):
        if time.thread_time() > deadline or reader.held > _MOST_CHARS:
            whole = False
            break
        reader.feed(html[start : start + _PIECE_CHARS])
    reader.feed(" ")  # never `close`, which takes forever on malicious pages
    reader.end_block()
    main = [block for block in reader.blocks if block.is_main]
    chosen = main if sum(len(block.text) for block in main) >= _ENOUGH_CHARS else reader.blocks
    title = _BLANKS.sub(" ", "".join(reader.title)).strip()
    known = any(block.text.lstrip("# ") == title for block in chosen[:3])
    return _joined([*([_Block(f"# {title}")] if title and not known else []), *chosen]), whole


class _Block(Struct, frozen=True):
    text: str
    kind: Kind = "text"
    is_main: bool = False


def _joined(blocks: list[_Block]) -> str:
    """Join the blocks. Items of a list and rows of a table follow each other; all else has an empty line between."""
    parts: list[str] = []
    before: Kind = "text"
    for block in blocks:
        tight = block.kind != "text" and block.kind == before
        parts += ["\n" if tight else "\n\n", block.text]
        before = block.kind
    return "".join(parts[1:])


class _HtmlReader(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[_Block] = []
        self.title: list[str] = []
        self.held = 0  # characters, approximately
        self._url = url
        self._line: list[str] = []
        self._start = ""  # prefix of the current block: a heading's signs, an item's dash
        self._kind: Kind = "text"
        self._unseen: tuple[str, int] | None = None  # the element that is skipped, and its nesting depth
        self._lists: list[int | None] = []  # the number of the last item; None for lists without numbers
        self._cells: list[str] | None = None
        self._link: tuple[int, str] | None = None  # its start in the line, and its target
        self._pre = 0
        self._main = 0
        self._in_title = False

    def end_block(self) -> None:
        if self._pre:
            text = "".join(self._line).strip("\n")
            text = f"```\n{text}\n```" if text.strip() else ""
        else:
            text = _BREAK.sub("\n", _BLANKS.sub(" ", "".join(self._line))).strip()
        self._line.clear()
        self._link = None
        if not text:
            return
        self.held += len(text) + _BLOCK_CHARS
        if self._cells is not None:
            self._cells.append(_BLANKS.sub(" ", text))
            return
        self.blocks.append(_Block(self._start + text, self._kind, self._main > 0))
        self._start, self._kind = "", "text"

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if self._is_skipped(tag, attrs):
            return
        match tag:
            case "title":
                self._in_title = True
            case "br":
                self._line.append("\n" if self._pre else "\v")
            case "hr":
                self.end_block()
                self.blocks.append(_Block("---", is_main=self._main > 0))
                self.held += _BLOCK_CHARS
            case "img":
                if alt := (dict(attrs).get("alt") or "").strip():
                    self._line.append(f"[image: {alt}]")
            case "a":
                self._link = (len(self._line), dict(attrs).get("href") or "")
            case "code" | "kbd" | "samp" | "tt" if not self._pre:
                self._line.append("`")
            case "pre":
                self.end_block()
                self._pre += 1
            case "td" | "th":
                self._end_cell()
            case _ if tag in _HEADINGS or tag in _BLOCKS:
                self._begin_block(tag)
            case _:
                pass

    def handle_endtag(self, tag: str) -> None:
        if self._unseen is not None:
            name, depth = self._unseen
            if tag == name:
                self._unseen = (name, depth - 1) if depth > 1 else None
            return
        match tag:
            case "title":
                self._in_title = False
            case "a":
                self._end_link()
            case "code" | "kbd" | "samp" | "tt" if not self._pre:
                self._line.append("`")
            case "pre":
                if self._pre:
                    self.end_block()
                    self._pre -= 1
            case "td" | "th":
                self._end_cell()
            case _ if tag in _HEADINGS or tag in _BLOCKS:
                self._finish_block(tag)
            case _:
                pass

    def parse_html_declaration(self, i: int) -> int:
        """Declarations that the base class refuses are skipped like comments, as browsers do."""
        try:
            return super().parse_html_declaration(i)
        except AssertionError:
            return self.parse_bogus_comment(i)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif self._unseen is None:
            self._line.append(data)

    def _is_skipped(self, tag: str, attrs: Attributes) -> bool:
        """Whether to skip an element with its contents because a person would not see it, as far as the element
        itself says so. Style sheets are not read, and what is only tiny, pale or far outside is kept: many pages show
        it later."""
        if self._unseen is not None:
            name, depth = self._unseen
            if tag == name:
                self._unseen = (name, depth + 1)
            return True
        if tag in _VOID:
            return False
        given = dict(attrs)
        hidden = "hidden" in given or _HIDING.search(given.get("style") or "") is not None
        if tag in _UNSEEN or (hidden and tag not in _WHOLE):
            self._unseen = (tag, 1)
            return True
        return False

    def _begin_block(self, tag: str) -> None:
        if self._cells is not None and tag not in ("table", "tr"):
            self._line.append(" ")  # a cell is one line
            return
        self.end_block()
        match tag:
            case "main" | "article":
                self._main += 1
            case "ul" | "ol" | "menu":
                self._lists.append(0 if tag == "ol" else None)
            case "li":
                self._start, self._kind = self._item(), "item"
            case "blockquote":
                self._start = "> "
            case "dd":
                self._start = "  "
            case "tr":
                self._cells = []
            case _ if tag in _HEADINGS:
                self._start = _HEADINGS[tag]
            case _:
                pass

    def _finish_block(self, tag: str) -> None:
        if tag in ("tr", "table"):
            self._end_row()
            return
        if self._cells is not None:
            self._line.append(" ")
            return
        self.end_block()
        if tag in ("main", "article"):
            self._main = max(0, self._main - 1)
        elif tag in ("ul", "ol", "menu") and self._lists:
            self._lists.pop()
        if tag in _HEADINGS or tag in ("li", "blockquote", "dd"):
            self._start, self._kind = "", "text"

    def _item(self) -> str:
        indent = "  " * min(max(0, len(self._lists) - 1), _DEEPEST)
        if not self._lists or self._lists[-1] is None:
            return f"{indent}- "
        self._lists[-1] += 1
        return f"{indent}{self._lists[-1]}. "

    def _end_cell(self) -> None:
        if self._cells is not None:
            self.end_block()

    def _end_row(self) -> None:
        self._end_cell()
        cells, self._cells = self._cells, None
        if cells:
            self.blocks.append(_Block(f"| {' | '.join(cells)} |", "row", self._main > 0))
        self._line.clear()

    def _end_link(self) -> None:
        if self._link is None:
            return
        (start, target), self._link = self._link, None
        text = "".join(self._line[start:])
        if self._pre or not text.strip() or not target or target.startswith("#"):
            return
        try:
            whole = urljoin(self._url, target.strip())
        except ValueError:
            return
        if whole.startswith(("http://", "https://")):
            self._line[start:] = [f"[{text.strip()}]({_BLANKS.sub('%20', whole)})"]
            self.held += len(whole)
