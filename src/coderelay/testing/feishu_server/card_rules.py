"""What the platform refuses in a card. As strict as its documents: an attribute that they do not name is an error."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

MOST_BYTES = 30 * 1024
_MOST_ELEMENTS = 200
_ELEMENT_ID = r"[A-Za-z][A-Za-z0-9_]{0,19}"

_ROOT = {"schema", "config", "card_link", "header", "body"}
_BODY = {
    "elements", "direction", "padding", "horizontal_spacing", "vertical_spacing", "horizontal_align",
    "vertical_align",
}  # fmt: skip
_CONFIG = {
    "streaming_mode", "streaming_config", "summary", "locales", "enable_forward", "update_multi", "width_mode",
    "use_custom_translation", "enable_forward_interaction", "style",
}  # fmt: skip
_HEADER = {"title", "subtitle", "template", "icon", "text_tag_list", "padding"}
_COMMON = {"tag", "element_id", "margin"}
_TEXT = {"tag", "element_id", "content", "text_size", "text_color", "text_align", "lines", "i18n_content"}
_OPTION = {"text", "value", "icon"}
_FIELD = {"name", "placeholder", "required", "disabled", "width", "behaviors", "confirm", "value"}
_TAGS: dict[str, set[str]] = {
    "markdown": {"content", "text_align", "text_size", "icon"},
    "div": {"text", "fields", "icon", "width"},
    "hr": set(),
    "img": {"img_key", "alt", "title", "mode", "scale_type", "size", "preview", "corner_radius"},
    "button": {
        "text", "type", "size", "width", "icon", "hover_tips", "disabled", "disabled_tips", "confirm", "behaviors",
        "name", "form_action_type", "required",
    },
    "column_set": {
        "flex_mode", "background_style", "horizontal_spacing", "horizontal_align", "columns", "action",
    },
    "column": {
        "elements", "width", "weight", "vertical_align", "vertical_spacing", "horizontal_align", "direction",
        "background_style", "padding", "action", "horizontal_spacing",
    },
    "form": {"name", "elements", "direction", "vertical_spacing", "horizontal_spacing", "padding", "confirm"},
    "input": _FIELD | {
        "default_value", "label", "label_position", "max_length", "input_type", "show_icon", "rows", "auto_resize",
        "max_rows", "fallback",
    },
    "select_static": _FIELD | {"options", "initial_option", "initial_index", "type"},
    "multi_select_static": _FIELD | {"options", "selected_values", "type"},
    "checker": {"name", "text", "checked", "behaviors", "overall_checkable", "disabled", "padding", "confirm"},
    "collapsible_panel": {
        "expanded", "header", "elements", "border", "background_color", "vertical_spacing", "padding", "direction",
    },
    "interactive_container": {
        "elements", "behaviors", "width", "height", "background_style", "has_border", "border_color",
        "corner_radius", "padding", "direction", "vertical_spacing", "disabled", "hover_tips", "confirm",
    },
}  # fmt: skip
_OLD_ROOT = {"config", "header", "elements", "card_link"}
_OLD_CONFIG = {"wide_screen_mode", "enable_forward", "update_multi"}
_OLD_TAGS = {"div", "hr", "action", "note", "img", "markdown", "column_set", "form"}


class BadCard(Exception):
    """The platform answers 230099 (in a message) or 300001 (CardKit) to it."""


def check_card(card: object, size: int) -> None:
    """Raise BadCard if the platform would refuse the card, whose JSON has `size` bytes."""
    if size > MOST_BYTES:
        raise BadCard(f"the card has {size} bytes")
    if not isinstance(card, dict):
        raise BadCard("a card is an object")
    root = cast("dict[str, Any]", card)
    if root.get("schema") == "2.0":
        _check_new(root)
    elif "schema" in root:
        raise BadCard(f"schema {root['schema']!r}")
    else:
        _check_old(root)


def _check_new(card: Mapping[str, Any]) -> None:
    _only(card, _ROOT, "the card")
    _only(card.get("config", {}), _CONFIG, "config")
    _check_header(card.get("header"))
    body = card.get("body")
    if not isinstance(body, dict):
        raise BadCard("body is missing")
    _only(cast("dict[str, Any]", body), _BODY, "body")
    elements = list(tagged(card))  # texts count as elements too
    if len(elements) > _MOST_ELEMENTS:
        raise BadCard(f"{len(elements)} elements")
    ids = [each["element_id"] for each in elements if "element_id" in each]
    if bad := [each for each in ids if not re.fullmatch(_ELEMENT_ID, each)]:
        raise BadCard(f"element_id {bad[0]!r}")
    if len(set(ids)) < len(ids):
        raise BadCard("an element_id stands twice")
    _check_elements(_list(body, "elements"), is_root=True, in_form=False)


def _check_header(header: Any) -> None:
    if header is not None:
        _only(header, _HEADER, "header")
        _check_text(header.get("title"), "header.title")


def _check_elements(elements: Sequence[Any], *, is_root: bool, in_form: bool) -> None:
    for each in elements:
        element = cast("dict[str, Any]", each) if isinstance(each, dict) else {}
        tag = element.get("tag", "")
        if tag not in _TAGS:
            raise BadCard(f"the tag {tag!r} is not supported in schema 2.0")
        _only(element, _TAGS[tag] | _COMMON, tag)
        if tag == "form" and not is_root:
            raise BadCard("a form must be at the root of the card")
        _check_element(tag, element, in_form=in_form)


def _check_element(tag: str, element: Mapping[str, Any], *, in_form: bool) -> None:
    match tag:
        case "markdown":
            if not isinstance(element.get("content"), str):
                raise BadCard("markdown without content")
        case "div":
            _check_text(element.get("text"), "div.text")
        case "button":
            _check_text(element.get("text"), "button.text")
            if in_form and not element.get("name"):
                raise BadCard("a button in a form needs a name")
        case "form":
            if not element.get("name"):
                raise BadCard("a form needs a name")
            _check_elements(_list(element, "elements"), is_root=False, in_form=True)
            if not any(each.get("form_action_type") == "submit" for each in elements_of(element)):
                raise BadCard("a form needs a button that submits it")
        case "input" | "select_static" | "multi_select_static":
            if in_form and not element.get("name"):
                raise BadCard(f"{tag} in a form needs a name")
            for option in element.get("options", ()):
                _only(option, _OPTION, "option")
                _check_text(option.get("text"), "option.text")
        case "column_set":
            for column in _list(element, "columns"):
                _only(column, _TAGS["column"] | _COMMON, "column")
                _check_elements(_list(column, "elements"), is_root=False, in_form=in_form)
        case "collapsible_panel" | "interactive_container":
            _check_elements(_list(element, "elements"), is_root=False, in_form=in_form)
        case _:
            pass
    for behavior in element.get("behaviors", ()):
        _check_behavior(behavior)


def _check_behavior(behavior: Mapping[str, Any]) -> None:
    match behavior.get("type"):
        case "callback":
            _only(behavior, {"type", "value"}, "behavior")
            if not isinstance(behavior.get("value"), dict):
                raise BadCard("the value of a callback must be an object")
        case "open_url":
            _only(behavior, {"type", "default_url", "pc_url", "ios_url", "android_url"}, "behavior")
        case "form_action":
            _only(behavior, {"type", "behavior"}, "behavior")
        case kind:
            raise BadCard(f"behavior {kind!r}")


def _check_old(card: Mapping[str, Any]) -> None:
    _only(card, _OLD_ROOT, "the card")
    _only(card.get("config", {}), _OLD_CONFIG, "config")
    _check_header(card.get("header"))
    for each in _list(card, "elements"):
        if each.get("tag") not in _OLD_TAGS:
            raise BadCard(f"the tag {each.get('tag')!r} is not supported in the older schema")


def _check_text(text: Any, where: str) -> None:
    if not isinstance(text, dict) or cast("dict[str, Any]", text).get("tag") not in ("plain_text", "lark_md"):
        raise BadCard(f"{where} must be plain_text or lark_md")
    _only(cast("dict[str, Any]", text), _TEXT, where)
    if not isinstance(cast("dict[str, Any]", text).get("content"), str):
        raise BadCard(f"{where} has no content")


def _only(value: Any, names: set[str], where: str) -> None:
    if not isinstance(value, dict):
        raise BadCard(f"{where} must be an object")
    if unknown := set(cast("dict[str, Any]", value)) - names:
        raise BadCard(f"unknown attribute {sorted(unknown)[0]!r} in {where}")


def _list(value: Any, name: str) -> list[Any]:
    found = value.get(name)
    if not isinstance(found, list):
        raise BadCard(f"{name} must be a list")
    return cast("list[Any]", found)


def elements_of(value: object) -> Iterator[dict[str, Any]]:
    """All components of a card, the outer ones first, without their texts."""
    return (each for each in tagged(value) if each["tag"] not in ("plain_text", "lark_md"))


def tagged(value: object) -> Iterator[dict[str, Any]]:
    """All objects with a tag inside of a card, the outer ones first. Behaviours and their values are left out."""
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value)
        if "tag" in inner:
            yield inner
        for name, each in inner.items():
            if name not in ("behaviors", "value"):
                yield from tagged(each)
    elif isinstance(value, list):
        for each in cast("list[object]", value):
            yield from tagged(each)


def streamed_texts(card: object) -> dict[str, dict[str, Any]]:
    """What text can be streamed to, by its own `element_id`: Markdown, and plain text (not the `div` around it)."""
    named = {each["element_id"]: each for each in tagged(card) if "element_id" in each}
    return {name: each for name, each in named.items() if each["tag"] in ("markdown", "plain_text")}


def texts_of(card: object) -> list[str]:
    """All texts that a person reads in a card, in order."""
    found: list[str] = []

    def walk(value: object) -> None:
        if isinstance(value, dict):
            inner = cast("dict[str, Any]", value)
            if isinstance(inner.get("content"), str) and inner.get("tag") != "input":
                found.append(inner["content"])
            for name, each in inner.items():
                if name not in ("behaviors", "value", "config", "i18n_content"):
                    walk(each)
        elif isinstance(value, list):
            for each in cast("list[object]", value):
                walk(each)

    walk(json.loads(json.dumps(card)))
    return found
