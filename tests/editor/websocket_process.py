"""A real `coder acp --listen`, and raw frames to and from it."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.coder_process import PROGRAM, Coder
from tests.patience import PATIENCE


@asynccontextmanager
async def listening(coder: Coder, host: str = "127.0.0.1") -> AsyncGenerator[str]:
    """The address that the process listens at. It must end in order when it is told to, whoever is connected."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *PROGRAM,
        *("acp", "--listen", f"ws://{host}:0"),
        stdout=asyncio.subprocess.PIPE,
        env=coder.env,
        cwd=coder.cwd,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            yield (await process.stdout.readline()).decode().strip()
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


class Frames:
    """Sends and reads frames. `seen` are all that were read on the way to something else."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.seen: list[dict[str, Any]] = []

    async def send(self, **message: Any) -> None:
        await self.socket.send(json.dumps({"jsonrpc": "2.0", **message}))

    async def read(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while (frame := await self.socket.recv()) == "//ready":
                pass
        return json.loads(frame)

    async def until(self, **wanted: Any) -> dict[str, Any]:
        """The next message with these fields."""
        said = await self.read()
        while {name: said.get(name) for name in wanted} != wanted:
            self.seen.append(said)
            said = await self.read()
        return said

    async def ask(self, key: int, method: str, **params: Any) -> dict[str, Any]:
        await self.send(id=key, method=method, params=params)
        while "method" in (said := await self.until(id=key)):
            self.seen.append(said)
        return said

    def updates(self, kind: str) -> list[dict[str, Any]]:
        found = [each["params"]["update"] for each in self.seen if each.get("method") == "session/update"]
        return [each for each in found if each["sessionUpdate"] == kind]


@asynccontextmanager
async def frames(url: str, **headers: str) -> AsyncGenerator[Frames]:
    async with connect(url, additional_headers=headers) as socket:
        yield Frames(socket)


@asynccontextmanager
async def iflow(url: str) -> AsyncGenerator[Frames]:
    """A client made for iFlow: it waits for the ready line, and says nothing about itself."""
    async with frames(url) as line:
        async with asyncio.timeout(PATIENCE):
            assert await line.socket.recv() == "//ready"
        files = {"fs": {"readTextFile": True, "writeTextFile": True}}
        greeting = await line.ask(1, "initialize", protocolVersion=1, clientCapabilities=files)
        assert greeting["result"]["isAuthenticated"] is True
        yield line
