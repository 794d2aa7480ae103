"""The dialogue that the design of chats gives as its example, word by word."""

from pathlib import Path

from tests.feishu.chat_house import chat_house
from tests.house import story
from tests.model_server import bash, call, proposes, says, script

ASK_NAME = call("ask_user", questions=[{"question": "请输入新的文件名："}])


@story
async def test_e16_the_example_dialogue_in_its_own_words(tmp_path: Path) -> None:
    model = script(proposes(bash("rm test.js")), proposes(ASK_NAME), says("新文件已准备好"))
    async with chat_house(tmp_path, model) as bot:
        (bot.coder.folder / "test.js").write_text("1")
        await bot.say("换一个文件")
        await bot.card("正在执行任务...")
        danger = await bot.shown("请确认")
        assert danger.card.text == "发现危险操作：是否删除文件 test.js？"
        assert danger.card.labels[:2] == ["确认", "取消"]
        answer = await bot.click(danger, "确认")
        assert answer.toast_kind == "success"
        await bot.card("继续执行...")
        asked = await bot.shown("等待回复")
        assert asked.card.text == "请输入新的文件名："
        await bot.say("newFile.js")
        await bot.card("任务完成")
        assert bot.titles() == [
            "正在执行任务...",
            "已确认",
            "继续执行...",
            "已回复",
            "继续执行...",
            "任务完成",
        ]
        assert not (bot.coder.folder / "test.js").exists()
