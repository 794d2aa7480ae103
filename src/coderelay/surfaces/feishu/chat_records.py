"""What the bot remembers of its chats. It is kept in the key-value store (the durable entries of a surface), not in a
session's log."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct

from coderelay.protocol.asks import Decision
from coderelay.protocol.ids import AskId, PromptId, SessionId
from coderelay.protocol.key_value_store import Change, KeyValueStore
from coderelay.surfaces.feishu.card_outbox_interface import ChatPlace

_CARD_DAYS = 15  # a click counts for 14 days, says the platform
_ROUTE_DAYS = 2
_DAY_MS = 86_400_000
WANTED = "chat.wanted/"
"""How the keys begin of what the bot that shows the sessions is to look at: a session, or LINKS."""
LINKS = "links"


class ChatKey(Struct, frozen=True):
    """Whose sessions: one person's in a chat or a topic of it, or those of everybody there if `who` is empty."""

    chat_id: str
    thread_id: str = ""
    who: str = ""


class CurrentSession(Struct, frozen=True, omit_defaults=True):
    """The current session of a chat, and the folder of its next one."""

    session: SessionId | None = None
    folder: str = ""


class SessionPlace(Struct, frozen=True, omit_defaults=True):
    """Where a session is shown. `owner` is the open_id of the person whose session it is. All events of the log up
    to `cursor` have been shown."""

    chat_id: str
    owner: str
    reply_to: str = ""
    kind: str = "p2p"
    cursor: int = 0

    @property
    def place(self) -> ChatPlace:
        return ChatPlace(self.chat_id, self.reply_to)


class AskCardRecord(Struct, frozen=True, omit_defaults=True):
    """A card with asks. A click counts only with its nonce, from its chat, and for one of its asks."""

    key: str
    nonce: str
    session: SessionId
    asks: tuple[AskId, ...]
    chat_id: str
    reply_to: str = ""
    title: str = ""
    is_owners: bool = False
    is_open: bool = True


class Route(Struct, frozen=True, omit_defaults=True):
    """How a message was interpreted, so that it means the same if it is handed over again after a crash."""

    session: SessionId
    ask: AskId | None = None
    decision: Decision | None = None


Record = TypeVar("Record", bound=Struct)


class ChatRecords:
    def __init__(self, key_values: KeyValueStore) -> None:
        self._key_values = key_values

    async def current_session(self, key: ChatKey) -> CurrentSession:
        return await self._read(_pointer(key), CurrentSession) or CurrentSession()

    async def set_current_session(self, key: ChatKey, current: CurrentSession) -> None:
        await self._put(_pointer(key), current)

    async def replace_current_session(self, current: CurrentSession, key: ChatKey, other: CurrentSession) -> bool:
        """Replace the current session of a chat if it still is `current`. Returns whether it was replaced."""
        entry = await self._key_values.read(_pointer(key))
        now = CurrentSession() if entry is None else msgspec.json.decode(entry.value, type=CurrentSession)
        version = 0 if entry is None else entry.version
        change = Change(_pointer(key), msgspec.json.encode(other), version)
        return now == current and await self._key_values.write(change) != 0

    async def place(self, session: SessionId) -> SessionPlace | None:
        return await self._read(f"chat.session/{session}", SessionPlace)

    async def put_place(self, session: SessionId, place: SessionPlace) -> None:
        await self._put(f"chat.session/{session}", place)

    async def remove_place(self, session: SessionId) -> None:
        await self._key_values.write(Change(f"chat.session/{session}", None))

    async def places(self) -> dict[SessionId, SessionPlace]:
        found = await self._all("chat.session/", SessionPlace)
        return {SessionId(key.removeprefix("chat.session/")): each for key, each in found}

    async def card(self, key: str) -> AskCardRecord | None:
        return await self._read(f"chat.card/{key}", AskCardRecord)

    async def put_card(self, record: AskCardRecord) -> AskCardRecord:
        """Keep a new card. If another process has kept it before, its record is returned."""
        written = await self._key_values.write(Change(f"chat.card/{record.key}", msgspec.json.encode(record), 0))
        return record if written else await self.card(record.key) or record

    async def close_card(self, record: AskCardRecord) -> None:
        await self._put(f"chat.card/{record.key}", msgspec.structs.replace(record, is_open=False))

    async def cards(self, beginning: str) -> list[AskCardRecord]:
        """The cards of the last days whose keys begin so."""
        return [each for _, each in await self._all(f"chat.card/{beginning}", AskCardRecord)]

    async def route(self, message_id: str) -> Route | None:
        return await self._read(f"chat.route/{message_id}", Route)

    async def put_route(self, message_id: str, route: Route) -> None:
        await self._put(f"chat.route/{message_id}", route)

    async def put_reply(self, prompt: PromptId, message_id: str) -> None:
        """Remember in which message a prompt came that has to wait, so that the message is answered."""
        await self._key_values.write(Change(f"chat.reply/{prompt}", message_id.encode()))

    async def reply(self, prompt: PromptId) -> str:
        entry = await self._key_values.read(f"chat.reply/{prompt}")
        return "" if entry is None else entry.value.decode()

    async def is_first(self, name: str) -> bool:
        """Whether `name` is recorded for the first time, for actions that must happen only once."""
        return await self._key_values.write(Change(f"chat.once/{name}", b"{}", 0)) != 0

    async def request_presentation(self, session: SessionId) -> None:
        """Ask the presenting bot to show this session: it belongs to a chat now, and no event in the log says so."""
        await self._key_values.write(Change(WANTED + session, b""))

    async def take_presentation_requests(self) -> list[str]:
        """The sessions that the presenting bot must look at. Each is returned once."""
        entries = await self._key_values.list(WANTED)
        for each in entries:
            await self._key_values.write(Change(each.key, None, each.version))
        return [each.key.removeprefix(WANTED) for each in entries]

    async def forget_old(self, now: int) -> None:
        await self._key_values.erase("chat.card/", before=now - _CARD_DAYS * _DAY_MS)
        for beginning in ("chat.route/", "chat.reply/"):
            await self._key_values.erase(beginning, before=now - _ROUTE_DAYS * _DAY_MS)

    async def _read(self, key: str, kind: type[Record]) -> Record | None:
        entry = await self._key_values.read(key)
        return None if entry is None else msgspec.json.decode(entry.value, type=kind)

    async def _put(self, key: str, record: Struct) -> None:
        await self._key_values.write(Change(key, msgspec.json.encode(record)))

    async def _all(self, beginning: str, kind: type[Record]) -> Sequence[tuple[str, Record]]:
        found: list[tuple[str, Record]] = []
        after = ""
        while entries := await self._key_values.list(beginning, after=after):
            found += [(each.key, msgspec.json.decode(each.value, type=kind)) for each in entries]
            after = entries[-1].key
        return found


def _pointer(key: ChatKey) -> str:
    return f"chat.pointer/{key.chat_id}/{key.thread_id}/{key.who}"
