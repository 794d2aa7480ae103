"""A real `coder acp --listen`, and raw frames to and from it."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.coder_process import PROGRAM, Coder
from tests.editor.acp_schema import SchemaTap
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
    """Sends and reads frames. `seen` are all that were read on the way to something else. What is read is checked
    against the published schema, unless it is of another dialect."""

    def __init__(self, socket: ClientConnection, *, is_acp: bool) -> None:
        self.socket = socket
        self.tap = SchemaTap()
        self._is_acp = is_acp
        self.seen: list[dict[str, Any]] = []

    async def send(self, **message: Any) -> None:
        await self.send_text(json.dumps({"jsonrpc": "2.0", **message}))

    async def send_text(self, text: str) -> None:
        self.tap.note(text)
        await self.socket.send(text)

    async def read(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while (frame := await self.socket.recv()) == "//ready":
                pass
        said = json.loads(frame)
        if self._is_acp:
            self.tap.check("agent", said)
        return said

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
async def frames(
    url: str, headers: Mapping[str, str] | None = None, *, is_acp: bool = True
) -> AsyncGenerator[Frames]:
    async with connect(url, additional_headers=headers) as socket:
        line = Frames(socket, is_acp=is_acp)
        yield line
        assert line.tap.problems == []


@asynccontextmanager
async def iflow(url: str) -> AsyncGenerator[Frames]:
    """A client made for iFlow: it waits for the ready line, and says nothing about itself."""
    async with frames(url, is_acp=False) as line:
        async with asyncio.timeout(PATIENCE):
            assert await line.socket.recv() == "//ready"
        files = {"fs": {"readTextFile": True, "writeTextFile": True}}
        greeting = await line.ask(1, "initialize", protocolVersion=1, clientCapabilities=files)
        assert greeting["result"]["isAuthenticated"] is True
        yield line
