"""What people do to a session besides sending prompts, each by a process of its own that may crash as `coder` does.

    python tests/crash/commanding.py steer "rather blue"

The session is the newest one. `rest` opens it and stays until it rests (0) or waits for people (5).
"""

import asyncio
import os
import sys
from contextlib import aclosing

from coderelay.config.loaded_config import load
from coderelay.host.host import Host
from coderelay.protocol.asks import By
from coderelay.protocol.commands import (
    Accepted,
    Command,
    CompactHistory,
    ConfigureSession,
    EditPrompt,
    OpenSession,
    SendPrompt,
)
from coderelay.protocol.ids import PromptId, SessionId, new_id
from coderelay.protocol.queries import ListPrompts, ListSessions, ShowSession
from tests.crash.crashing import CrashingHouse

BY = By("anne", "test")
RESTS, UNCHANGED, WAITS = 0, 1, 5


async def main(verb: str, text: str = "") -> int:
    house = CrashingHouse(load(os.environ))
    host = house.open()
    try:
        session = (await host.get(ListSessions(limit=1)))[0].id
        outcome = await host.send(await _command(host, session, verb, text))
        if verb in ("compact", "rest"):  # nobody else may be there to do it
            return await _rest(host, session)
        return RESTS if isinstance(outcome, Accepted) else UNCHANGED
    finally:
        await house.close(host)


async def _command(host: Host, session: SessionId, verb: str, text: str) -> Command:
    match verb:
        case "send" | "steer":
            prompt = PromptId(new_id())
            return SendPrompt(session=session, prompt_id=prompt, text=text, steer=verb == "steer", by=BY)
        case "edit":
            waiting = await host.get(ListPrompts(session))
            prompt = waiting[-1].prompt_id if waiting else PromptId("none")
            return EditPrompt(session=session, prompt_id=prompt, text=text, by=BY)
        case "model":
            return ConfigureSession(session=session, model=text, by=BY)
        case "compact":
            return CompactHistory(session=session, prompt_id=PromptId(new_id()), by=BY)
        case _:
            return OpenSession(session=session, by=BY)


async def _rest(host: Host, session: SessionId) -> int:
    async with aclosing(host.follow(session)) as feed:
        while True:
            row = await host.get(ShowSession(session))
            if row.open_asks:
                return WAITS
            if not row.turn_open and not row.queued:
                return RESTS
            await anext(feed)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
