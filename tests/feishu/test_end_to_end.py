"""A real `coder feishu` with the real client of the platform, connected to the fake platform: the main journeys."""

import re
import time
from collections.abc import Callable
from pathlib import Path

from coderelay.testing.feishu_server import FakeFeishu
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.feishu.bot_process import configure, running_bot, secrets_of, start_bot, was_taken
from tests.model_server import ModelServerThread, bash, proposes, says, script
from tests.patience import PATIENCE

CoderOn = Callable[[ModelServerThread], Coder]


def test_e03_e14_a_message_is_worked_on_confirmed_by_a_click_and_answered(
    feishu: FakeFeishu, coder_on: CoderOn, serve: Serve
) -> None:
    """E-03, E-04, E-05, E-14, E-16: over the long connection; the click is answered while the person waits."""
    coder = coder_on(serve(script(proposes(bash("rm test.js")), says("all clean"))))
    (coder.cwd / "test.js").write_text("1")
    configure(coder, feishu)
    chat = feishu.person("ou_1").chat
    with running_bot(coder, feishu):
        chat.say("clean up")
        message = chat.wait_for("请确认")
        assert message.buttons[:2] == ["确认", "取消"]
        assert was_taken(chat.click(message, "确认"))
        chat.wait_for("all clean")
        chat.wait_for("任务完成")
        assert not (coder.cwd / "test.js").exists()


def test_e12_a_turn_goes_on_while_the_connection_is_lost_and_the_platform_fails(
    feishu: FakeFeishu, coder_on: CoderOn, serve: Serve
) -> None:
    """X-08: what is written meanwhile is queued, and arrives although its first delivery is lost."""
    waiting = bash("touch begun; until [ -e go ]; do sleep 0.05; done; rm -f test.js")
    coder = coder_on(serve(script(proposes(waiting), says("first done"), says("second done"))))
    configure(coder, feishu)
    chat = feishu.person("ou_1").chat
    with running_bot(coder, feishu):
        chat.say("one")
        chat.click(chat.wait_for("请确认"), "确认")
        _until_exists(coder.cwd / "begun")
        feishu.connections.drop()
        for path in ("POST .*/im/v1/messages", "PATCH .*/im/v1/messages", "POST .*/cardkit", "PUT .*/cardkit"):
            feishu.fail(path, status=503)
            feishu.fail(path, status=429, code=230020)
        chat.say("two")
        feishu.connections.drop()
        (coder.cwd / "go").touch()
        chat.wait_for("second done")
        chat.wait(lambda: chat.text.count("任务完成") == 2)
        chat.wait_for("first done")


def _until_exists(path: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_e20_a_bot_behind_a_webhook_works_the_same(feishu: FakeFeishu, coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script(proposes(bash("rm test.js")), says("all clean"))))
    (coder.cwd / "test.js").write_text("1")
    configure(coder, feishu)
    chat = feishu.person("ou_1").chat
    with running_bot(coder, feishu, "--webhook", "--port", "0") as bot:
        port = re.search(r"port (\d+)", bot.line)
        assert port is not None
        feishu.webhook = f"http://127.0.0.1:{port[1]}/"
        chat.say("clean up")
        assert was_taken(chat.click(chat.wait_for("请确认"), "确认"))
        chat.wait_for("任务完成")
        assert not (coder.cwd / "test.js").exists()
        assert len(feishu.connections) == 0


def test_a_bot_ends_in_order_and_at_once(feishu: FakeFeishu, coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script()))
    configure(coder, feishu)
    ran = start_bot(coder, feishu).end()
    assert (ran.code, ran.out, ran.err) == (0, "", "")  # what it has said at first was read already
    assert len(feishu.connections) == 0


def test_a_bot_without_an_app_or_with_a_wrong_secret_says_what_to_do(
    feishu: FakeFeishu, coder_on: CoderOn, serve: Serve
) -> None:
    coder = coder_on(serve(script()))
    ran = coder.run("feishu")
    assert (ran.code, "set feishu.app_id" in ran.err) == (1, True)
    configure(coder, feishu)
    ran = coder.run("feishu", env={**secrets_of(feishu), "FEISHU_APP_SECRET": "wrong"})
    assert ran.code == 1
    assert "refuses this app" in ran.err
    assert "wrong" not in ran.err
    configure(coder, feishu, domain="http://feishu.example.com")
    ran = coder.run("feishu", env=secrets_of(feishu))
    assert (ran.code, "https://" in ran.err) == (1, True)
