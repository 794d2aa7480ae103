"""The conformance checks' framework: the registry `CHECKS`, the log a check runs on, and `run` for one check."""

import asyncio
from collections.abc import Awaitable, Callable

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.wall_clock import now
from coderelay.store.store import Projection, Store

Clock = Callable[[], int]
Opener = Callable[[Projection, Clock], Awaitable[Store]]

ROWS = SessionRows()


class Log:
    """One log, which a check can open several times. All opened stores are closed at the end."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._opened: list[Store] = []

    async def open(self, *, projection: Projection = ROWS, clock: Clock = now) -> Store:
        store = await self._opener(projection, clock)
        self._opened.append(store)
        return store

    async def close(self) -> None:
        for store in self._opened:
            await store.close()


Check = Callable[[Log], Awaitable[None]]
CHECKS: list[Check] = []


def run(check: Check, opener: Opener) -> None:
    async def whole() -> None:
        log = Log(opener)
        try:
            await check(log)
        finally:
            await log.close()

    asyncio.run(whole())


def name(check: Check) -> str:
    return getattr(check, "__name__", repr(check))


def check(check: Check) -> Check:
    """Decorator: add a check to `CHECKS`."""
    CHECKS.append(check)
    return check
