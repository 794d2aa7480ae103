"""Pictures that are sent with a prompt."""

import base64
from pathlib import Path

import pytest

from coderelay.protocol.events import PromptAdmitted
from coderelay.protocol.message_content import Image
from tests.house import story
from tests.model_server import says, script
from tests.web.browser import web

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 20).decode()
TEXT = base64.b64encode(b"just text").decode()


@pytest.mark.parametrize(
    ("data", "reason"), [("%%%", "base64"), (PNG[:-1], "base64"), (TEXT, "not a supported image"), ("", "image")]
)
@story
async def test_what_is_no_picture_is_refused_and_creates_nothing(tmp_path: Path, data: str, reason: str) -> None:
    async with web(tmp_path, script()) as site, site.client() as page:
        await page.send("session.start", prompt="look", attachments=[{"mimeType": "image/png", "data": data}])
        error = await page.next()
        assert error["type"] == "runner.error"
        assert reason in error["payload"]["message"]
        assert (await page.ask("session.list", "session.list"))["sessions"] == []
        assert page.kinds() == ["runner.error", "session.list"]


@story
async def test_the_data_says_what_kind_of_picture_it_is(tmp_path: Path) -> None:
    async with web(tmp_path, script(says("a picture"))) as site, site.client() as page:
        await page.send("session.start", prompt="look", attachments=[{"mimeType": "image/jpeg", "data": PNG}])
        site.inside.session = (await page.until("session.status", status="completed"))["sessionId"]
        admitted = [x.event for x in await site.inside.events() if isinstance(x.event, PromptAdmitted)]
        assert [each.images for each in admitted] == [(Image("image/png", PNG),)]
