"""The events that the platform sends to a bot, messages and clicks, whichever way they come; and who handles them."""

from typing import Any, Literal, Protocol

from msgspec import Struct

ChatKind = Literal["p2p", "group"]
ToastKind = Literal["success", "info", "warning", "error"]


class ChatMessage(Struct, frozen=True, tag="message"):
    """A person wrote something. `text` has the names of other people in place of the platform's mention keys, and
    nothing in place of a mention of the bot. `thread_id` is empty outside of topics. `at` is in milliseconds. `kind`
    is the platform's: a message that is neither `text` nor `post` (rich text), such as `image`, arrives without a
    text."""

    event_id: str
    message_id: str
    chat_id: str
    chat_kind: ChatKind
    sender: str
    tenant: str
    text: str
    mentions_bot: bool = False
    thread_id: str = ""
    at: int = 0
    kind: str = "text"


class CardClick(Struct, frozen=True, tag="click"):
    """A person used a button or a form of the card in `message_id`. `value` is what the button carries; a button that
    carries a bare text `confirm` arrives as `{"action": "confirm"}`. `form` has the fields of a form by their names;
    what is chosen or typed outside of a form stands there by the name of its element.
    `operator` is the open_id of whoever clicked."""

    event_id: str
    message_id: str
    chat_id: str
    operator: str
    tenant: str
    value: dict[str, Any]
    form: dict[str, Any] = {}
    at: int = 0


Incoming = ChatMessage | CardClick


class ClickAnswer(Struct, frozen=True):
    """What a person sees at once after a click: a toast, and the card as it looks now if it changed."""

    toast_kind: ToastKind = "info"
    toast: str = ""
    card: dict[str, Any] | None = None


class IncomingHandler(Protocol):
    """The chat side, which both connections call. Each event reaches it once, whatever the platform repeats; after a
    crash in the middle of an event, that event is handed over again, so its effects must be idempotent (derive ids
    from `event_id`)."""

    async def message(self, message: ChatMessage) -> None:
        """Called in the order of arrival for each chat. The platform has been answered already. If it raises
        StoreFailed, the message is handed over again later."""
        ...

    async def click(self, click: CardClick) -> ClickAnswer:
        """Called while the person waits: the platform gives up after 3 seconds, and shows an error."""
        ...
