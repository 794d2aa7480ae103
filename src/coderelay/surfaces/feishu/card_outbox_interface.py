"""The interface of the outbox, the way of cards from the chat side to the platform, and the records that it stores.

The chat side says how each card, by its key, should look now.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from coderelay.protocol.key_value_store import KeyValueStore

CARDS, UNSENT, MESSAGES, DEAD = "card/", "unsent/", "message/", "dead/"


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


class CardRecord(Struct):
    """A card as it should look (`card`, the state with the number `wanted`), and what the platform has of it: `shown`
    is the number of the state that it shows, in the message `message_id`. `has_entity` says that a card of CardKit
    was made before the message, or may not be made; `card_id` is its id, and `is_streaming` says that text can be
    streamed to it. The bot `holder` sends the card, and until `until` nobody else does. Times are in milliseconds."""

    place: ChatPlace
    card: Card
    created: int
    wanted: int = 1
    shown: int = 0
    message_id: str = ""
    card_id: str = ""
    has_entity: bool = False
    is_streaming: bool = False
    holder: str = ""
    until: int = 0
    attempts: int = 0
    trying_since: int = 0
    not_before: int = 0
    error: str = ""
    is_dead: bool = False

    @property
    def is_sent(self) -> bool:
        return self.shown == self.wanted


class DeadLetter(Struct, frozen=True):
    """A card that is not sent any more. `at` is in milliseconds."""

    key: str
    chat_id: str
    error: str
    at: int


_records = msgspec.json.Decoder(CardRecord)
_letters = msgspec.json.Decoder(DeadLetter)


def decode_record(value: bytes) -> CardRecord:
    return _records.decode(value)


def wants_streaming(card: Card) -> bool:
    config: Any = card.get("config") or {}
    return config.get("streaming_mode") is True


def without_streaming(card: Card) -> Card:
    """The card as an ordinary one, which is sent whole."""
    if not wants_streaming(card):
        return card
    left = {name: each for name, each in card["config"].items() if name not in ("streaming_mode", "streaming_config")}
    return {**card, "config": left}


async def dead_letters(key_values: KeyValueStore) -> Sequence[DeadLetter]:
    return [_letters.decode(each.value) for each in await key_values.list(DEAD)]
