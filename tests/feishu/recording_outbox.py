"""An outbox that keeps what it is given, as the chats that people would see, without a platform behind it."""

import asyncio
from collections.abc import Callable

from msgspec import Struct

from coderelay.surfaces.feishu.card_outbox_interface import Card, ChatPlace
from tests.feishu.card_reader import CardRead, read_card
from tests.patience import PATIENCE


class Shown(Struct):
    """A message with its card; `versions` are all that it looked like."""

    key: str
    place: ChatPlace
    message_id: str
    versions: list[Card]
    streamed: list[str]

    @property
    def card(self) -> CardRead:
        return read_card(self.versions[-1])


class RecordingOutbox:
    """What two bots of one app share: the messages, as the platform has them."""

    def __init__(self) -> None:
        self.messages: dict[str, Shown] = {}
        self._changed = asyncio.Event()

    async def show(self, key: str, place: ChatPlace, card: Card) -> None:
        await asyncio.sleep(0)
        shown = self.messages.get(key)
        if shown is None:
            shown = self.messages[key] = Shown(key, place, f"om_{len(self.messages) + 1}", [], [])
        if not shown.versions or shown.versions[-1] != card:
            shown.versions.append(card)
            self._changed.set()

    def stream(self, key: str, text: str) -> None:
        if key in self.messages:
            self.messages[key].streamed.append(text)
            self._changed.set()

    async def message_of(self, key: str) -> str | None:
        shown = self.messages.get(key)
        return None if shown is None else shown.message_id

    async def card_of(self, key: str) -> Card | None:
        shown = self.messages.get(key)
        return None if shown is None else shown.versions[-1]

    async def key_of(self, message_id: str) -> str | None:
        return next((each.key for each in self.messages.values() if each.message_id == message_id), None)

    def in_chat(self, chat_id: str) -> list[Shown]:
        return [each for each in self.messages.values() if each.place.chat_id == chat_id]

    async def until(self, wanted: Callable[[], Shown | None]) -> Shown:
        """The first message that is wanted, as soon as it is there."""
        async with asyncio.timeout(PATIENCE):
            while (found := wanted()) is None:
                self._changed.clear()
                await self._changed.wait()
        return found
