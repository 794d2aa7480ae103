"""The fake platform refuses what the platform refuses, so that tests with it prove something."""

from typing import Any

import pytest

from coderelay.testing.feishu_server.card_rules import MOST_BYTES, BadCard, check_card, streamed_texts

BUTTON = {"tag": "button", "text": {"tag": "plain_text", "content": "ok"}}
TEXT = {"tag": "div", "text": {"tag": "plain_text", "content": "hi"}}


def newer(*elements: Any, **more: Any) -> dict[str, Any]:
    return {"schema": "2.0", "body": {"elements": [*elements]}, **more}


SUBMIT = {**BUTTON, "name": "ok", "form_action_type": "submit"}
FORM = {"tag": "form", "name": "f", "elements": [{"tag": "input", "name": "q"}, SUBMIT]}
CALLBACK = {**BUTTON, "behaviors": [{"type": "callback", "value": {"a": 1}}]}
COLUMNS = {"tag": "column_set", "columns": [{"tag": "column", "elements": [BUTTON]}]}


@pytest.mark.parametrize(
    "card",
    [
        newer(TEXT, CALLBACK, FORM, COLUMNS, {"tag": "hr"}),
        newer(
            header={"title": {"tag": "plain_text", "content": "t"}, "template": "red"}, config={"update_multi": True}
        ),
        {"elements": [{"tag": "action", "actions": [{**BUTTON, "value": "confirm"}]}]},
    ],
)
def test_cards_that_the_platform_takes(card: dict[str, Any]) -> None:
    check_card(card, 100)


@pytest.mark.parametrize(
    ("card", "why"),
    [
        ([], "a card is an object"),
        ({"schema": "3.0"}, "schema"),
        ({"schema": "2.0"}, "body is missing"),
        (newer({"tag": "action", "actions": [BUTTON]}), "'action' is not supported"),
        (newer({"tag": "note", "elements": []}), "'note' is not supported"),
        (newer(TEXT, elements=[]), "unknown attribute 'elements'"),
        (newer({**TEXT, "colour": "red"}), "unknown attribute 'colour'"),
        (newer({**BUTTON, "value": {"a": 1}}), "unknown attribute 'value'"),
        (newer(config={"wide_screen_mode": True}), "unknown attribute 'wide_screen_mode'"),
        (newer({**BUTTON, "behaviors": [{"type": "callback", "value": "confirm"}]}), "must be an object"),
        (newer({"tag": "button", "text": "ok"}), "plain_text or lark_md"),
        (newer({"tag": "div"}), "plain_text or lark_md"),
        (newer({"tag": "column_set", "columns": [{"tag": "column", "elements": [FORM]}]}), "at the root"),
        (newer({**FORM, "elements": [{"tag": "input", "name": "q"}]}), "a button that submits it"),
        (newer({**FORM, "elements": [{"tag": "input"}, SUBMIT]}), "needs a name"),
        (newer({**TEXT, "element_id": "a"}, {**TEXT, "element_id": "a"}), "stands twice"),
        (newer({**TEXT, "element_id": "1 a"}), "element_id"),
        (newer(*[TEXT] * 120), "240 elements"),
        ({"elements": [{"tag": "collapsible_panel"}]}, "not supported in the older schema"),
        ({"elements": [], "body": {}}, "unknown attribute 'body'"),
    ],
)
def test_e21_cards_that_the_platform_refuses(card: Any, why: str) -> None:
    with pytest.raises(BadCard) as refused:
        check_card(card, 100)
    assert why in str(refused.value)


def test_text_is_streamed_to_a_text_not_to_the_div_around_it() -> None:
    text = {"tag": "plain_text", "element_id": "text", "content": "hi"}
    card = newer({"tag": "div", "element_id": "around", "text": text}, {"tag": "hr", "element_id": "line"})
    check_card(card, 100)
    assert streamed_texts(card) == {"text": text}


def test_e21_a_card_that_is_too_large_is_refused() -> None:
    with pytest.raises(BadCard):
        check_card(newer(TEXT), MOST_BYTES + 1)
