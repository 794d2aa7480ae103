"""Other processes that use a log on PostgreSQL, as programs of their own. Run as a script; see `start`."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.errors import CoderError, HeadMoved
from coderelay.protocol.ids import SessionId
from coderelay.store.postgres.owner_liveness import PostgresOwners
from coderelay.store.postgres.store import PostgresStore
from coderelay.testing.store_suite import created, prompt, turn_started


def start(action: Callable[..., None], *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, action.__name__, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def tell(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def create(name: str) -> None:
    """Opens each log it is told of, writes to it, and says how that went."""

    async def use(url: str) -> None:
        store = PostgresStore(url, SessionRows())
        await store.append(SessionId(name), 0, [created()])
        await store.close()

    _say("ready")
    for line in sys.stdin:
        try:
            asyncio.run(use(line.strip()))
            _say("ok")
        except CoderError as error:
            _say(repr(error))


def append_forever(url: str, round_: str) -> None:
    """Says each append that was acknowledged. Ends only by being killed."""

    async def append_until_accepted(store: PostgresStore, session: SessionId) -> None:
        head = (await store.heads([session])).get(session, 0)
        number = 0
        while True:
            number += 1
            events = [prompt(f"{round_}/{number}"), turn_started("x" * (number % 7) * 1000)]
            recorded = await store.append(session, head, events if head else [created(), *events])
            head = recorded[-1].seq
            os.write(1, "".join(f"{session} {each.seq}\n" for each in recorded).encode())

    async def all_sessions() -> None:
        store = PostgresStore(url, SessionRows())
        async with asyncio.TaskGroup() as group:
            for number in range(4):
                group.create_task(append_until_accepted(store, SessionId(f"s{number}")))

    asyncio.run(all_sessions())


def append_once_at_head(url: str, name: str, count: str) -> None:
    """Gets its prompts in, whoever else writes to the same session."""

    async def append_until_accepted(store: PostgresStore) -> None:
        head = 0
        for number in range(int(count)):
            while True:
                try:
                    head = (await store.append(SessionId("shared"), head, [prompt(f"{name} {number}")]))[-1].seq
                    break
                except HeadMoved as moved:
                    head = moved.head

    async def use() -> None:
        store = PostgresStore(url, SessionRows())
        await store.heads([])
        _say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        await append_until_accepted(store)
        await store.close()

    asyncio.run(use())


def own(url: str) -> None:
    """Says who it is, and shows that it works once for every line it is told."""

    async def live() -> None:
        owners = PostgresOwners(url)
        _say(await owners.me())
        while await asyncio.to_thread(sys.stdin.readline):
            await owners.send_heartbeat()
            _say("beat")

    asyncio.run(live())


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    {each.__name__: each for each in (create, append_forever, append_once_at_head, own)}[sys.argv[1]](*sys.argv[2:])
