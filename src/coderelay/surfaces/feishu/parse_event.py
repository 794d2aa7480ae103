"""Events of the platform, read strictly: what is not clearly a message or a click is refused with a reason."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from coderelay.surfaces.feishu.incoming_event_types import CardClick, ChatKind, ChatMessage, Incoming

MOST_BYTES = 512 * 1024
"""Of one event. The platform allows texts of 150 KB."""

_ID = r"[A-Za-z0-9_:.@+=/-]{1,200}"
_MOST_VALUE_BYTES = 16 * 1024

RefusalReason = Literal["malformed", "unsigned", "forged", "stale", "token", "app", "tenant", "too large"]


class EventRefused(Exception):
    """An event that must not act. `reason` is for logs and answers; `detail` may hold text from outside."""

    def __init__(self, reason: RefusalReason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason: RefusalReason = reason
        self.detail = detail


class _Header(Struct):
    event_id: str
    event_type: str
    create_time: str
    app_id: str
    tenant_key: str
    token: str = ""


class _UserId(Struct):
    open_id: str | None = None


class _Sender(Struct):
    sender_id: _UserId
    sender_type: str = "user"
    tenant_key: str | None = None


class _Mention(Struct):
    key: str
    id: _UserId
    name: str = ""


class _Message(Struct):
    message_id: str
    chat_id: str
    chat_type: str
    message_type: str
    content: str
    thread_id: str | None = None
    mentions: list[_Mention] | None = None


class _MessageEvent(Struct):
    sender: _Sender
    message: _Message


class _Operator(Struct):
    open_id: str
    tenant_key: str | None = None


class _Action(Struct):
    value: Any = None
    tag: str = ""
    name: str | None = None
    form_value: dict[str, Any] | None = None
    input_value: str | None = None
    option: str | None = None
    options: list[str] | None = None


class _ClickContext(Struct):
    open_message_id: str
    open_chat_id: str


class _ClickEvent(Struct):
    operator: _Operator
    action: _Action
    context: _ClickContext


class _Event(Struct):
    """`event` is read when its type is known."""

    header: _Header
    event: msgspec.Raw
    schema: str = "2.0"


class EventHeader(Struct, frozen=True):
    """What is checked before an event acts: `token` is the app's verification token, `at` in milliseconds."""

    event_id: str
    app_id: str
    tenant: str
    token: str
    at: int


class ParsedEvent(Struct, frozen=True):
    """`incoming` is None for an event that the bot ignores (another type, or written by a bot)."""

    header: EventHeader
    incoming: Incoming | None


def parse_event(raw: bytes, bot: str) -> ParsedEvent:
    """Read an event. `bot` is the open_id of the bot itself. Raises EventRefused."""
    if len(raw) > MOST_BYTES:
        raise EventRefused("too large", f"{len(raw)} bytes")
    try:
        event = msgspec.json.decode(raw, type=_Event)
        header = _header(event.header)
        incoming = _incoming(event, header, bot)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise EventRefused("malformed", str(error)) from error
    return ParsedEvent(header, incoming)


def _header(header: _Header) -> EventHeader:
    if not re.fullmatch(r"[0-9]{13}(?:[0-9]{3})?", header.create_time):
        raise EventRefused("malformed", "create_time is no time")
    return EventHeader(
        _id(header.event_id, "event_id"),
        header.app_id,
        _id(header.tenant_key, "tenant_key"),
        header.token,
        int(header.create_time[:13]),
    )


def _incoming(event: _Event, header: EventHeader, bot: str) -> Incoming | None:
    match event.header.event_type:
        case "im.message.receive_v1":
            said = msgspec.json.decode(event.event, type=_MessageEvent)
            return None if said.sender.sender_type != "user" else _message(said, header, bot)
        case "card.action.trigger":
            return _click(msgspec.json.decode(event.event, type=_ClickEvent), header)
        case _:
            return None


def _message(said: _MessageEvent, header: EventHeader, bot: str) -> ChatMessage:
    message = said.message
    mentions = message.mentions or []
    text = _text(message.message_type, message.content)
    return ChatMessage(
        event_id=header.event_id,
        message_id=_id(message.message_id, "message_id"),
        chat_id=_id(message.chat_id, "chat_id"),
        chat_kind=_chat_kind(message.chat_type),
        sender=_id(said.sender.sender_id.open_id or "", "open_id"),
        tenant=said.sender.tenant_key or header.tenant,
        text=_with_names(text, mentions, bot),
        mentions_bot=any(each.id.open_id == bot for each in mentions),
        thread_id=_id(message.thread_id, "thread_id") if message.thread_id else "",
        at=header.at,
        kind=message.message_type,
    )


def _chat_kind(text: str) -> ChatKind:
    match text:
        case "p2p":
            return "p2p"
        case "group" | "topic_group":
            return "group"
        case _:
            raise EventRefused("malformed", f"chat_type {text[:40]!r}")


def _text(kind: str, content: str) -> str:
    if kind not in ("text", "post"):
        return ""
    found = msgspec.json.decode(content, type=dict[str, Any])
    if kind == "text":
        text = found.get("text")
        if not isinstance(text, str):
            raise EventRefused("malformed", "a text message without a text")
        return text
    return "\n".join(_lines_of_post(found))


def _lines_of_post(post: Mapping[str, Any]) -> Iterator[str]:
    """The lines of rich text, which an event has in the language of its writer only."""
    if isinstance(post.get("title"), str) and post["title"]:
        yield post["title"]
    lines: Any = post.get("content")
    if not isinstance(lines, list):
        raise EventRefused("malformed", "a post without content")
    for line in cast("list[Any]", lines):
        pieces = cast("list[Any]", line) if isinstance(line, list) else []
        yield "".join(_text_of_piece(cast("dict[str, Any]", each)) for each in pieces if isinstance(each, dict))


def _text_of_piece(piece: Mapping[str, Any]) -> str:
    for name in ("text", "user_id"):  # a mention has its key as user_id
        if isinstance(piece.get(name), str):
            return str(piece[name])
    return ""


def _with_names(text: str, mentions: list[_Mention], bot: str) -> str:
    keys = {each.key: "" if each.id.open_id == bot else f"@{each.name}" for each in mentions if each.key}
    if keys:
        longest_first = sorted(keys, key=len, reverse=True)  # @_user_1 is the beginning of @_user_10
        pattern = "|".join(map(re.escape, longest_first))
        text = re.sub(pattern, lambda found: keys[found[0]], text)
    return text.strip()


def _click(clicked: _ClickEvent, header: EventHeader) -> CardClick:
    action = clicked.action
    form = dict(action.form_value or {})
    name = action.name or action.tag
    for each in (action.option, action.options, action.input_value):
        if each is not None and name:
            form.setdefault(name, each)
    value = _value(action.value)
    if len(msgspec.json.encode((value, form))) > _MOST_VALUE_BYTES:
        raise EventRefused("too large", "the value of a click")
    return CardClick(
        event_id=header.event_id,
        message_id=_id(clicked.context.open_message_id, "open_message_id"),
        chat_id=_id(clicked.context.open_chat_id, "open_chat_id"),
        operator=_id(clicked.operator.open_id, "open_id"),
        tenant=clicked.operator.tenant_key or header.tenant,
        value=value,
        form=form,
        at=header.at,
    )


def _value(value: Any) -> dict[str, Any]:
    """What a button carries: an object, or the bare text of the older cards, which may be an object as text."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    if isinstance(value, str):
        try:
            return msgspec.json.decode(value, type=dict[str, Any])
        except msgspec.DecodeError:
            return {"action": value}
    if value is None:
        return {}
    raise EventRefused("malformed", "the value of a click is neither an object nor a text")


def _id(text: str, name: str) -> str:
    if not re.fullmatch(_ID, text):
        raise EventRefused("malformed", f"{name} {text[:40]!r}")
    return text
