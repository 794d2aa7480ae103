"""How long a test waits for what must come."""

import asyncio
import os
from collections.abc import Callable

PATIENCE = float(os.environ.get("CODER_TEST_PATIENCE", "100"))
"""Seconds, enough for a machine that is busy with other things: only a test that fails takes so long. Whoever looks
for a mistake may set less. pytest ends a test after 300 seconds."""

GROWING_LIMITS = (0.5, 5.0, 50.0)
"""Time limits to try in turn, where a test needs a command that has begun before its limit ends it."""


async def until(happened: Callable[[], bool]) -> None:
    """Wait for what happens in a server or in another process."""
    async with asyncio.timeout(PATIENCE):
        while not happened():  # noqa: ASYNC110 - it offers nothing to wait for
            await asyncio.sleep(0.005)
