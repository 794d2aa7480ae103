"""The dialogue that the design of chats gives as its example, word by word, with a real bot."""

from collections.abc import Callable

from coderelay.testing.feishu_server import FakeFeishu
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.feishu.bot_process import configure, running_bot, was_taken
from tests.feishu.card_reader import read_card
from tests.model_server import ModelServerThread, bash, call, proposes, says, script

CoderOn = Callable[[ModelServerThread], Coder]
ASK_NAME = call("ask_user", questions=[{"question": "请输入新的文件名："}])


def test_e16_the_example_dialogue_in_its_own_words(feishu: FakeFeishu, coder_on: CoderOn, serve: Serve) -> None:
    """E-17: states and routing, requests, buttons and replies, in one conversation. E-22: each part does its duty."""
    server = serve(script(proposes(bash("rm test.js")), proposes(ASK_NAME), says("新文件已准备好")))
    coder = coder_on(server)
    (coder.cwd / "test.js").write_text("1")
    configure(coder, feishu)
    chat = feishu.person("ou_1").chat
    with running_bot(coder, feishu):
        chat.say("换一个文件")
        chat.wait_for("正在执行任务...")
        danger = chat.wait_for("发现危险操作：是否删除文件 test.js？")
        card = read_card(danger.card)
        assert (card.title, card.labels[:2]) == ("请确认", ["确认", "取消"])
        assert was_taken(chat.click(danger, "确认"))
        chat.wait_for("继续执行...")
        chat.wait_for("请输入新的文件名：")
        chat.say("newFile.js")
        chat.wait_for("任务完成")
        now = ["正在执行任务...", "已确认", "继续执行...", "已回复", "继续执行...", "任务完成"]
        chat.wait(lambda: [read_card(each.card).title for each in chat.messages] == now)
        said = [read_card(each.history[0]).title for each in chat.messages]
        assert said == ["正在执行任务...", "请确认", "继续执行...", "等待回复", "继续执行...", "任务完成"]
        chat.wait(lambda: "新文件已准备好" in chat.messages[4].text)
    assert not (coder.cwd / "test.js").exists()
    assert server.requests[-1]["messages"][-1]["content"] == "请输入新的文件名：\n→ newFile.js"
