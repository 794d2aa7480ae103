"""Brings one card of the outbox to the platform: the calls that it takes, within the limits."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from coderelay.surfaces.feishu.card_outbox_interface import (
    STREAMED_ELEMENT,
    CardRecord,
    wants_streaming,
    without_streaming,
)
from coderelay.surfaces.feishu.lark_api import LarkApi, PlatformError
from coderelay.surfaces.feishu.rate_limits import (
    RateLimit,
    RateLimits,
    call_limits,
    card_limit,
    chat_limit,
    message_limit,
)

_RENEW_MS = 8 * 60 * 1000  # the platform ends streaming ten minutes after it was begun
_MOST_STREAMED_BYTES = 24_000  # a card has 30 KB at most
_SEQUENCE_JUMP = 60_000
_MOST_KEPT = 5000


class SentCard(Struct, frozen=True):
    """What the platform has after a card was sent."""

    message_id: str
    card_id: str
    is_streaming: bool


class CardSender:
    def __init__(self, app_id: str, api: LarkApi, limits: RateLimits, clock: Callable[[], int]) -> None:
        self._app_id = app_id
        self._api = api
        self._limits = limits
        self._clock = clock
        self._sequences: dict[str, int] = {}
        self._streaming_since: dict[str, int] = {}

    def limits_of(self, record: CardRecord) -> tuple[RateLimit, ...]:
        """What the next call for a card has to wait for."""
        if not record.message_id:
            return (chat_limit(record.place.chat_id), *call_limits("create"))
        if record.card_id:
            return (card_limit(record.card_id), *call_limits("update"))
        return (message_limit(record.message_id), *call_limits("patch"))

    async def send(self, key: str, record: CardRecord) -> SentCard:
        """Let the platform show the card. Raises PlatformError. If it is not known whether that worked, it may be
        done again: a new message has the same `uuid` each time."""
        if not record.message_id:
            return await self._create(key, record)
        if not record.card_id:
            await self._api.patch(record.message_id, without_streaming(record.card))
            return SentCard(record.message_id, "", is_streaming=False)
        return await self._update(record)

    async def stream(self, record: CardRecord, text: str) -> None:
        """Show this text in the streamed element. Raises PlatformError."""
        if not text:
            return
        if self._clock() - self._streaming_since.get(record.card_id, record.created) > _RENEW_MS:
            await self.begin_streaming(record)
        await self._in_sequence(
            record, lambda number: self._api.stream_text(record.card_id, STREAMED_ELEMENT, _end_of(text), number)
        )

    async def pause(self, *limits: RateLimit) -> None:
        if (seconds := self._limits.reserve(*limits)) > 0:
            await asyncio.sleep(seconds)

    async def create_card(self, record: CardRecord) -> str:
        """Make a card that text can be streamed to, and return its id; empty if the app has no right to that. The
        message is sent afterwards, when the id is on disk: a repeated message must have the same card."""
        await self.pause(*call_limits("card"))
        try:
            card_id = await self._api.create_card(record.card)
        except PlatformError as error:
            if error.kind != "permission":
                raise
            return ""
        self._streaming_since[card_id] = self._clock()
        return card_id

    async def _create(self, key: str, record: CardRecord) -> SentCard:
        content = without_streaming(record.card)
        if record.card_id:
            content = {"type": "card", "data": {"card_id": record.card_id}}
        uuid = hashlib.sha256(f"{self._app_id}/{key}".encode()).hexdigest()[:40]
        message_id = await self._create_message(record, content, uuid)
        return SentCard(message_id, record.card_id, is_streaming=bool(record.card_id))

    async def _create_message(self, record: CardRecord, content: Mapping[str, Any], uuid: str) -> str:
        place = record.place
        if place.reply_to:
            try:
                return await self._api.reply(place.reply_to, content, uuid)
            except PlatformError as error:
                if error.kind != "gone":  # the message it replies to was recalled
                    raise
        return await self._api.create(place.chat_id, content, uuid)

    async def _update(self, record: CardRecord) -> SentCard:
        is_streaming = wants_streaming(record.card)
        if record.is_streaming and not is_streaming:
            # A card in streaming mode would still type its last text letter by letter.
            await self._in_sequence(record, lambda number: self._end_streaming(record, number))
        await self._in_sequence(record, lambda number: self._api.update_card(record.card_id, record.card, number))
        return SentCard(record.message_id, record.card_id, is_streaming)

    async def begin_streaming(self, record: CardRecord) -> None:
        """Begin again, if the platform has ended it or will end it soon. Raises PlatformError."""
        await self.pause(card_limit(record.card_id), *call_limits("settings"))
        await self._in_sequence(
            record, lambda number: self._api.set_streaming(record.card_id, on=True, sequence=number)
        )
        self._streaming_since[record.card_id] = self._clock()

    async def _end_streaming(self, record: CardRecord, number: int) -> None:
        await self.pause(card_limit(record.card_id), *call_limits("settings"))
        await self._api.set_streaming(record.card_id, on=False, sequence=number)
        self._streaming_since.pop(record.card_id, None)

    async def _in_sequence(self, record: CardRecord, call: Callable[[int], Awaitable[None]]) -> None:
        """The platform wants a higher number with each change of a card. If another bot has used a higher one, it has
        shown something newer, or its clock is ahead: whoever calls finds out which, and the next number is higher."""
        number = self._next_number(record)
        try:
            await call(number)
        except PlatformError as error:
            if error.kind == "sequence":
                self._sequences[record.card_id] = number + _SEQUENCE_JUMP
            raise

    def _next_number(self, record: CardRecord) -> int:
        """The milliseconds since the card was made, so that a new process goes on with higher numbers."""
        last = self._sequences.get(record.card_id, 0)
        number = max(last + 1, self._clock() - record.created + 1)
        if len(self._sequences) > _MOST_KEPT:
            self._sequences.clear()
        self._sequences[record.card_id] = number
        return number


def _end_of(text: str) -> str:
    """The text, or its end if it is too long for a card."""
    encoded = text.encode()
    if len(encoded) <= _MOST_STREAMED_BYTES:
        return text
    return "…" + encoded[-_MOST_STREAMED_BYTES:].decode(errors="ignore")
