"""Follows every session there is, one after the other to its end, and allows whatever is asked, a moment later.

A script of its own, never imported. The moment differs, so that it is never in step with whoever waits.
"""

import asyncio
import random
from contextlib import aclosing

from coderelay import connect
from coderelay.protocol.asks import Allow
from coderelay.protocol.commands import Accepted
from coderelay.protocol.events import BatchOpened, Recorded, TurnEnded
from coderelay.protocol.ids import SessionId
from coderelay.public import Coder

MOMENT = (0.04, 0.09)


async def main() -> None:
    async with connect("answerer") as coder:
        for session in await coder.sessions():
            await answer_all(coder, session.id)


async def answer_all(coder: Coder, session: SessionId) -> None:
    async with aclosing(coder.follow(session)) as feed:
        async for each in feed:
            match each:
                case Recorded(event=BatchOpened()):
                    await asyncio.sleep(random.uniform(*MOMENT))
                    for ask in await coder.asks(session):
                        assert isinstance(await coder.answer(ask, Allow()), Accepted)
                case Recorded(event=TurnEnded()):
                    return
                case _:
                    pass


if __name__ == "__main__":
    asyncio.run(main())
