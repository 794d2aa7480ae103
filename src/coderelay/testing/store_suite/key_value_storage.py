"""Checks of key-value stores: what surfaces keep for themselves in the database of the log."""

import asyncio
from collections.abc import Sequence

from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import SessionId
from coderelay.protocol.key_value_store import Change, Entry, KeyValueStore
from coderelay.testing.store_suite.check_framework import Log, check
from coderelay.testing.store_suite.sample_events import A, created, everything, refused, write


def _told(entries: Sequence[Entry]) -> list[tuple[str, bytes]]:
    return [(each.key, each.value) for each in entries]


@check
async def what_is_written_is_kept_for_every_process(log: Log) -> None:
    one, other = await log.open(clock=lambda: 5), await log.open()
    book = one.key_value_store("feishu:a")
    first = await book.write(Change("k", b"\x00\xff"), Change("l", b""))
    assert first
    assert await other.key_value_store("feishu:a").read("k") == Entry("k", b"\x00\xff", first, 5)
    second = await other.key_value_store("feishu:a").write(Change("k", b"2"), Change("l", None))
    entry = await book.read("k")
    assert entry is not None
    assert (entry.value, entry.version, second != first) == (b"2", second, True)
    assert await book.read("l") is None
    assert await one.key_value_store("feishu:b").read("k") is None


@check
async def a_write_of_values_counts_as_a_whole_or_not_at_all(log: Log) -> None:
    book = (await log.open()).key_value_store("b")
    version = await book.write(Change("k", b"1", at=0))
    for unexpected in (0, version + 1):
        assert await book.write(Change("a", b"x"), Change("k", b"2", at=unexpected), Change("z", b"x")) == 0
        assert await book.write(Change("a", b"x"), Change("k", None, at=unexpected)) == 0
    assert await book.write(Change("a", b"x", at=1)) == 0
    assert await book.write(Change("a", None, at=1), Change("c", b"x")) == 0
    assert _told(await book.list("")) == [("k", b"1")]
    assert await book.write(Change("a", None, at=0), Change("k", b"2", at=version))
    assert _told(await book.list("")) == [("k", b"2")]


@check
async def an_erased_entry_made_anew_has_no_old_version(log: Log) -> None:
    book = (await log.open()).key_value_store("b")
    version = await book.write(Change("k", b"1", at=0))
    assert await book.write(Change("k", None, at=version))
    assert await book.write(Change("k", b"1", at=0)) != version
    assert await book.write(Change("k", b"3", at=version)) == 0


@check
async def of_racing_writes_to_an_entry_exactly_one_wins(log: Log) -> None:
    books = [(await log.open()).key_value_store("b") for _ in range(3)]
    version = 0
    for _ in range(5):
        racing = [
            book.write(Change(f"mine-{number}", b""), Change("k", b"", at=version))
            for number, book in enumerate(books * 3)
        ]
        won = [each for each in await asyncio.gather(*racing) if each]
        assert len(won) == 1
        version = won[0]
        left = [each.key for each in await books[0].list("mine-") if each.version == version]
        assert len(left) == 1


@check
async def entries_are_listed_and_erased_by_their_beginnings(log: Log) -> None:
    now = [1000]
    store = await log.open(clock=lambda: now[0])
    book, other = store.key_value_store("b"), store.key_value_store("c")
    keys = ["a", "event/1/x", "event/1/深", "event/2/x", "event/", "eventual", "z"]
    for key in keys:
        now[0] += 1
        await book.write(Change(key, key.encode()))
        await other.write(Change(key, b"other"))
    assert [each.key for each in await book.list("")] == sorted(keys)
    assert [each.key for each in await book.list("event/")] == ["event/", "event/1/x", "event/1/深", "event/2/x"]
    assert [each.key for each in await book.list("event/", after="event/1/x", limit=1)] == ["event/1/深"]
    await book.write(Change("event/1/x", b"written again, later"))
    assert await book.erase("event/1/", before=1005) == 1
    assert [each.key for each in await book.list("event/")] == ["event/", "event/1/x", "event/2/x"]
    assert len(await other.list("")) == len(keys)


@check
async def values_and_logs_have_nothing_to_do_with_each_other(log: Log) -> None:
    store = await log.open()
    await write(store, A, [[created()]])
    before = await everything(store, A)
    book: KeyValueStore = store.key_value_store(A)
    await book.write(Change("k", b"1"))
    assert await everything(store, A) == before
    await store.rebuild()
    assert _told(await book.list("")) == [("k", b"1")]
    await write(store, SessionId("b"), [[created()]])
    assert sorted(await store.all_heads()) == [A, "b"]


@check
async def a_key_that_is_no_text_is_refused(log: Log) -> None:
    book = (await log.open()).key_value_store("b")
    for key in ("\ud800", "a\0"):
        await refused(BadInput, book.write(Change("a", b""), Change(key, b"")))
        assert await book.read(key) is None
        assert await book.list(key) == []
    assert await book.list("") == []
