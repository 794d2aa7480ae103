"""The layout of a card, and its JSON in the platform's two card schemas.

Everything that people, models or programs have written goes in as `plain_text`, which the platform shows as it is: in
its Markdown, a text could mention people or disguise a link. Sizes stay below the limits of the platform: 30 KB for a
card, and few enough buttons in a row.
"""

import json
from typing import Any, Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces.feishu.card_outbox_interface import STREAMED_ELEMENT, Card

CardSchema = Literal["2.0", "1.0"]
ButtonKind = Literal["primary", "default", "danger"]
Colour = Literal["blue", "green", "orange", "red", "grey"]

MOST_BYTES = 24_000
"""Of the texts in a card, roughly."""
_MOST_JSON_BYTES = 28_000  # the platform allows 30 KB
_SHORTEST = 40
_LABEL = 60  # the platform allows 100 characters
_TITLE = 150
_ROW = 4


class Paragraph(Struct, frozen=True, tag="text"):
    """A paragraph of plain text. With `is_small`, it is a remark below the others."""

    text: str
    is_small: bool = False


class StreamedText(Struct, frozen=True, tag="streamed"):
    """The text that grows while the card streams."""

    text: str = ""


class Divider(Struct, frozen=True, tag="rule"):
    """A line between two parts of a card."""


class Button(Struct, frozen=True, tag="button"):
    """`value` comes back with the click."""

    label: str
    value: dict[str, str]
    kind: ButtonKind = "default"


class LinkButton(Struct, frozen=True, tag="link"):
    """Opens one of our own addresses. Nothing from outside may choose it."""

    label: str
    url: str


class Buttons(Struct, frozen=True, tag="buttons"):
    row: tuple[Button | LinkButton, ...]


class Choice(Struct, frozen=True, tag="choice"):
    """A field where one or several options are selected. An option is its label; what comes back is its number."""

    name: str
    options: tuple[str, ...]
    several: bool = False


class TextField(Struct, frozen=True, tag="field"):
    name: str
    hint: str = ""


class Form(Struct, frozen=True, tag="form"):
    """Fields that are sent together. `heading` texts stand between them."""

    name: str
    parts: tuple[Paragraph | Choice | TextField, ...]
    submit: Button


Part = Paragraph | StreamedText | Divider | Buttons | Form


class Layout(Struct, frozen=True):
    """A card before it is JSON. `summary` is what a notification and the list of chats show."""

    title: str
    colour: Colour
    parts: tuple[Part, ...] = ()
    summary: str = ""
    is_streaming: bool = False


def card_of(layout: Layout, schema: CardSchema = "2.0") -> Card:
    """The JSON of a card. If it would be too large for the platform, its longest texts are cut."""
    make = _newer if schema == "2.0" else _older
    card = make(layout)
    most = MOST_BYTES
    while size_of(card) > _MOST_JSON_BYTES and most > _SHORTEST:
        most //= 2
        card = make(_with_texts_cut(layout, most))
    return card


def size_of(card: Card) -> int:
    return len(json.dumps(card, ensure_ascii=False).encode(errors="replace"))


def cut(text: str, most_bytes: int, mark: str = "…") -> str:
    """The text, shortened to so many bytes at the end of a character."""
    data = text.encode(errors="replace")
    if len(data) <= most_bytes:
        return text
    return data[: max(0, most_bytes - len(mark.encode()))].decode(errors="ignore") + mark


def split(text: str, most_bytes: int) -> list[str]:
    """The text in pieces of at most so many bytes, divided at line breaks where there are some."""
    pieces: list[str] = []
    rest = text
    while len(rest.encode(errors="replace")) > most_bytes:
        piece = rest.encode(errors="replace")[:most_bytes].decode(errors="ignore")
        line_end = piece.rfind("\n")
        piece = piece[: line_end + 1] if line_end > len(piece) // 2 else piece
        pieces.append(piece)
        rest = rest[len(piece) :]
    return [*pieces, rest]


def _with_texts_cut(layout: Layout, most_bytes: int) -> Layout:
    return replace(layout, parts=tuple(_with_text_cut(each, most_bytes) for each in layout.parts))


def _with_text_cut(part: Part, most_bytes: int) -> Part:
    match part:
        case Paragraph() | StreamedText():
            return replace(part, text=cut(part.text, most_bytes))
        case Form():
            fields = [
                replace(each, text=cut(each.text, most_bytes)) if isinstance(each, Paragraph) else each
                for each in part.parts
            ]
            return replace(part, parts=tuple(fields))
        case _:
            return part


def _plain(text: str) -> dict[str, Any]:
    return {"tag": "plain_text", "content": visible(text)}


def _header(layout: Layout) -> dict[str, Any]:
    title = " ".join(layout.title.split()) if "\n" in layout.title else layout.title
    return {"title": _plain(cut(title, _TITLE)), "template": layout.colour}


def _newer(layout: Layout) -> Card:
    config: dict[str, Any] = {"update_multi": True}
    if layout.summary:
        config["summary"] = {"content": visible(cut(layout.summary, _TITLE))}
    if layout.is_streaming:
        config["streaming_mode"] = True
    elements = [element for part in layout.parts for element in _newer_elements(part)]
    return {"schema": "2.0", "config": config, "header": _header(layout), "body": {"elements": elements}}


def _newer_elements(part: Part) -> list[dict[str, Any]]:
    match part:
        case Paragraph():
            return [{"tag": "div", "text": _plain(part.text) | (_SMALL if part.is_small else {})}]
        case StreamedText():
            return [{"tag": "div", "text": _plain(part.text) | {"element_id": STREAMED_ELEMENT}}]
        case Divider():
            return [{"tag": "hr"}]
        case Buttons():
            return [_columns(part.row[start : start + _ROW]) for start in range(0, len(part.row), _ROW)]
        case Form():
            fields = [_newer_field(each) for each in part.parts]
            submit = _newer_button(part.submit) | {"name": f"{part.name}_submit", "form_action_type": "submit"}
            return [{"tag": "form", "name": part.name, "elements": [*fields, submit]}]
        case _:
            assert_never(part)


_SMALL = {"text_size": "notation", "text_color": "grey"}


def _columns(row: tuple[Button | LinkButton, ...]) -> dict[str, Any]:
    columns = [{"tag": "column", "width": "auto", "elements": [_newer_button(each)]} for each in row]
    return {"tag": "column_set", "flex_mode": "flow", "columns": columns}


def _newer_button(button: Button | LinkButton) -> dict[str, Any]:
    label = {"tag": "button", "text": _plain(cut(button.label, _LABEL))}
    if isinstance(button, LinkButton):
        return label | {"type": "default", "behaviors": [{"type": "open_url", "default_url": button.url}]}
    return label | {"type": button.kind, "behaviors": [{"type": "callback", "value": button.value}]}


def _newer_field(field: Paragraph | Choice | TextField) -> dict[str, Any]:
    match field:
        case Paragraph():
            return {"tag": "div", "text": _plain(field.text)}
        case Choice():
            return {"tag": "multi_select_static" if field.several else "select_static"} | _choice(field)
        case TextField():
            return {"tag": "input", "name": field.name, "placeholder": _plain(field.hint)}


def _choice(field: Choice) -> dict[str, Any]:
    options = [
        {"text": _plain(cut(label, _LABEL)), "value": str(number)} for number, label in enumerate(field.options, 1)
    ]
    return {"name": field.name, "options": options}


def _older(layout: Layout) -> Card:
    """The schema that the platform had before: a row of buttons is an `action`, and nothing streams."""
    elements = [element for part in layout.parts for element in _older_elements(part)]
    config = {"wide_screen_mode": True, "update_multi": True}
    return {"config": config, "header": _header(layout), "elements": elements}


def _older_elements(part: Part) -> list[dict[str, Any]]:
    match part:
        case Paragraph(is_small=True):
            return [{"tag": "note", "elements": [_plain(part.text)]}]
        case Paragraph() | StreamedText():
            return [{"tag": "div", "text": _plain(part.text)}]
        case Divider():
            return [{"tag": "hr"}]
        case Buttons():
            return [{"tag": "action", "actions": [_older_button(each) for each in part.row]}]
        case Form():
            fields = [_newer_field(each) for each in part.parts]
            submit = _older_button(part.submit) | {"name": f"{part.name}_submit", "action_type": "form_submit"}
            return [{"tag": "form", "name": part.name, "elements": [*fields, submit]}]
        case _:
            assert_never(part)


def _older_button(button: Button | LinkButton) -> dict[str, Any]:
    label = {"tag": "button", "text": _plain(cut(button.label, _LABEL))}
    if isinstance(button, LinkButton):
        return label | {"type": "default", "url": button.url}
    return label | {"type": button.kind, "value": button.value}
