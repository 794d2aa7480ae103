"""Clients that change their mind, flood, or answer nonsense: every request is answered, and the session goes on."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from coderelay.client.client import EDITOR
from coderelay.surfaces.editor.acp_methods import AcpMethods
from coderelay.wire.transport import Take
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.editor.wire_process import initialized
from tests.house import ME, InHouse, house, story
from tests.model_server import ModelServerThread, bash, hangs, proposes, says, script
from tests.patience import PATIENCE

CoderOn = Callable[[ModelServerThread], Coder]
PROMPT = [{"type": "text", "text": "go"}]


class Line:
    """A client in this process, which reads only while its `gate` is open."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.is_waited_for = asyncio.Event()
        self._written: asyncio.Queue[bytes] = asyncio.Queue()
        self._arrived: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def deliver(self, take: Take) -> str:
        while True:
            take(await self._written.get())

    def send(self, message: bytes) -> None:
        self._arrived.put_nowait(json.loads(message))

    async def drained(self) -> None:
        if not self.gate.is_set():
            self.is_waited_for.set()
        await self.gate.wait()

    async def close(self) -> None:
        return

    def write(self, **message: Any) -> None:
        self._written.put_nowait(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def until(self, **wanted: Any) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while {**(said := await self._arrived.get()), **wanted} != said:
                pass
        return said

    async def ask(self, key: int, method: str, **params: Any) -> dict[str, Any]:
        self.write(id=key, method=method, params=params)
        return await self.until(id=key)


@asynccontextmanager
async def connected(coder: InHouse) -> AsyncGenerator[Line]:
    line = Line()
    serving = asyncio.create_task(AcpMethods(coder.host.connect(EDITOR), ME, line).serve())
    try:
        await line.ask(1, "initialize", protocolVersion=1)
        yield line
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


@story
async def test_a_session_that_was_not_loaded_to_the_end_is_not_open(tmp_path: Path) -> None:
    """A prompt to it would never be answered, because nobody follows it."""
    async with house(tmp_path, script(says("one"), says("two"))) as coder, connected(coder) as line:
        await coder.prompt("go")
        await coder.ended()
        load: dict[str, Any] = {"sessionId": coder.session, "cwd": str(coder.folder), "mcpServers": []}
        line.gate.clear()
        line.write(id=2, method="session/load", params=load)
        await line.is_waited_for.wait()
        line.write(method="$/cancel_request", params={"requestId": 2})
        assert (await line.until(id=2))["error"]["code"] == -32800
        line.gate.set()
        prompt = {"sessionId": coder.session, "prompt": PROMPT}
        assert (await line.ask(3, "session/prompt", **prompt))["error"]["code"] == -32002
        assert "result" in await line.ask(4, "session/load", **load)
        assert (await line.ask(5, "session/prompt", **prompt))["result"] == {"stopReason": "end_turn"}


@story
async def test_a_prompt_of_a_session_that_is_deleted_is_answered(tmp_path: Path) -> None:
    """The client does not read, so that nothing of the session is shown to it any more."""
    begins = script(hangs(says("I begin and never end"), 2))
    async with house(tmp_path, begins) as coder, connected(coder) as line:
        made = await line.ask(2, "session/new", cwd=str(coder.folder), mcpServers=[])
        session = made["result"]["sessionId"]
        line.write(id=3, method="session/prompt", params={"sessionId": session, "prompt": PROMPT})
        while "agent_message_chunk" not in json.dumps(await line.until(method="session/update")):
            pass
        line.gate.clear()
        line.write(id=4, method="session/delete", params={"sessionId": session})
        assert (await line.until(id=3))["result"] == {"stopReason": "cancelled"}


@story
async def test_a_flood_of_cancels_ends_what_came_before_and_nothing_else(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script(*[hangs(says("I begin and never end"), 2)] * 2)))
    async with initialized(coder) as line:
        made = await line.ask(1, "session/new", cwd=str(coder.cwd), mcpServers=[])
        params = {"sessionId": made["result"]["sessionId"], "prompt": PROMPT}
        cancel = {"method": "session/cancel", "params": {"sessionId": params["sessionId"]}}
        prompts: list[dict[str, Any]] = [{"id": key, "method": "session/prompt", "params": params} for key in (2, 3)]
        line.write(prompts[0], *[cancel] * 1000, prompts[1], *[cancel] * 1000)
        ended: list[tuple[int, Any]] = []
        while len(ended) < 2:
            said = await line.read()
            if "id" in said:
                ended.append((said["id"], said["result"]["stopReason"]))
        assert sorted(ended) == [(2, "cancelled"), (3, "cancelled")]
        line.write({"id": 4, "method": "session/prompt", "params": params})
        while not line.texts("agent_message_chunk"):
            line.seen.append(await line.read())
        line.write(cancel)
        while (said := await line.read()).get("id") != 4:
            pass
        assert said["result"] == {"stopReason": "cancelled"}


@story
async def test_an_answer_without_a_result_leaves_the_ask_open(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script(proposes(bash("rm -rf a; echo one")), says("done"))))
    async with initialized(coder) as line:
        made = await line.ask(1, "session/new", cwd=str(coder.cwd), mcpServers=[])
        session = made["result"]["sessionId"]
        line.write({"id": 2, "method": "session/prompt", "params": {"sessionId": session, "prompt": PROMPT}})
        while (said := await line.read()).get("method") != "session/request_permission":
            pass
        line.write({"id": said["id"]})
        while not any("coder answer" in text for text in line.texts("agent_message_chunk")):
            line.seen.append(await line.read())
        assert coder.run("asks").out.count("rm -rf a") == 1
        line.write({"method": "session/cancel", "params": {"sessionId": session}})
        while (said := await line.read()).get("id") != 2:
            pass
        assert said["result"] == {"stopReason": "cancelled"}
