"""Other processes that use a log in a SQLite file, as programs of their own. Run as a script; see `start`."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.errors import CoderError, HeadMoved
from coderelay.protocol.ids import SessionId
from coderelay.store.sqlite.store import SqliteStore
from coderelay.testing.store_suite import created, prompt, turn_started


def start(action: Callable[..., None], *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, action.__name__, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def hold(path: str, begin: str) -> None:
    """Holds a lock until its input ends."""
    connection = sqlite3.connect(path, isolation_level=None)
    if begin == "EXCLUSIVE":  # keeps out readers too, and new connections
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute(f"BEGIN {begin}")
    connection.execute("UPDATE sessions SET title = title")
    _say("held")
    sys.stdin.read()


def create(name: str) -> None:
    """Opens each database it is told of, writes to it, and says how that went."""

    async def use(path: str) -> None:
        store = SqliteStore(path, SessionRows())
        await store.append(SessionId(name), 0, [created()])
        await store.close()

    _say("ready")
    for line in sys.stdin:
        try:
            asyncio.run(use(line.strip()))
            _say("ok")
        except CoderError as error:
            _say(repr(error))


def append_forever(path: str, round_: str) -> None:
    """Says each append that was acknowledged. Ends only by being killed."""

    async def append_until_accepted(store: SqliteStore, session: SessionId) -> None:
        head = (await store.heads([session])).get(session, 0)
        number = 0
        while True:
            number += 1
            events = [prompt(f"{round_}/{number}"), turn_started("x" * (number % 7) * 1000)]
            recorded = await store.append(session, head, events if head else [created(), *events])
            head = recorded[-1].seq
            os.write(1, "".join(f"{session} {each.seq}\n" for each in recorded).encode())

    async def all_sessions() -> None:
        store = SqliteStore(path, SessionRows())
        async with asyncio.TaskGroup() as group:
            for number in range(4):
                group.create_task(append_until_accepted(store, SessionId(f"s{number}")))

    asyncio.run(all_sessions())


def append_once_at_head(path: str, name: str, count: str) -> None:
    """Gets its prompts in, whoever else writes to the same session."""

    async def append_until_accepted(store: SqliteStore) -> None:
        head = 0
        for number in range(int(count)):
            while True:
                try:
                    head = (await store.append(SessionId("shared"), head, [prompt(f"{name} {number}")]))[-1].seq
                    break
                except HeadMoved as moved:
                    head = moved.head

    async def use() -> None:
        store = SqliteStore(path, SessionRows())
        _say("ready")
        sys.stdin.readline()
        await append_until_accepted(store)
        await store.close()

    asyncio.run(use())


def use_read_only(path: str, user: str) -> None:
    """As a person who may not write there, tries to open, read and write; says what happened at each."""

    async def use(path: str) -> None:
        store = SqliteStore(path, SessionRows(), lock_seconds=0.1)
        _say(f"read {len(await store.read(SessionId('a')))}")
        try:
            await store.append(SessionId("a"), 1, [prompt()])
            _say("written")
        finally:
            await store.close()

    # Once where it may, so that everything is imported while the interpreter can still be read.
    own = Path(path).parent.parent / "own" / "sessions.db"
    asyncio.run(_fill(str(own)))
    if os.getuid() == 0:
        os.setgid(int(user))
        os.setuid(int(user))
    try:
        asyncio.run(use(path))
    except CoderError as error:
        _say(f"{type(error).__name__}: {error}")


async def _fill(path: str) -> None:
    store = SqliteStore(path, SessionRows())
    await store.append(SessionId("a"), 0, [created()])
    await store.read(SessionId("a"))
    await store.close()


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    {each.__name__: each for each in (hold, create, append_forever, append_once_at_head, use_read_only)}[sys.argv[1]](
        *sys.argv[2:]
    )
