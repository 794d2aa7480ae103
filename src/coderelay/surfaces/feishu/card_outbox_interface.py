"""The way from the chat side to the platform: the cards of a chat, each with a key, as they should look now."""

from typing import Any, Protocol

from msgspec import Struct

Card = dict[str, Any]

STREAMED_ELEMENT = "answer"
"""The `element_id` of the text (a `markdown` element, or the `plain_text` in a `div`) that `stream` writes to. A card
whose `config.streaming_mode` is true must have it; any other card is sent as it is."""


class ChatPlace(Struct, frozen=True):
    """Where a card belongs. `reply_to` is the message that it answers (its thread, if it is in one)."""

    chat_id: str
    reply_to: str = ""


class CardOutbox(Protocol):
    async def show(self, key: str, place: ChatPlace, card: Card) -> None:
        """The card with this key looks like this from now on. Durable when it returns; sent soon after, once. The
        first call for a key sends a message, later ones change that message, and newer content replaces older content
        that was not sent yet. `place` counts in the first call only. Content that is there already changes nothing,
        so this may be repeated."""
        ...

    def stream(self, key: str, text: str) -> None:
        """The whole text of the streamed element up to now. It is not durable, and dropped when newer text comes
        before the platform accepts it. Without effect before `show` with a streaming card, and after `show` with
        another."""
        ...

    async def message_of(self, key: str) -> str | None:
        """The message of a card; None while it is not sent."""
        ...

    async def card_of(self, key: str) -> Card | None:
        """The card with this key as it should look now; None if there is none."""
        ...

    async def key_of(self, message_id: str) -> str | None:
        """The card in this message; None if this bot has not sent it."""
        ...
