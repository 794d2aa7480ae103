"""A card as a person reads it: its title, its texts and its buttons, of either schema."""

from collections.abc import Iterator
from typing import Any, cast

from msgspec import Struct

Json = dict[str, Any]


class ButtonRead(Struct, frozen=True):
    label: str
    kind: str
    value: Any
    is_submit: bool = False


class CardRead(Struct, frozen=True):
    title: str
    texts: tuple[str, ...]
    buttons: tuple[ButtonRead, ...]
    links: tuple[str, ...]
    fields: tuple[Json, ...]
    raw: Json

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    @property
    def labels(self) -> list[str]:
        return [each.label for each in self.buttons]

    def button(self, label: str) -> ButtonRead:
        return next(each for each in self.buttons if each.label == label)


def read_card(card: Json) -> CardRead:
    elements = card["body"]["elements"] if card.get("schema") == "2.0" else card["elements"]
    found = [each for element in elements for each in _walk(element)]
    buttons = [each for each in found if each["tag"] == "button"]
    return CardRead(
        title=card["header"]["title"]["content"],
        texts=tuple(text for each in found if (text := _text(each))),
        buttons=tuple(_button(each) for each in buttons if _url(each) is None),
        links=tuple(url for each in buttons if (url := _url(each)) is not None),
        fields=tuple(each for each in found if each["tag"] in _FIELDS),
        raw=card,
    )


_FIELDS = ("input", "select_static", "multi_select_static")


def _walk(element: Json) -> Iterator[Json]:
    yield element
    for name in ("elements", "columns", "actions"):
        for each in cast("list[Json]", element.get(name, [])):
            yield from _walk(each)


def _text(element: Json) -> str:
    match element["tag"]:
        case "div":
            return element["text"]["content"]
        case "plain_text" | "markdown":
            return element["content"]
        case _:
            return ""


def _button(element: Json) -> ButtonRead:
    value = element.get("value")
    for each in element.get("behaviors", ()):
        value = each.get("value")
    is_submit = "form_action_type" in element or element.get("action_type") == "form_submit"
    return ButtonRead(element["text"]["content"], element["type"], value, is_submit)


def _url(element: Json) -> str | None:
    return next(
        (each["default_url"] for each in element.get("behaviors", ()) if each["type"] == "open_url"),
        element.get("url"),
    )
