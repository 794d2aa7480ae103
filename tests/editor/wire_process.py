"""A real `coder acp` on raw lines. What it writes is checked against the published schema."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from tests.coder_process import PROGRAM, Coder
from tests.editor.acp_schema import SchemaTap
from tests.patience import PATIENCE

INITIALIZE = {"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}


class Wire:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.seen: list[dict[str, Any]] = []
        self.tap = SchemaTap()

    def write(self, *messages: dict[str, Any] | bytes) -> None:
        lines = [
            each if isinstance(each, bytes) else json.dumps({"jsonrpc": "2.0", **each}).encode() for each in messages
        ]
        for line in lines:
            self.tap.note(line)
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))

    async def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            said = json.loads(await self.process.stdout.readline())
        self.tap.check("agent", said)
        return said

    async def ask(self, key: int, method: str, **params: Any) -> dict[str, Any]:
        self.write({"id": key, "method": method, "params": params})
        while (said := await self.read()).get("id") != key or "method" in said:
            self.seen.append(said)
        return said

    def texts(self, kind: str) -> list[str]:
        """What the updates of a kind said, as far as they were read."""
        updates = [each["params"]["update"] for each in self.seen if each.get("method") == "session/update"]
        return [each["content"]["text"] for each in updates if each["sessionUpdate"] == kind]


@asynccontextmanager
async def wire(coder: Coder) -> AsyncGenerator[Wire]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *PROGRAM,
        "acp",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=coder.env,
        cwd=coder.cwd,
    )
    try:
        line = Wire(process)
        yield line
        assert line.tap.problems == []
        assert process.stdin is not None
        process.stdin.close()
        async with asyncio.timeout(PATIENCE):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@asynccontextmanager
async def initialized(coder: Coder, **params: Any) -> AsyncGenerator[Wire]:
    async with wire(coder) as line:
        await line.ask(0, "initialize", **{"protocolVersion": 1, **params})
        yield line
