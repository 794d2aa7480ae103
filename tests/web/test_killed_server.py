"""A real `coder web`, killed while people are asked, as by a power cut: nothing is lost, nothing happens twice."""

import asyncio
import json
import re
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import websockets
from websockets.typing import Subprotocol

from tests.coder_process import Coder, Started
from tests.conftest import Serve
from tests.house import story
from tests.model_server import ModelServerThread, bash, by_history, proposes, says
from tests.model_server.answers import Answer
from tests.model_server.wire_form import History
from tests.patience import PATIENCE
from tests.web.browser import TOKEN, Page


class WebProcess:
    def __init__(self, started: Started, port: int) -> None:
        self._started = started
        self.port = port

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[Page]:
        offered = [Subprotocol("coder.v1"), Subprotocol(f"bearer.{TOKEN}")]
        url = f"ws://127.0.0.1:{self.port}/events"
        async with websockets.connect(url, max_size=None, subprotocols=offered) as socket:
            yield Page(socket)

    def kill(self) -> None:
        self._started.kill()

    def end(self) -> int:
        self._started.send(signal.SIGTERM)
        return self._started.wait().code


async def start(coder: Coder) -> WebProcess:
    """Start it, and wait for the link that it prints."""
    started = coder.start("web", "--no-open", "--port", "0", env={"CODER_TOKEN": TOKEN})
    out = started.process.stdout
    assert out is not None
    async with asyncio.timeout(PATIENCE):
        line = await asyncio.to_thread(out.readline)
    found = re.match(r"http://127\.0\.0\.1:(\d+)/#link=", line)
    assert found is not None, line
    return WebProcess(started, int(found[1]))


def _two_commands(history: History) -> Answer:
    if any(said.role == "assistant" for said in history):
        return says("both done")
    return proposes(bash("rm -rf a; echo one >> effects"), bash("rm -rf b; echo two >> effects"))


CoderOn = Callable[[ModelServerThread], Coder]


@story
async def _killed(coder: Coder, folder: Path, answered: int) -> None:
    """Kill the server when `answered` of its two asks are answered; the next one goes on."""
    server = await start(coder)
    async with server.client() as page:
        await page.send("session.start", title="t", prompt="go", mode="default", cwd=str(folder))
        asks = [await page.until("permission.request") for _ in range(2)]
        session = asks[0]["sessionId"]
        for ask in asks[:answered]:
            where = {"sessionId": session, "toolUseId": ask["toolUseId"]}
            await page.send("permission.response", **where, result={"behavior": "allow"})
            await page.until("permission.resolved", toolUseId=ask["toolUseId"])
        seen = [each["payload"] for each in page.seen if "seq" in each["payload"]]
        server.kill()
    again = await start(coder)
    try:
        async with again.client() as page:
            listed = await page.ask("session.list", "session.list")
            assert listed["sessions"][0]["status"] in ("running", "completed")
            history = await page.ask("session.history", "session.history", sessionId=session)
            assert history["seq"] >= max(each["seq"] for each in seen)
            shown = json.dumps(history["messages"])
            assert all(each["message"]["uuid"] in shown for each in seen if "uuid" in each.get("message", {}))
            for ask in asks[answered:]:
                await page.until("permission.request", askId=ask["askId"])
            for ask in asks[answered:]:
                where = {"sessionId": session, "toolUseId": ask["toolUseId"]}
                await page.send("permission.response", **where, result={"behavior": "allow"})
            if history["status"] == "running":
                await page.until("session.status", status="completed")
        assert (folder / "effects").read_text() == "one\ntwo\n"
    finally:
        assert again.end() == 0


@pytest.mark.parametrize("answered", [0, 1])
def test_an_open_ask_outlives_its_server(coder_on: CoderOn, serve: Serve, folder: Path, answered: int) -> None:
    """Promise 3: the batch runs once, in order, when the last answer is in."""
    _killed(coder_on(serve(by_history(_two_commands))), folder, answered)


@story
async def _ends(coder: Coder, folder: Path) -> None:
    server = await start(coder)
    async with server.client() as page:
        await page.send("session.start", title="t", prompt="go", mode="default", cwd=str(folder))
        await page.until("permission.request")
    assert server.end() == 0
    listed = coder.run("asks", "--json")
    assert len(listed.out.splitlines()) == 2


def test_x04_a_server_that_ends_leaves_its_asks_open(coder_on: CoderOn, serve: Serve, folder: Path) -> None:
    _ends(coder_on(serve(by_history(_two_commands))), folder)
