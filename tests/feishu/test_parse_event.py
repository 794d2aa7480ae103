"""Events of the platform as it writes them, and everything else, which is refused."""

import copy
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderelay.surfaces.feishu.incoming_event_types import CardClick, ChatMessage
from coderelay.surfaces.feishu.parse_event import MOST_BYTES, EventRefused, parse_event

BOT = "ou_bot"
AT = 1_790_000_000_000


def event(kind: str, body: dict[str, Any], **header: Any) -> dict[str, Any]:
    made = {"event_id": "ev_1", "event_type": kind, "create_time": str(AT), "token": "v", "app_id": "cli_1"}
    return {"schema": "2.0", "header": {**made, "tenant_key": "t_1", **header}, "event": body}


def said(content: Any = None, kind: str = "text", **message: Any) -> dict[str, Any]:
    whole = {
        "message_id": "om_1",
        "chat_id": "oc_1",
        "chat_type": "p2p",
        "message_type": kind,
        "content": json.dumps({"text": "hi"} if content is None else content),
        **message,
    }
    sender = {"sender_id": {"open_id": "ou_1"}, "sender_type": "user", "tenant_key": "t_1"}
    return event("im.message.receive_v1", {"sender": sender, "message": whole})


def clicked(**action: Any) -> dict[str, Any]:
    body = {
        "operator": {"open_id": "ou_1", "tenant_key": "t_1"},
        "action": {"tag": "button", **action},
        "context": {"open_message_id": "om_1", "open_chat_id": "oc_1"},
    }
    return event("card.action.trigger", body)


def parsed(value: dict[str, Any]) -> Any:
    return parse_event(json.dumps(value).encode(), BOT).incoming


def mention(number: int, open_id: str, name: str) -> dict[str, Any]:
    return {"key": f"@_user_{number}", "id": {"open_id": open_id}, "name": name}


def test_a_text_of_a_person() -> None:
    expected = ChatMessage("ev_1", "om_1", "oc_1", "p2p", "ou_1", "t_1", "hi", at=AT)
    assert parsed(said()) == expected


def test_x31_a_mention_of_the_bot_is_taken_out_and_other_people_get_their_names() -> None:
    mentions = [mention(1, BOT, "coder"), mention(2, "ou_2", "Ann"), mention(10, "ou_3", "Bo")]
    text = {"text": "@_user_1 ask @_user_2 and @_user_10 "}
    message = parsed(said(text, chat_type="group", mentions=mentions, thread_id="omt_1"))
    assert (message.text, message.mentions_bot) == ("ask @Ann and @Bo", True)
    assert (message.chat_kind, message.thread_id) == ("group", "omt_1")
    assert not parsed(said({"text": "@_user_2 hi"}, chat_type="group", mentions=mentions[1:])).mentions_bot


def test_rich_text_is_read_line_by_line_and_other_kinds_have_no_text() -> None:
    post = {
        "title": "Plan",
        "content": [[{"tag": "at", "user_id": "@_user_1"}, {"tag": "text", "text": " do"}], [{"tag": "img"}]],
    }
    message = parsed(said(post, "post", mentions=[mention(1, BOT, "coder")]))
    assert (message.text, message.kind) == ("Plan\n do", "post")
    image = parsed(said({"image_key": "img_1"}, "image"))
    assert (image.text, image.kind) == ("", "image")


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ({"action": "confirm", "rid": "r1"}, {"action": "confirm", "rid": "r1"}),
        ("confirm", {"action": "confirm"}),
        ('{"action": "cancel"}', {"action": "cancel"}),
        (None, {}),
    ],
)
def test_x07_the_value_of_a_button_is_an_object_or_a_text(value: Any, read: dict[str, Any]) -> None:
    assert parsed(clicked(value=value)) == CardClick("ev_1", "om_1", "oc_1", "ou_1", "t_1", read, at=AT)


def test_what_is_typed_and_chosen_in_a_card_is_in_the_form() -> None:
    assert parsed(clicked(value={}, name="ok", form_value={"q": "a", "n": ["1", "2"]})).form == {
        "q": "a",
        "n": ["1", "2"],
    }
    assert parsed(clicked(value={}, tag="select_static", option="2")).form == {"select_static": "2"}
    assert parsed(clicked(value={}, tag="input", name="q", input_value="x")).form == {"q": "x"}


def test_what_bots_write_and_other_kinds_of_events_are_none_of_ours() -> None:
    by_bot = said()
    by_bot["event"]["sender"]["sender_type"] = "app"
    assert parsed(by_bot) is None
    assert parsed(event("im.message.message_read_v1", {"anything": 1})) is None


def _with(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(whole: dict[str, Any]) -> None:
        *above, last = path.split(".")
        for name in above:
            whole = whole[name]
        if value is KeyError:
            del whole[last]
        else:
            whole[last] = value

    return change


BAD: list[tuple[str, Any]] = [
    ("header", KeyError),
    ("header.event_id", ""),
    ("header.event_id", "a b"),
    ("header.event_id", "a\u0000"),
    ("header.event_id", "x" * 300),
    ("header.event_id", 7),
    ("header.create_time", "soon"),
    ("header.create_time", "-1790000000000"),
    ("header.create_time", 1790000000000),
    ("header.tenant_key", ""),
    ("event", None),
    ("event.sender.sender_id.open_id", None),
    ("event.sender", []),
    ("event.message.message_id", "../../x?"),
    ("event.message.chat_id", "\ud800"),
    ("event.message.chat_type", "channel"),
    ("event.message.content", "{"),
    ("event.message.content", "[]"),
    ("event.message.content", '{"text": 3}'),
    ("event.message.mentions", "all"),
    ("event.message.mentions", [{"key": 1}]),
]


@pytest.mark.parametrize(("path", "value"), BAD)
def test_a_malformed_message_is_refused(path: str, value: Any) -> None:
    whole = said()
    _with(path, value)(whole)
    with pytest.raises(EventRefused) as refused:
        parsed(whole)
    assert refused.value.reason == "malformed"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("event.action.value", 3),
        ("event.action.value", ["confirm"]),
        ("event.action.form_value", "x"),
        ("event.operator.open_id", ""),
        ("event.context", KeyError),
        ("event.context.open_message_id", ""),
    ],
)
def test_a_malformed_click_is_refused(path: str, value: Any) -> None:
    whole = clicked(value={})
    _with(path, value)(whole)
    with pytest.raises(EventRefused) as refused:
        parsed(whole)
    assert refused.value.reason == "malformed"


def test_what_is_too_large_is_refused_unread() -> None:
    for raw in (b" " * (MOST_BYTES + 1), json.dumps(clicked(value={"a": "x" * 20_000})).encode()):
        with pytest.raises(EventRefused) as refused:
            parse_event(raw, BOT)
        assert refused.value.reason == "too large"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.binary(max_size=300), JSON, st.sampled_from([path for path, _ in BAD]))
def test_nothing_from_outside_is_more_than_refused(noise: bytes, value: Any, path: str) -> None:
    """Any other exception would be a mistake of ours."""
    changed = copy.deepcopy(said())
    _with(path, value)(changed)
    for raw in (noise, json.dumps(value).encode(), json.dumps(changed).encode(), b"[" * 100_000):
        with suppress(EventRefused):
            parse_event(raw, BOT)
