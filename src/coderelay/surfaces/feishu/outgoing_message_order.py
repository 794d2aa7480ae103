"""The order of new messages: those of one chat are sent in the order in which they came, one after the other.

Without it, a short message would overtake the one before it, for which two calls are needed.
"""

import asyncio


class MessageOrder:
    def __init__(self) -> None:
        self._last: dict[str, str] = {}  # the key of the last message of each chat
        self._chats: dict[str, str] = {}
        self._sent: dict[str, asyncio.Event] = {}
        self._before: dict[str, asyncio.Event] = {}

    def enter(self, key: str, chat_id: str) -> None:
        """A new message comes after those that have entered before it."""
        if key in self._sent:
            return
        before = self._sent.get(self._last.get(chat_id, ""))
        if before is not None:
            self._before[key] = before
        self._sent[key] = asyncio.Event()
        self._chats[key] = chat_id
        self._last[chat_id] = key

    async def turn(self, key: str) -> None:
        """Wait until the message before this one has left."""
        if (before := self._before.get(key)) is not None:
            await before.wait()

    def leave(self, key: str) -> None:
        """The message is sent, or will not be sent by this bot for now."""
        self._before.pop(key, None)
        if (sent := self._sent.pop(key, None)) is not None:
            sent.set()
            chat_id = self._chats.pop(key)
            if self._last.get(chat_id) == key:
                del self._last[chat_id]
