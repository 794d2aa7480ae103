"""What is not an event of the contract is refused with a reason, and the connection stays."""

from pathlib import Path

import pytest

from tests.house import story
from tests.model_server import script
from tests.web.browser import web

WRONG = {
    "not JSON": ("{", "not valid JSON"),
    "a list": ("[]", "JSON object"),
    "no type": ("{}", '"type"'),
    "an unknown type": ('{"type": "session.explode", "payload": {}}', "session.explode"),
    "no payload": ('{"type": "session.stop"}', "payload"),
    "a wrong kind of field": ('{"type": "session.stop", "payload": {"sessionId": 7}}', "sessionId"),
    "a field that is missing": ('{"type": "session.start", "payload": {"title": "t"}}', "prompt"),
    "a field that nobody knows": (
        '{"type": "session.start", "payload": {"prompt": "hi", "allowedtools": "Read"}}',
        "allowedtools",
    ),
    "a mode that nobody knows": ('{"type": "session.start", "payload": {"prompt": "hi", "mode": "wild"}}', "mode"),
    "a key twice": ('{"type": "session.list", "type": "session.list"}', "twice"),
    "a key twice among very many": (
        "{" + ",".join(f'"{number}":0' for number in range(100_000)) + ',"99999":0}',
        "twice",
    ),
    "no number": ('{"type": "session.list", "payload": {"limit": NaN}}', "NaN"),
    "a number too large": ('{"type": "session.list", "payload": {"limit": 1e999}}', "too large"),
    "too many digits": (f'{{"type": "session.list", "payload": {{"limit": {"9" * 5000}}}}}', "JSON"),
    "half of a character": ('{"type": "session.stop", "payload": {"sessionId": "\\ud800"}}', "surrogate"),
    "NUL": ('{"type": "session.stop", "payload": {"sessionId": "a\\u0000b"}}', "NUL"),
    "too deep": ('{"type": ' + "[" * 100 + "]" * 100 + "}", "deeply"),
    "far too deep": ("[" * 100_000, "deeply"),
    "too large": (f'{{"type": "{"x" * (8 * 1024 * 1024)}"}}', "too large"),
    "too many values": ("[" + "[]," * 2_000_000 + "[]]", "too many"),
    "a text without an end": ('"' + '\\"' * 1_000_000, "not valid JSON"),
    "a long text of many pieces is fine": ('{"type": "session.explode", "x": "' + '\\",' * 400_000 + '"}', "explode"),
    "an empty id": ('{"type": "session.stop", "payload": {"sessionId": ""}}', "sessionId"),
    "no behaviour": (
        '{"type": "permission.response", "payload": {"sessionId": "s", "toolUseId": "t", "result": {}}}',
        "behavior",
    ),
}


@pytest.mark.parametrize("name", WRONG)
@story
async def test_b79_wrong_input_is_refused_and_the_connection_stays(tmp_path: Path, name: str) -> None:
    text, reason = WRONG[name]
    async with web(tmp_path, script()) as site, site.client() as page:
        await page.send_text(text)
        error = await page.next()
        assert error["type"] == "runner.error"
        assert reason in error["payload"]["message"]
        assert (await page.ask("session.list", "session.list"))["sessions"] == []


@story
async def test_binary_messages_are_refused(tmp_path: Path) -> None:
    async with web(tmp_path, script()) as site, site.client() as page:
        await page.send_text(b'{"type": "session.list"}')
        assert "binary" in (await page.until("runner.error"))["message"]
        assert (await page.ask("session.list", "session.list"))["sessions"] == []
