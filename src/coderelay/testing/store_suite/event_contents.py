"""Checks that the contents of events are kept: newer kinds, damage, large events, Unicode, closing the store."""

import asyncio
from typing import Any

from coderelay.protocol.errors import BadInput, StoreDamaged, StoreFailed
from coderelay.protocol.events import (
    AnyEvent,
    Unrecognised,
)
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import MessageRow, Messages
from coderelay.testing.store_suite.check_framework import Log, check
from coderelay.testing.store_suite.sample_events import (
    A,
    B,
    created,
    everything,
    message_kept,
    messages_of,
    prompt,
    refused,
    summary_of,
    text_in,
    turn_started,
    write,
)


@check
async def events_of_a_newer_version_are_kept_as_they_are(log: Log) -> None:
    store = await log.open()
    body: dict[str, Any] = {
        "kind": "party.started",
        "guests": ["ann", None, True, 1.5, 1.0, -(2**63), 2**80, {"深": {"er": []}}],
        "text": 'quote " backslash \\ slash / nul \x00 line \u2028',
    }
    newer = Unrecognised("party.started", body)
    await write(store, A, [[created()], [newer, prompt()]])
    read = (await store.read(A, 1))[0].event
    assert read == newer
    assert _whole(read) == _whole(newer)
    await write(store, B, [[created()], [read]])
    assert _whole((await store.read(B, 1))[0].event) == _whole(newer)
    summary = await store.session(A)
    assert summary is not None
    assert summary.head == 3


@check
async def an_event_that_cannot_be_read_is_named(log: Log) -> None:
    store = await log.open()
    await write(store, A, [[created()], [prompt()], [Unrecognised("prompt.admitted", {"text": 5})], [prompt()]])
    await write(store, B, [[created()]])
    for after in (0, 2):
        message = str(await refused(StoreDamaged, store.read(A, after)))
        assert "event 3" in message
        assert f"session {A}" in message
    assert len(await store.read(A, limit=2)) == 2
    assert len(await store.read(A, 3)) == 1
    assert len(await store.read(B)) == 1
    before = await store.sessions(), (await store.messages(A)).rows
    await refused(StoreDamaged, store.rebuild())
    assert (await store.sessions(), (await store.messages(A)).rows) == before


@check
async def large_events_are_kept_whole(log: Log) -> None:
    store = await log.open()
    large = prompt("0123456789é日🐉\n" * 300_000)
    await write(store, A, [[created()], [large], [turn_started(large.text)]])
    assert len(large.text.encode()) > 5_000_000
    assert [text_in(each) for each in await store.read(A, 1)] == [large.text] * 2


@check
async def all_of_unicode_is_kept(log: Log) -> None:
    store = await log.open()
    text = "日本語 🐉 e\u0301 \u00e9 \u202e \u2028 \ufeff \U0010ffff \x00 \x1b[0m \r\n\t '\"\\ %s ? :x $1 \x7f"
    session = SessionId("s 日'\"")
    events = [created(f"/{text}", text), prompt(text), turn_started(text)]
    written = await write(store, session, [events])
    assert [each.event for each in await store.read(session)] == events
    assert await store.sessions(cwd=f"/{text}") == [summary_of(written)]
    assert (await store.messages(session)).rows == messages_of(written)
    assert await store.heads([session]) == {session: 3}


@check
async def messages_of_other_programs_are_kept_byte_for_byte(log: Log) -> None:
    """Also after the rows are written again. Of two messages with the same id, the first stays."""
    store, turn = await log.open(), turn_started()
    spaced = '{ "uuid" : "m1",\t"n": 1.50e+2, "n": 2,\r\n "t": "\\u0000 \\ud83d \\/ 日 \u2028 %s $1" }\n'
    again, bare, other = '{"uuid":"m1"}', "{}", '{"jsonrpc":"2.0"}'
    kept = [message_kept(turn, "m1", spaced), message_kept(turn, "m1", again), message_kept(turn, "m\x002", bare)]
    foreign = message_kept(turn, "m3", other, form="acp")
    await write(store, A, [[created()], [turn], [*kept, foreign]])
    for _ in range(2):
        assert [each.event for each in await store.read(A, 2)] == [*kept, foreign]
        rows = [row for row in (await store.messages(A)).rows if row.id.startswith("m")]
        assert rows == [MessageRow("m1", spaced), MessageRow("m\x002", bare)]
        await store.rebuild()


@check
async def half_a_character_is_refused(log: Log) -> None:
    """UTF-8 cannot encode a lone surrogate, which Python produces for a file name that is not valid UTF-8."""
    store = await log.open()
    await write(store, A, [[created()]])
    half, before = "half \ud83d", await everything(store, A)
    for session, event in ((A, prompt(half)), (A, Unrecognised("new", {"x": half})), (SessionId(half), created())):
        error = await refused(BadInput, store.append(session, 1 if session == A else 0, [prompt(), event]))
        assert "U+D83D" in str(error)
    assert await everything(store, A) == before
    unknown = SessionId(half)
    assert await everything(store, unknown) == [await store.sessions(), {}, [], None, Messages([], 0)]
    assert await store.sessions(cwd=half) == []


@check
async def closing_finishes_what_was_begun_and_then_takes_nothing(log: Log) -> None:
    store, other = await log.open(), await log.open()
    unused = await log.open()
    tasks = [asyncio.create_task(store.append(SessionId(f"s{n}"), 0, [created()])) for n in range(50)]
    await asyncio.sleep(0)  # lets the appends begin
    await asyncio.gather(store.close(), store.close())
    assert [len(await task) for task in tasks] == [1] * 50
    assert len(await other.sessions()) == 50
    await unused.close()
    for closed in (store, unused):
        await closed.close()
        await refused(StoreFailed, closed.append(A, 0, [created()]))
        await refused(StoreFailed, closed.rebuild())
        await refused(StoreFailed, closed.read(A))
        await refused(StoreFailed, closed.heads([A]))
        await refused(StoreFailed, closed.changed(None))
        await refused(StoreFailed, closed.sessions())
    assert await other.read(A) == []
    await write(other, A, [[created()]])


def _whole(event: AnyEvent) -> str:
    """The event as text, including types and order, which `==` ignores."""
    assert isinstance(event, Unrecognised)
    return repr((event.kind, event.body))
