"""Follows the one session there is, and writes down how late everything arrives: to the file it is given.

    python bench/processes/follower.py FILE

A script of its own, never imported. One line per event or word, in milliseconds: `log 3.2`, `live 41.0`. An event
says itself when it was written; a live word is the time at which it was said. Makes a file `following` once it has
seen what was there before. Ends with the session's first turn.
"""

import asyncio
import sys
import time
from contextlib import aclosing
from pathlib import Path

from coderelay import connect
from coderelay.protocol.events import Recorded, TurnEnded
from coderelay.protocol.live_updates import Notice


async def main(report: str) -> None:
    async with connect("follower") as coder:
        (session,) = await coder.sessions()
        lines: list[str] = []
        async with aclosing(coder.follow(session.id, session.head - 1)) as feed:
            await anext(feed)
            Path("following").touch()
            async for each in feed:
                now = time.time() * 1000
                if isinstance(each, Recorded):
                    lines.append(f"log {now - each.at}")
                    if isinstance(each.event, TurnEnded):
                        break
                elif not isinstance(each, Notice):
                    lines += [f"live {now - float(word)}" for word in each.text.split()]
        Path(report).write_text("\n".join(lines))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
