"""Key-value stores that are broken in one place each, for the checks of the store suite to find out."""

from collections.abc import Callable, Sequence

from coderelay.protocol.ids import SessionId
from coderelay.protocol.key_value_store import Change, Entry, KeyValueStore
from coderelay.store.sqlite.store import SqliteStore
from coderelay.store.store import Projection, Store
from coderelay.testing.store_suite import Clock, prompt


class Sound:
    """Passes everything on, to be broken by the following."""

    def __init__(self, store: SqliteStore, name: str) -> None:
        self.store = store
        self.book = SqliteStore.key_value_store(store, name)

    async def read(self, key: str) -> Entry | None:
        return await self.book.read(key)

    async def list(self, beginning: str, *, after: str = "", limit: int = 1000) -> Sequence[Entry]:
        return await self.book.list(beginning, after=after, limit=limit)

    async def write(self, *changes: Change) -> int:
        return await self.book.write(*changes)

    async def erase(self, beginning: str, *, before: int) -> int:
        return await self.book.erase(beginning, before=before)


class IsOneForAll(Sound):
    def __init__(self, store: SqliteStore, name: str) -> None:
        super().__init__(store, "shared")


class WritesOneByOne(Sound):
    async def write(self, *changes: Change) -> int:
        written = [await self.book.write(each) for each in changes]
        return written[-1] if all(written) else 0


class ComparesNothing(Sound):
    async def write(self, *changes: Change) -> int:
        return await self.book.write(*(Change(each.key, each.value) for each in changes))


class OnlyCountsPresence(Sound):
    """Takes any entry for the one that was read."""

    async def write(self, *changes: Change) -> int:
        loose = [Change(each.key, each.value, 0 if each.at == 0 else None) for each in changes]
        return await self.book.write(*loose)


class ErasesWhateverItsAge(Sound):
    async def erase(self, beginning: str, *, before: int) -> int:
        return await self.book.erase(beginning, before=2**60)


class AppendsToALog(Sound):
    async def write(self, *changes: Change) -> int:
        session = SessionId("a")
        if head := (await self.store.heads([session])).get(session):
            await self.store.append(session, head, [prompt()])
        return await self.book.write(*changes)


class TakesAnyKey(Sound):
    async def write(self, *changes: Change) -> int:
        clean = [Change(each.key.encode(errors="replace").decode(), each.value, each.at) for each in changes]
        return await self.book.write(*clean)


def with_key_value_store(
    kind: Callable[[SqliteStore, str], KeyValueStore],
) -> Callable[[str, Projection, Clock], Store]:
    class Broken(SqliteStore):
        def key_value_store(self, name: str) -> KeyValueStore:
            return kind(self, name)

    return lambda path, projection, clock: Broken(path, projection, clock=clock)
