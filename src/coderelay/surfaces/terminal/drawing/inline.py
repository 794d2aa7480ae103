"""What stands in a line of markdown, in colours."""

from collections.abc import Sequence

from markdown_it.token import Token

from coderelay.client.visible import visible
from coderelay.surfaces.terminal.drawing.paint import BOLD, CYAN, DIM, ITALIC, STRUCK, UNDERLINED
from coderelay.surfaces.terminal.drawing.wrapping import Span

_STYLES = {"strong": BOLD, "em": ITALIC, "s": STRUCK, "link": UNDERLINED}
_ITEM_MARKS = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}


def spans_of(tokens: Sequence[Token], style: str = "", *, in_item: bool = False) -> list[Span]:
    """A link is followed by its address. Lines end where they were written to end."""
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
