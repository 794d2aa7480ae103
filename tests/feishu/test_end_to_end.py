"""A real `coder feishu` with the real client of the platform, connected to the fake platform: the main journeys."""

from collections.abc import Callable

from coderelay.testing.feishu_server import FakeFeishu
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.feishu.bot_process import configure, running_bot
from tests.model_server import ModelServerThread, bash, proposes, says, script

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
        clicked = chat.click(message, "确认")
        assert clicked.seconds < 3
        assert (clicked.code, clicked.toast_kind) == (200, "success")
        chat.wait_for("all clean")
        chat.wait_for("任务完成")
        assert not (coder.cwd / "test.js").exists()
