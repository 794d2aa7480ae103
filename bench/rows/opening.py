"""Opening a session of 10,000 events: from rows to a folded state, in this process.

The floor reads the same rows with plain `sqlite3` and `json`, and makes nothing of them.
"""

import asyncio
import json
import sqlite3
import tempfile
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from bench.compare import alternate
from bench.stopwatch import Took, stopwatch
from bench.table import Row, at_most_times
from coderelay.client.views.cowork_messages import SessionRows
from coderelay.host.loaded_session import LoadedSession
from coderelay.protocol.asks import By
from coderelay.protocol.calls import Call, Finished, Need
from coderelay.protocol.events import (
    AnyEvent,
    BatchOpened,
    CallEnded,
    CallStarted,
    Judged,
    MessageAdded,
    PromptAdmitted,
    SessionClaimed,
    SessionCreated,
    TurnEnded,
    TurnStarted,
)
from coderelay.protocol.ids import CallId, MessageId, OwnerId, PromptId, SessionId, TurnId, new_id
from coderelay.protocol.message_content import Text
from coderelay.protocol.usage_and_cost import Usage
from coderelay.store.sqlite.store import SqliteStore

EVENTS = 10_000
STEPS_PER_TURN = 20
SESSION = SessionId(new_id())
_PAGE = "SELECT seq, epoch, at, kind, body FROM event WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT 1000"
BY = By(who="bench", via="bench")
OUTPUT = "".join(f"{number}\tthe quick brown fox jumps over the lazy dog\n" for number in range(12))


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="coder-bench-") as folder, asyncio.Runner() as runner:
        path = str(Path(folder) / "sessions.db")
        store = SqliteStore(path, SessionRows())
        runner.run(store.append(SESSION, 0, list(_events(EVENTS))))
        reader = sqlite3.connect(path)
        runs = alternate(15, lambda: runner.run(_open(store)), lambda: _read(reader))
        reader.close()
        runner.run(store.close())
    ms, cpu = runs.median(lambda took: took.ms), runs.median(lambda took: took.cpu)
    return [Row("opening a session of 10,000 events", "ms", *ms, at_most_times(3), cpu)]


async def _open(store: SqliteStore) -> Took:
    with stopwatch() as took:
        record = LoadedSession(SESSION, store)
        await record.sync()
    assert record.state.head == EVENTS
    return took


def _read(reader: sqlite3.Connection) -> Took:
    with stopwatch() as took:
        parsed: list[Any] = []
        while rows := reader.execute(_PAGE, (SESSION, len(parsed))).fetchall():
            parsed += [(*row[:4], json.loads(row[4])) for row in rows]
    assert len(parsed) == EVENTS
    return took


def _events(count: int) -> Iterator[AnyEvent]:
    """Turns of read steps, as many as fit."""
    yield SessionCreated(cwd="/work", agent="native", model="openai:scripted", mode="yolo", by=BY)
    turns = chain.from_iterable(_turn(epoch) for epoch in range(1, count))
    yield from islice(turns, count - 1)


def _turn(epoch: int) -> Iterator[AnyEvent]:
    prompt, turn = PromptId(new_id()), TurnId(new_id())
    text, model = "make it so", "openai:scripted"
    yield PromptAdmitted(prompt_id=prompt, text=text, by=BY)
    yield SessionClaimed(owner=OwnerId(new_id()), epoch=epoch)
    yield TurnStarted(
        turn_id=turn,
        prompt_id=prompt,
        text=text,
        agent="native",
        model=model,
        mode="yolo",
        cwd="/work",
        max_steps=128,
    )
    for _ in range(STEPS_PER_TURN):
        yield from _step(turn)
    said = MessageAdded(message_id=MessageId(new_id()), turn_id=turn, model=model, blocks=(Text("Done."),))
    yield said
    yield TurnEnded(turn_id=turn, ending="done", text="Done.", steps=STEPS_PER_TURN + 1)


def _step(turn: TurnId) -> Iterator[AnyEvent]:
    batch, call = MessageId(new_id()), Call(CallId(new_id()), "read", '{"path": "src/fox.txt"}')
    need = Need(tool="read", kind="read", title="src/fox.txt", paths=("/home/ann/src/fox.txt",))
    yield MessageAdded(
        message_id=batch, turn_id=turn, model="scripted", calls=(call,), usage=Usage(input_tokens=4000)
    )
    yield BatchOpened(batch_id=batch, turn_id=turn, judged=(Judged(call.id, "allow", need),))
    yield CallStarted(batch_id=batch, call_id=call.id)
    yield CallEnded(batch_id=batch, call_id=call.id, outcome=Finished(OUTPUT, "12 lines"))
