"""A small database for tests to damage or lock, and a check of how opening it is refused."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.errors import StoreFailed
from coderelay.protocol.ids import SessionId
from coderelay.store.sqlite.store import SqliteStore
from tests.store.plain_sqlite_reader import digest

A, B = SessionId("a"), SessionId("b")
HEAD = 53  # of both


def use(path: Path, story: Callable[[SqliteStore], Awaitable[object]], lock_seconds: float = 10.0) -> None:
    async def whole() -> None:
        store = SqliteStore(str(path), SessionRows(), lock_seconds=lock_seconds)
        try:
            await story(store)
        finally:
            await store.close()

    asyncio.run(whole())


def refusal(kind: type[StoreFailed], path: Path) -> StoreFailed:
    """Opening is refused with exactly this error; it names the file, says what to do, and changes nothing."""
    before = digest(path)
    with pytest.raises(StoreFailed) as caught:
        SqliteStore(str(path), SessionRows(), lock_seconds=0.1)
    assert type(caught.value) is kind
    assert str(path) in caught.value.message
    assert caught.value.hint
    assert digest(path) == before
    return caught.value
