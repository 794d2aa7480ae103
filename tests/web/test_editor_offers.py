"""What an editor offers to a session can be accepted or refused in the browser."""

from pathlib import Path

import pytest

from coderelay.client.client import Lent, LentServer
from coderelay.protocol.ids import SessionId
from tests.house import story
from tests.model_server import says, script
from tests.web.browser import web


@pytest.mark.parametrize("behavior", ["allow", "deny"])
@story
async def test_an_offer_of_an_editor_is_decided_in_the_browser(tmp_path: Path, behavior: str) -> None:
    async with web(tmp_path / "house", script(says("one"), says("two"))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="hi", cwd=str(site.folder))
        session = SessionId((await page.until("session.status", status="completed"))["sessionId"])
        other = tmp_path / "other"
        other.mkdir()
        server = LentServer(command="/bin/false", args=("--token", "abc123456789"))
        take_back = site.host.lend(session, Lent(servers={"echo": server}, folders=(str(other),)))
        await page.send("session.continue", sessionId=session, prompt="more")
        asked: list[str] = []
        for _ in range(2):
            request = await page.until("permission.request")
            asked.append(request["title"])
            assert request["toolName"] == "Offer"
            answer = {"sessionId": session, "toolUseId": request["toolUseId"], "result": {"behavior": behavior}}
            await page.send("permission.response", **answer)
        await page.until("session.status", status="completed")
        assert asked == [str(other), "echo: /bin/false --token …"]
        settings = (await site.host.load(session)).state.settings
        assert settings is not None
        assert settings.folders == ((str(other),) if behavior == "allow" else ())
        take_back()
