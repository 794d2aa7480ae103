"""The fake platform is one for the platform's own client, lark-oapi: without that, tests with it would prove less."""

import subprocess
import sys

from coderelay.testing.feishu_server import FakeFeishu


def test_the_platforms_own_client_works_with_the_fake_platform(feishu: FakeFeishu) -> None:
    """Over its long connection and with its calls: a message, a card, streamed text and a click."""
    arguments = ("-m", "tests.feishu.library_client", feishu.app_id, feishu.app_secret, feishu.url)
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    chat = feishu.person("ou_1").chat
    try:
        feishu.connections.wait(1, feishu.seconds)
        chat.say("hello")
        message = chat.wait_for("you said hello")
        clicked = chat.click(message, "ok")
        assert (clicked.code, clicked.toast_kind, clicked.toast) == (200, "success", '{"a": "1"}')
    finally:
        process.kill()
        process.wait()
