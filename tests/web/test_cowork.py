"""The literal behaviour of seed 001 over the web: the profile cowork (X-01), and kept partial messages (X-13)."""

import json
from pathlib import Path

import pytest

from coderelay.client.client import Capabilities
from tests.house import story
from tests.model_server import call, hangs, proposes, says, script, write
from tests.web.browser import Event, Page, web

QUESTION = call("ask_user", questions=[{"question": "Which?", "options": [{"label": "A"}]}])
COWORK = Capabilities(profile="cowork")


@story
async def test_b38_b62_a_client_that_never_sends_a_mode_is_asked_questions_only(tmp_path: Path) -> None:
    answers = script(proposes(write("a", "x")), proposes(QUESTION), says("done"))
    async with web(tmp_path, answers, capabilities=COWORK) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="go", allowedTools="Read")
        asked = await page.until("permission.request")
        assert asked["toolName"] == "AskUserQuestion"
        allow = {"behavior": "allow", "updatedInput": {**asked["input"], "answers": {"Which?": "A"}}}
        reply = {"sessionId": asked["sessionId"], "toolUseId": asked["toolUseId"], "result": allow}
        await page.send("permission.response", **reply)
        await page.until("session.status", status="completed")
        assert (site.folder / "a").read_text() == "x"


@story
async def test_x01_no_client_event_gives_the_profile(tmp_path: Path) -> None:
    """Unless it is configured, the field is ignored or refused, and the sensitive tool is asked about."""
    async with web(tmp_path, script(proposes(write("a", "x")))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="go", profile="cowork")
        told = await page.next()
        if told["type"] == "runner.error":
            await page.send("session.start", title="t", prompt="go")
        assert (await page.until("permission.request"))["toolName"] == "Write"


def stream_events(page: Page, after: int = -1) -> list[Event]:
    """Those that came with an event after a place in the log."""
    payloads = [each["payload"] for each in page.seen if each["type"] == "stream.message"]
    messages = [each["message"] for each in payloads if each.get("seq", 0) > after]
    return [each for each in messages if each["type"] == "stream_event"]


@pytest.mark.parametrize("partials", ["always", "until_final"])
@story
async def test_x13_what_is_shown_is_what_is_stored(tmp_path: Path, partials: str) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.json").write_text(json.dumps({"persist_partials": partials}))
    async with web(tmp_path, script(says("all is done", token_delay=0.1))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="go")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        shown = stream_events(page)
        history = await page.ask("session.history", "session.history", sessionId=session)
        stored = [each for each in history["messages"] if each["type"] == "stream_event"]
        assert len(shown) > 2
        assert stored == (shown if partials == "always" else [])
        assert len({each["uuid"] for each in shown}) == len(shown)


@story
async def test_x13_a_client_that_comes_late_goes_on_where_its_history_ends(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.json").write_text(json.dumps({"persist_partials": "always"}))
    answer = hangs(says("one two three four five", token_delay=0.3), after_pieces=5)
    async with web(tmp_path, script(answer)) as site, site.client() as page, site.client() as late:
        await page.send("session.start", title="t", prompt="go")
        session = (await page.until("session.status"))["sessionId"]
        while len(stream_events(page)) < 3:
            await page.next()
        history = await late.ask("session.history", "session.history", sessionId=session)
        begun = [each for each in history["messages"] if each["type"] == "stream_event"]
        while "four" not in str(stream_events(late)):
            await late.next()
        while "four" not in str(stream_events(page)):
            await page.next()
        assert [*begun, *stream_events(late, history["seq"])] == stream_events(page)
        await page.send("session.stop", sessionId=session)
        await page.until("session.status", status="idle")
