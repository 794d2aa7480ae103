"""What becomes of a message, by the state of the chat's session."""

import asyncio
from functools import partial
from pathlib import Path

from coderelay.protocol.asks import By
from coderelay.protocol.commands import SendPrompt
from coderelay.protocol.events import PromptAdmitted, PromptTaken, Recorded
from coderelay.protocol.ids import PromptId, SessionId, new_id
from coderelay.protocol.queries import ListAsks, ListPrompts, ShowSession
from tests.feishu.chat_house import ANNE, BOB, CHAT, ChatHouse, chat_house
from tests.house import story
from tests.model_server import bash, call, proposes, replies, says, script
from tests.model_server.answers import Answer
from tests.model_server.script import Replies
from tests.model_server.wire_form import Body

GROUP = "oc_group"


class Gate:
    """A model that answers when it is told to."""

    def __init__(self, answer: Answer) -> None:
        self.asked = asyncio.Event()
        self.opened = asyncio.Event()
        self._answer = answer

    async def _reply(self, _: Body) -> Answer:
        self.asked.set()
        await self.opened.wait()
        return self._answer

    @property
    def answer(self) -> Replies:
        return replies(self._reply)


def ask(question: str, *options: str, several: bool = False) -> Answer:
    asked = {"question": question, "options": [{"label": each} for each in options], "multiSelect": several}
    return proposes(call("ask_user", questions=[asked if options else {"question": question}]))


async def _events(bot: ChatHouse, session: SessionId) -> list[Recorded]:
    bot.coder.session = session
    return await bot.coder.events()


@story
async def test_e04_a_message_to_an_idle_chat_is_a_new_turn(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(says("hello"), says("again"))) as bot:
        await bot.say("hi")
        await bot.card("任务完成")
        await bot.say("hi again")
        await bot.card("任务完成", nth=2)
        (session,) = await bot.sessions()
        bot.coder.session = session
        assert await bot.coder.story() == ["user: hi", "agent: hello", "user: hi again", "agent: again"]
        admitted = [each.event for each in await bot.coder.events() if isinstance(each.event, PromptAdmitted)]
        assert {(each.by.who, each.by.via) for each in admitted} == {(f"feishu:{ANNE}", "feishu")}
        assert [each.card.text for each in bot.outbox.in_chat(CHAT) if each.key.startswith("turn/")] == [
            "hello",
            "again",
        ]


@story
async def test_e04_x08_a_message_while_a_turn_runs_is_queued_and_acknowledged(tmp_path: Path) -> None:
    gate = Gate(says("first"))
    async with chat_house(tmp_path, script(gate.answer, says("second"))) as bot:
        await bot.say("one")
        await gate.asked.wait()
        said = await bot.say("two")
        queued = await bot.shown("已加入队列")
        assert queued.place.reply_to == said
        (session,) = await bot.sessions()
        assert [each.text for each in await bot.client.get(ListPrompts(session))] == ["two"]
        gate.opened.set()
        await bot.card("任务完成", nth=2)
        assert queued.card.title == "已开始执行"
        bot.coder.session = session
        assert await bot.coder.story() == ["user: one", "agent: first", "user: two", "agent: second"]


@story
async def test_x08_a_message_while_a_turn_runs_can_steer_stop_or_be_ignored(tmp_path: Path) -> None:
    for how in ("steer", "stop", "ignore"):
        gate = Gate(proposes(call("list")))
        (tmp_path / how).mkdir()
        model = script(gate.answer, says("done"))
        async with chat_house(tmp_path / how, model, while_running=how) as bot:
            await bot.say("one")
            await gate.asked.wait()
            await bot.say("two")
            match how:
                case "steer":
                    gate.opened.set()
                    await bot.card("任务完成")
                    (session,) = await bot.sessions()
                    assert any(isinstance(each.event, PromptTaken) for each in await _events(bot, session))
                case "stop":
                    await bot.card("已停止")
                    await bot.card("任务完成")
                    gate.opened.set()
                case _:
                    await bot.card("正在执行任务", text="消息未处理")
                    gate.opened.set()
                    await bot.card("任务完成")
                    assert len([each for each in bot.titles() if each == "任务完成"]) == 1


@story
async def test_nobody_stops_or_steers_another_persons_turn_by_writing(tmp_path: Path) -> None:
    for how in ("steer", "stop"):
        gate = Gate(proposes(call("list")))
        (tmp_path / how).mkdir()
        model = script(gate.answer, says("anne's"), says("bob's"))
        async with chat_house(tmp_path / how, model, while_running=how, shares_groups=True) as bot:
            say = partial(bot.say, chat="oc_group", kind="group", mentions_bot=True)
            await say("one")
            await gate.asked.wait()
            await say("two", sender=BOB)
            await bot.card("已加入队列", chat="oc_group")
            gate.opened.set()
            await bot.results(2)
            (bot.coder.session,) = await bot.sessions()
            assert await bot.coder.story() == [
                "user: one",
                "list: ok",
                "agent: anne's",
                "user: two",
                "agent: bob's",
            ]


@story
async def test_e11_e12_a_text_answers_an_open_question(tmp_path: Path) -> None:
    """E-11: the card says `请回复: ` and the prompt. E-12: the reply is delivered and the turn goes on."""
    async with chat_house(tmp_path, script(ask("文件叫什么名字"), says("好"))) as bot:
        await bot.say("新建文件")
        asked = await bot.shown("等待回复")
        assert asked.card.text == "请回复: 文件叫什么名字"
        await bot.say("newFile.js")
        await bot.card("继续执行...")
        await bot.card("任务完成")
        assert asked.card.title == "已回复"
        assert "newFile.js" in asked.card.text
        assert f"feishu:{ANNE}" in asked.card.text
        assert bot.coder.server.requests[-1]["messages"][-1]["content"] == "文件叫什么名字\n→ newFile.js"


@story
async def test_e01_a_typed_number_selects_an_option(tmp_path: Path) -> None:
    """E-01: confirm, text and choice are three kinds; `[1/2/3]` is answered with a number."""
    model = script(ask("哪一个?", "red", "blue"), ask("哪些?", "a", "b", "c", several=True), says("好"))
    async with chat_house(tmp_path, model) as bot:
        await bot.say("go")
        choice = await bot.shown("请选择")
        assert choice.card.labels[:2] == ["1. red", "2. blue"]
        await bot.say("2")
        several = await bot.shown("请选择", text="1. 哪些?")
        assert [each["tag"] for each in several.card.fields] == ["multi_select_static", "input"]
        await bot.say("1，3")
        await bot.card("任务完成")
        contents = [each["content"] for each in bot.coder.server.requests[-1]["messages"] if each["role"] == "tool"]
        assert contents == ["哪一个?\n→ blue", "哪些?\n→ a, c"]


@story
async def test_several_questions_are_answered_with_a_line_each(tmp_path: Path) -> None:
    two = proposes(call("ask_user", questions=[{"question": "Name?"}, {"question": "Age?"}]))
    async with chat_house(tmp_path, script(two, says("ok"))) as bot:
        await bot.say("go")
        await bot.card("请选择")
        await bot.say("only one line")
        await bot.card("回复无法识别")
        await bot.say("Anne\n42")
        await bot.card("任务完成")
        assert bot.coder.server.requests[-1]["messages"][-1]["content"] == "Name?\n→ Anne\nAge?\n→ 42"


@story
async def test_e04_a_message_while_a_card_waits_is_queued_and_the_card_decides(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x")), says("done"), says("two"))) as bot:
        await bot.say("go")
        confirm = await bot.shown("请确认")
        await bot.say("another thing")
        await bot.card("请点击卡片上的按钮")
        assert confirm.card.title == "请确认"
        await bot.click(confirm, "取消")
        await bot.card("任务完成", nth=2)


@story
async def test_x38_a_typed_word_decides_for_the_owner_of_a_single_request(tmp_path: Path) -> None:
    for word, kind in (("确认", "ok"), ("YES", "ok"), ("取消", "denied"), ("no", "denied")):
        root = tmp_path / word
        root.mkdir()
        async with chat_house(root, script(proposes(bash("rm -f x")), says("done"))) as bot:
            await bot.say("go")
            await bot.card("请确认")
            await bot.say(word)
            await bot.card("任务完成")
            (bot.coder.session,) = await bot.sessions()
            assert (await bot.coder.story())[1] == f"bash: {kind}"


@story
async def test_x38_a_typed_word_counts_neither_in_a_group_nor_for_several_requests(tmp_path: Path) -> None:
    model = script(proposes(bash("rm x"), bash("rm y")), proposes(bash("rm z")), says("done"), says("more"))
    async with chat_house(tmp_path, model) as bot:
        await bot.say("go", chat=GROUP, kind="group", mentions_bot=True)
        batch = await bot.shown("请确认", chat=GROUP)
        (session,) = await bot.sessions()
        await bot.say("确认", chat=GROUP, kind="group", mentions_bot=True)
        assert len(await bot.client.get(ListAsks(session))) == 2
        await bot.click(batch, "全部取消")
        await bot.card("请确认", chat=GROUP, text="删除文件 z")
        await bot.say("确认", chat=GROUP, kind="group", mentions_bot=True)
        assert len(await bot.client.get(ListAsks(session))) == 1
    async with chat_house(tmp_path / "p2p", script(proposes(bash("rm x"), bash("rm y")))) as bot:
        await bot.say("go")
        await bot.card("请确认")
        await bot.say("yes")
        assert len(await bot.client.get(ListAsks((await bot.sessions())[0]))) == 2


@story
async def test_x16_an_exclamation_mark_is_text(tmp_path: Path) -> None:
    """Other slashes are text too; only the commands of the chat are commands."""
    async with chat_house(tmp_path, script(says("I will not"), says("nor that"))) as bot:
        await bot.say("!touch owned")
        await bot.card("任务完成")
        await bot.say("/undo")
        await bot.card("任务完成", nth=2)
        (bot.coder.session,) = await bot.sessions()
        assert await bot.coder.story() == [
            "user: !touch owned",
            "agent: I will not",
            "user: /undo",
            "agent: nor that",
        ]
        assert not (bot.coder.folder / "owned").exists()


@story
async def test_e09_e18_x31_each_person_and_chat_has_sessions_of_its_own(tmp_path: Path) -> None:
    """The key is bot, chat, topic and person; in a group that shares its sessions, the person is left out."""
    model = script(*(says(str(number)) for number in range(6)))
    async with chat_house(tmp_path, model) as bot:
        where = [
            (ANNE, "oc_1", ""),
            (BOB, "oc_1", ""),
            (ANNE, "oc_1", "topic"),
            (ANNE, "oc_2", ""),
            (ANNE, "oc_1", ""),
        ]
        for number, (who, chat, thread) in enumerate(where, 1):
            await bot.say("hi", sender=who, chat=chat, thread=thread, kind="group", mentions_bot=True)
            await bot.results(number)
        assert len(await bot.sessions()) == 4  # the last one went on with the first
    async with chat_house(tmp_path / "shared", script(says("1"), says("2")), shares_groups=True) as bot:
        await bot.say("hi", chat=GROUP, kind="group", mentions_bot=True)
        await bot.card("任务完成", chat=GROUP)
        await bot.say("hi", sender=BOB, chat=GROUP, kind="group", mentions_bot=True)
        await bot.card("任务完成", chat=GROUP, nth=2)
        assert len(await bot.sessions()) == 1


@story
async def test_x31_an_answer_goes_to_the_session_of_its_card_not_to_the_current_one(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x")), says("other"), says("done"))) as bot:
        await bot.say("one")
        confirm = await bot.shown("请确认")
        (first,) = await bot.sessions()
        await bot.say("/new")
        await bot.say("two")
        await bot.card("任务完成")
        await bot.click(confirm, "取消")
        await bot.card("任务完成", nth=2)
        assert (await bot.client.get(ShowSession(first))).phase == "done"


@story
async def test_a_turn_that_begins_elsewhere_is_shown_in_the_chat_of_its_session(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(says("one"), says("two"))) as bot:
        await bot.say("hi")
        await bot.card("任务完成")
        (session,) = await bot.sessions()
        web = By(who="anne", via="web")
        prompt = PromptId(new_id())
        await bot.coder.host.send(SendPrompt(session=session, prompt_id=prompt, text="from the web", by=web))
        card = await bot.card("正在执行任务...", text="from the web")
        assert "来自 anne (web)：from the web" in card.text
        await bot.card("任务完成", nth=2)


@story
async def test_a_message_that_is_handed_over_again_acts_once(tmp_path: Path) -> None:
    """After a crash, the platform side hands over what it had received. An answer must not become a prompt."""
    async with chat_house(tmp_path, script(ask("Name?"), says("done"), says("never"))) as bot:
        await bot.say("go", message_id="om_a")
        await bot.say("go", message_id="om_a")
        await bot.card("等待回复")
        await bot.say("Anne", message_id="om_b")
        await bot.card("任务完成")
        await bot.say("Anne", message_id="om_b")
        await bot.say("go", message_id="om_a")
        (bot.coder.session,) = await bot.sessions()
        assert await bot.coder.story() == ["user: go", "ask_user: ok", "agent: done"]
