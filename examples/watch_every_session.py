"""Two sessions at once, their answers as they come. A session started here can be seen in every terminal.

python examples/watch_every_session.py "what is in this folder?" "what is the licence?"
"""

import asyncio
import sys

import coderelay
from coderelay.protocol.events import MessageAdded, Recorded, TurnEnded
from coderelay.public import Coder


async def watch(coder: Coder, prompt: str) -> None:
    session = await coder.start(prompt, mode="plan")
    async for event in coder.follow(session):
        if isinstance(event, Recorded) and isinstance(event.event, MessageAdded | TurnEnded):
            print(f"{session[:8]} {event.seq:3} {type(event.event).__name__}")
        for ask in await coder.asks(session):
            await coder.answer(ask, "keep")
        if isinstance(event, Recorded) and isinstance(event.event, TurnEnded):
            print(f"{session[:8]} {event.event.text}")
            return


async def main() -> None:
    async with coderelay.connect(who="example") as coder:
        await asyncio.gather(*(watch(coder, prompt) for prompt in sys.argv[1:]))


asyncio.run(main())
