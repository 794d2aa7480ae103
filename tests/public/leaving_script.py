"""A script that leaves its connection twenty times while its own tasks still ask and wait. Run as a program."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import coderelay
from coderelay.protocol.ids import SessionId
from coderelay.public import Coder

ROUNDS = 20


async def main() -> None:
    for _ in range(ROUNDS):
        await _leave_while_tasks_ask()


async def _leave_while_tasks_ask() -> None:
    async with coderelay.connect() as coder:
        session = await coder.start("go")
        asking: list[Callable[[], Awaitable[object]]] = [
            coder.sessions,
            lambda: coder.session(session),
            coder.asks,
        ]
        tasks = [asyncio.create_task(_ask_forever(each)) for each in asking]
        tasks.append(asyncio.create_task(_follow(coder, session)))
        await coder.wait(session)
    ended, _ = await asyncio.wait(tasks, timeout=60)
    assert len(ended) == len(tasks), "a task still waits on a connection that is closed"
    assert all(each.cancelled() for each in tasks)


async def _ask_forever(ask: Callable[[], Awaitable[object]]) -> None:
    while True:
        await ask()
        await asyncio.sleep(0)


async def _follow(coder: Coder, session: SessionId) -> None:
    async for _ in coder.follow(session):
        pass


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main())
