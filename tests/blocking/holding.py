"""A process that stays with a session, as a server does: its agent holds the asks while people think.

    python -m tests.blocking.holding "do first"      # a new session, or the newest one if there is one
    python -m tests.blocking.holding "" park         # goes on with what is there; questions have a deadline

Ends with 0 when the session rests, and with 5 when the turn is parked.
"""

import asyncio
import os
import sys
from contextlib import aclosing

from msgspec.structs import replace

from coderelay.config.loaded_config import load
from coderelay.host.host import Host
from coderelay.protocol.asks import By
from coderelay.protocol.commands import CreateSession, OpenSession, SendPrompt
from coderelay.protocol.events import Recorded, TurnParked
from coderelay.protocol.ids import PromptId, SessionId, new_id
from coderelay.protocol.queries import ListSessions, ShowSession
from tests.crash.crashing import CrashingHouse

BY = By("anne", "test")
RESTS, PARKED = 0, 5


async def main(prompt: str, unanswered: str = "") -> int:
    house = CrashingHouse(load(os.environ))
    host = house.open()
    try:
        session = await _session(host)
        if prompt:
            await host.send(_prompt(session, prompt, parks=unanswered == "park"))
        return await _stay(host, session)
    finally:
        await house.close(host)


async def _session(host: Host) -> SessionId:
    known = await host.get(ListSessions(limit=1))
    if known:
        await host.send(OpenSession(session=known[0].id, by=BY))
        return known[0].id
    session = SessionId(new_id())
    await host.send(
        CreateSession(
            session=session, cwd=os.getcwd(), agent="blocking", model="openai:scripted", mode="default", by=BY
        )
    )
    return session


def _prompt(session: SessionId, text: str, *, parks: bool) -> SendPrompt:
    prompt = SendPrompt(session=session, prompt_id=PromptId(new_id()), text=text, by=BY)
    return replace(prompt, answer_within=1, unanswered="park") if parks else prompt


async def _stay(host: Host, session: SessionId) -> int:
    row = await host.get(ShowSession(session))
    if not row.turn_open and not row.queued:
        return RESTS
    async with aclosing(host.follow(session, row.head)) as feed:
        async for each in feed:
            if isinstance(each, Recorded) and isinstance(each.event, TurnParked):
                return PARKED
            row = await host.get(ShowSession(session))
            if not row.turn_open and not row.queued:
                return RESTS
    return RESTS


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
