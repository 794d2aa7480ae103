"""Opens sessions that each come to an ask, and stays with them until the last one ends or it is killed.

    python bench/processes/opener.py SESSIONS

Makes a file `opened` when all of them wait. A script of its own, never imported.
"""

import asyncio
import sys
from contextlib import aclosing
from pathlib import Path

from coderelay import connect
from coderelay.protocol.events import BatchOpened, Recorded
from coderelay.protocol.ids import SessionId
from coderelay.public import Coder


async def main(sessions: int) -> None:
    async with connect("opener") as coder:
        opened = [await open_one(coder) for _ in range(sessions)]
        Path("opened").touch()
        for session in opened:
            await coder.wait(session)


async def open_one(coder: Coder) -> SessionId:
    session = await coder.start("hi")
    async with aclosing(coder.follow(session)) as feed:
        async for each in feed:
            if isinstance(each, Recorded) and isinstance(each.event, BatchOpened):
                break
    return session


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
