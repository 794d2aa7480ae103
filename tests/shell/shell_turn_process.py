"""A process that runs one command of the person's own: `python -m tests.shell.shell_turn_process SESSION COMMAND`.
Made to be killed."""

import asyncio
import os
import sys
from contextlib import aclosing

from coderelay.app import App
from coderelay.client.client import AT_THE_MACHINE
from coderelay.config.loaded_config import load
from coderelay.protocol.commands import CreateSession, RunShell
from coderelay.protocol.ids import PromptId, SessionId, new_id
from tests.shell.scene import ANNE


async def main(session: SessionId, command: str) -> None:
    host = App(load(os.environ)).open()
    await host.send(CreateSession(session=session, cwd=os.getcwd(), model="guide", agent="guide", by=ANNE))
    run = RunShell(session=session, prompt_id=PromptId(new_id()), command=command, by=ANNE)
    await host.connect(AT_THE_MACHINE).send(run)
    async with aclosing(host.follow(session)) as feed:
        async for _ in feed:
            pass


if __name__ == "__main__":
    asyncio.run(main(SessionId(sys.argv[1]), sys.argv[2]))
