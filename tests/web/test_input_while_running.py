"""X-08: what Enter does while a session works, prompts that wait, and sessions that nobody runs."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from coderelay.client.client import Capabilities
from coderelay.surfaces.web.all_sessions_broadcast import BroadcastOptions
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.house import house, story
from tests.model_server import ModelServerThread, hangs, says, script
from tests.web.browser import Site, serving, web
from tests.web.test_killed_server import start

CoderOn = Callable[[ModelServerThread], Coder]


@story
async def test_x08_clients_are_told_what_enter_does_and_in_the_cowork_profile_it_stops(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one"), says("two"))) as inside:
        options = BroadcastOptions(cwd=str(inside.folder), input_while_running="steer")
        for capabilities, expected in ((Capabilities(), "steer"), (Capabilities(profile="cowork"), "stop")):
            async with serving(inside.host, options, capabilities) as server, Site(inside, server).client() as page:
                await page.send("session.start", prompt="go")
                session = (await page.until("session.status", status="completed"))["sessionId"]
                rows = (await page.ask("session.list", "session.list"))["sessions"]
                history = await page.ask("session.history", "session.history", sessionId=session)
                assert next(each for each in rows if each["id"] == session)["inputWhileRunning"] == expected
                assert history["session"]["inputWhileRunning"] == expected


@story
async def test_a_prompt_behind_an_older_one_is_told_as_queued_after_a_stop(tmp_path: Path) -> None:
    answers = script(hangs(says("never"), after_pieces=0), hangs(says("older"), after_pieces=0), says("newer"))
    async with web(tmp_path, answers) as site, site.client() as page:
        await page.send("session.start", prompt="first")
        session = (await page.until("session.status", status="running"))["sessionId"]
        await page.send("session.continue", sessionId=session, prompt="older")
        await page.until("prompt.queued", prompt="older")
        await page.send("session.stop", sessionId=session)
        await page.until("session.status", status="idle")
        history = await page.ask("session.history", "session.history", sessionId=session)
        assert [each["prompt"] for each in history["queue"]] == ["older"]

        await page.send("session.continue", sessionId=session, prompt="newer")

        await page.until("stream.user_prompt", prompt="older")
        await page.until("prompt.queued", prompt="newer")
        await page.send("session.stop", sessionId=session)
        await page.until("session.status", status="idle")


def test_a_session_whose_process_was_killed_waits_and_goes_on_when_somebody_opens_it(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    """The page says that the session waits, and why; whoever looks at it then lets this server go on."""
    model = serve(script(hangs(says("never"), after_pieces=0), says("went on")))
    coder = coder_on(model)

    @story
    async def watch() -> None:
        server = await start(coder)
        async with server.client() as page:
            other = coder.start("-p", "do it")
            session = (await page.until("session.status", status="running"))["sessionId"]
            await asyncio.to_thread(model.wait_for_requests, 1)
            await asyncio.to_thread(other.kill)

            waiting = await page.until("session.waiting", sessionId=session)
            rows = (await page.ask("session.list", "session.list"))["sessions"]
            assert waiting["reason"] == rows[0]["waiting"] == "coder resume continues it"
            await page.send("session.history", sessionId=session)
            await page.until("session.status", sessionId=session, status="completed")
            assert "message assistant text" in page.story(session)
        server.end()

    watch()
