"""Links of accounts on the host with accounts in chats: `coder feishu link` prints a code, and who sends it to the
bot in a one-to-one chat is that person from then on."""

import hashlib
import secrets

import msgspec
from msgspec import Struct

from coderelay.protocol.key_value_store import Change, KeyValueStore
from coderelay.surfaces.feishu.chat_records import LINKS, WANTED

CODE_SECONDS = 600
_CODES = "link.code/"
_LINKS = "link.person/"
_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"  # none that are mistaken for one another
_LENGTH = 10


class Link(Struct, frozen=True):
    """`person` is their name in the logs of the host; `chat_id` is the one-to-one chat with the bot."""

    person: str
    open_id: str
    chat_id: str


class _Offer(Struct, frozen=True):
    person: str
    until: int


class Links:
    def __init__(self, key_values: KeyValueStore) -> None:
        self._key_values = key_values

    async def offer(self, person: str, now: int) -> str:
        """A code that links whoever sends it to the bot, once, and within ten minutes of `now` (milliseconds)."""
        code = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
        offer = _Offer(person, now + CODE_SECONDS * 1000)
        await self._key_values.erase(_CODES, before=now - CODE_SECONDS * 1000)
        await self._key_values.write(Change(_code(code), msgspec.json.encode(offer), 0))
        return code

    async def redeem(self, code: str, open_id: str, chat_id: str, now: int) -> Link | None:
        """The new link, or None if the code is wrong, used or too old."""
        entry = await self._key_values.read(_code(code))
        if entry is None:
            return None
        offer = msgspec.json.decode(entry.value, type=_Offer)
        if now > offer.until:
            return None
        link = Link(offer.person, open_id, chat_id)
        made = await self._key_values.write(
            Change(entry.key, None, entry.version),
            Change(f"{_LINKS}{link.person}", msgspec.json.encode(link)),
            Change(WANTED + LINKS, b""),
        )
        return link if made else None

    async def withdraw(self, code: str) -> None:
        """Make a code void."""
        await self._key_values.write(Change(_code(code), None))

    async def is_offered(self, code: str) -> bool:
        """Whether nobody has used the code yet."""
        return await self._key_values.read(_code(code)) is not None

    async def all(self) -> list[Link]:
        return [msgspec.json.decode(each.value, type=Link) for each in await self._key_values.list(_LINKS)]

    async def of_person(self, person: str) -> Link | None:
        entry = await self._key_values.read(f"{_LINKS}{person}")
        return None if entry is None else msgspec.json.decode(entry.value, type=Link)

    async def people(self, open_id: str) -> frozenset[str]:
        """Who of the host's people this is; a person may have linked one chat, and a chat several people."""
        return frozenset(each.person for each in await self.all() if each.open_id == open_id)

    async def remove(self, person: str) -> None:
        await self._key_values.write(Change(f"{_LINKS}{person}", None))


def _code(code: str) -> str:
    """Codes are not stored, only what they hash to."""
    return _CODES + hashlib.sha256(code.strip().upper().encode()).hexdigest()
