"""A process that lives long and has many sessions: what they cost while nothing happens to them, and what they leave
behind.

    python bench/processes/many_sessions.py resting|elsewhere|opened FILE

A script of its own, never imported. `resting`: it follows 1,000 sessions in which nothing happens; `elsewhere`: the
same while another process appends to other sessions 20 times a second; `opened`: it opens 10,000 sessions one after
the other. Writes what it measured to the file.
"""

import asyncio
import gc
import json
import os
import sys
import time
from collections.abc import Iterable
from contextlib import aclosing
from pathlib import Path

from coderelay.app import App
from coderelay.client.views.cowork_messages import SessionRows
from coderelay.config.loaded_config import load
from coderelay.host.host import Host
from coderelay.host.loaded_session import LoadedSession
from coderelay.protocol.asks import By
from coderelay.protocol.commands import OpenSession
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.events import AnyEvent, PromptAdmitted, SessionCreated
from coderelay.protocol.ids import PromptId, SessionId, new_id
from coderelay.store.sqlite.store import SqliteStore
from coderelay.store.store import Store

RESTING, OPENED, UNKNOWN = 1000, 10_000, 1000
SECONDS = 5.0
APPENDS_PER_SECOND = 20
BY = By(who="bench", via="bench")


async def resting(*, is_busy_elsewhere: bool) -> dict[str, float]:
    app = App(load(os.environ))
    host = app.open()
    sessions = await _create(host.store, RESTING)
    others = await _create(host.store, 50)
    followers = [asyncio.create_task(_follow(host, session)) for session in sessions]
    await asyncio.sleep(2)  # until all are followed and the start is over
    writer = None
    if is_busy_elsewhere:
        writer = await asyncio.create_subprocess_exec(sys.executable, __file__, "append", *others)
        await asyncio.sleep(1)
    cpu, began = time.process_time(), time.monotonic()
    await asyncio.sleep(SECONDS)
    cores = (time.process_time() - cpu) / (time.monotonic() - began)
    if writer is not None:
        writer.kill()
        await writer.wait()
    for task in followers:
        task.cancel()
    await asyncio.gather(*followers, return_exceptions=True)
    await app.close(host)
    return {"cores": cores}


async def _follow(host: Host, session: SessionId) -> None:
    async with aclosing(host.follow(session)) as feed:
        async for _ in feed:
            pass


async def append(sessions: Iterable[str]) -> None:
    store = SqliteStore(load(os.environ).database, SessionRows())
    heads = await store.heads([SessionId(each) for each in sessions])
    while True:
        for session in heads:
            event = PromptAdmitted(prompt_id=PromptId(new_id()), text="go", by=BY)
            await store.append(session, heads[session], [event])
            heads[session] += 1
            await asyncio.sleep(1 / APPENDS_PER_SECOND)


async def opened() -> dict[str, float]:
    """What is there after all sessions beside what was there after a tenth of them."""
    app = App(load(os.environ))
    host = app.open()
    sessions = await _create(host.store, OPENED)
    for _ in range(UNKNOWN):
        try:
            await host.send(OpenSession(session=SessionId(new_id()), by=BY))
        except UnknownSession:
            pass
    unknown = _records()
    before = after = (0.0, 0, 0)
    for number, session in enumerate(sessions, 1):
        await host.send(OpenSession(session=session, by=BY))
        async with aclosing(host.follow(session)) as feed:
            await anext(feed)
        if number == OPENED // 10:
            before = await _left()
    after = await _left()
    records = _records()
    await app.close(host)
    memory, tasks, descriptors = (late - early for early, late in zip(before, after, strict=True))
    return {
        "unknown": unknown,
        "records": records,
        "memory": memory,
        "tasks": tasks,
        "descriptors": descriptors,
    }


async def _left() -> tuple[float, int, int]:
    await asyncio.sleep(1)  # the polling loop forgets four times a second
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    memory = pages * os.sysconf("SC_PAGE_SIZE") / 1024**2
    return memory, len(asyncio.all_tasks()), len(os.listdir("/proc/self/fd"))


def _records() -> int:
    gc.collect()
    return sum(isinstance(each, LoadedSession) for each in gc.get_objects())


async def _create(store: Store, count: int) -> list[SessionId]:
    sessions = [SessionId(new_id()) for _ in range(count)]
    created: AnyEvent = SessionCreated(
        cwd=os.getcwd(), agent="native", model="openai:scripted", mode="default", by=BY
    )
    await asyncio.gather(*(store.append(session, 0, [created]) for session in sessions))
    return sessions


if __name__ == "__main__":
    kind, *rest = sys.argv[1:]
    if kind == "append":
        asyncio.run(append(rest))
    work = opened() if kind == "opened" else resting(is_busy_elsewhere=kind == "elsewhere")
    Path(rest[0]).write_text(json.dumps(asyncio.run(work)))
