"""A server that ends, in whatever way: the questions stay, and the next one goes on."""

import asyncio
import json
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.house import story
from tests.model_server import ModelServerThread, proposes, says, script, write
from tests.web.browser import Page
from tests.web.test_web_command import Web, running

TOKEN = "the-token-of-all-servers-in-this-story"
CoderOn = Callable[[ModelServerThread], Coder]


@asynccontextmanager
async def page_of(web: Web) -> AsyncGenerator[Page]:
    address = f"ws://127.0.0.1:{web.port}/events"
    async with connect(address, additional_headers={"Authorization": f"Bearer {TOKEN}"}, max_size=None) as socket:
        yield Page(socket)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_x04_a_question_outlives_the_server_and_is_answered_at_the_next(
    serve: Serve, coder_on: CoderOn, folder: Path, ending: signal.Signals
) -> None:
    coder = coder_on(serve(script(proposes(write("a.txt", "text")), says("written"))))

    @story
    async def ask() -> None:
        with running(coder, "--no-open", "--port", "0", env={"CODER_TOKEN": TOKEN}) as web:
            async with page_of(web) as page:
                await page.send("session.start", title="t", prompt="write it", cwd=str(folder), mode="default")
                request = await page.until("permission.request")
                web.started.send(ending)
                ended = await asyncio.to_thread(web.started.wait)
                assert (ended.code, ended.err) == (-9 if ending == signal.SIGKILL else 0, "")
                asked.append((request["sessionId"], request["toolUseId"]))

    @story
    async def answer() -> None:
        with running(coder, "--no-open", "--port", "0", env={"CODER_TOKEN": TOKEN}) as web:
            async with page_of(web) as page:
                ((session, call),) = asked
                await page.send("session.history", sessionId=session)
                await page.until("session.history", sessionId=session)
                await page.send(
                    "permission.response", sessionId=session, toolUseId=call, result={"behavior": "allow"}
                )
                await page.until("session.status", status="completed")

    asked: list[tuple[str, str]] = []
    ask()
    assert [json.loads(line)["session"] for line in coder.run("asks", "--json").out.splitlines()] == [asked[0][0]]
    assert not (folder / "a.txt").exists()
    answer()
    assert (folder / "a.txt").read_text() == "text"
    assert coder.run("asks", "--json").out == ""
