"""A process that runs one prompt by the guide: `python prompt_process.py ROOT SESSION PROMPT`. Made to be killed."""

import asyncio
import sys
from contextlib import aclosing
from pathlib import Path

from coderelay.app import App
from coderelay.config.loaded_config import load
from coderelay.protocol.asks import By
from coderelay.protocol.commands import CreateSession, SendPrompt
from coderelay.protocol.ids import PromptId, SessionId, new_id

ME = By(who="tester", via="test")


async def main(root: Path, session: SessionId, prompt: str) -> None:
    env = {"CODER_HOME": str(root / "home"), "PATH": "/usr/bin:/bin"}
    host = App(load(env), env).open()
    folder = str(root / "work")
    await host.send(CreateSession(session=session, cwd=folder, model="guide", agent="guide", mode="yolo", by=ME))
    await host.send(SendPrompt(session=session, prompt_id=PromptId(new_id()), text=prompt, by=ME))
    async with aclosing(host.follow(session)) as feed:
        async for _ in feed:
            pass


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), SessionId(sys.argv[2]), sys.argv[3]))
