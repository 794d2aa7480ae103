"""The stored form of a card in the outbox, and of one that cannot be sent."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from coderelay.protocol.key_value_store import KeyValueStore
from coderelay.surfaces.feishu.card_outbox_interface import Card, ChatPlace

CARDS, UNSENT, MESSAGES, DEAD = "card/", "unsent/", "message/", "dead/"


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
