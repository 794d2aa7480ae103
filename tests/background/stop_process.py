"""A background command of the newest session stopped, by a process that may crash as `coder` does.

    CODER_CRASH=after:background.stop_requested:1 python -m tests.background.stop_process 1

Returns when the log says that the command is over.
"""

import asyncio
import os
import sys
from contextlib import aclosing

from coderelay.config.loaded_config import load
from coderelay.protocol.asks import By
from coderelay.protocol.commands import StopBackground
from coderelay.protocol.ids import BackgroundId
from coderelay.protocol.queries import ListBackground, ListSessions
from tests.crash.crashing import CrashingHouse


async def main(number: str) -> int:
    house = CrashingHouse(load(os.environ))
    host = house.open()
    try:
        session = (await host.get(ListSessions(limit=1)))[0].id
        async with aclosing(host.follow(session)) as feed:
            wanted = BackgroundId(number)
            await host.send(StopBackground(session=session, background=wanted, by=By("anne", "test")))
            while any(row.id == number and row.end is None for row in await host.get(ListBackground(session))):
                await anext(feed)
        return 0
    finally:
        await house.close(host)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
