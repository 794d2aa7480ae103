"""A bot that ends and starts again, or is one of two, shows each thing once and forgets nothing."""

import asyncio
import time
from pathlib import Path

from coderelay.protocol.asks import Allow, By, Deny
from coderelay.protocol.commands import AnswerAsk, SendPrompt
from coderelay.protocol.ids import PromptId, SessionId, new_id
from coderelay.protocol.queries import ListAsks
from coderelay.surfaces.feishu.account_links import Links
from tests.feishu.chat_house import CHAT, HOST_PERSON, ChatHouse, chat_house
from tests.feishu.recording_outbox import RecordingOutbox
from tests.feishu.test_message_routing import ask
from tests.house import house, story
from tests.model_server import Answer, History, bash, by_history, proposes, says, script

WEB = By(who="anne", via="web")


@story
async def test_e02_e19_a_card_is_clicked_after_a_restart(tmp_path: Path) -> None:
    """E-02: nothing has to run while a person thinks."""
    async with chat_house(tmp_path, script(proposes(bash("rm -f x"))), outbox=RecordingOutbox()) as bot:
        await bot.say("go")
        confirm = await bot.shown("请确认")
        shown = bot.outbox
    versions = {key: list(each.versions) for key, each in shown.messages.items()}
    async with chat_house(tmp_path, script(says("done"), says("and on")), outbox=shown) as bot:
        assert {key: each.versions for key, each in shown.messages.items()} == versions
        assert (await bot.click(confirm, "确认")).toast_kind == "success"
        await bot.card("任务完成")
        assert bot.titles() == ["正在执行任务...", "已确认", "继续执行...", "任务完成"]
        await bot.say("more")  # the pointer of the chat is kept too
        await bot.card("任务完成", nth=2)
        assert len(await bot.sessions()) == 1


@story
async def test_e19_what_happened_while_no_bot_ran_is_shown_by_the_next(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x")))) as bot:
        await bot.say("go")
        confirm = await bot.shown("请确认")
        value = confirm.card.button("确认").value
        shown = bot.outbox
        (row,) = await bot.client.get(ListAsks())
    async with house(tmp_path, script(says("done elsewhere"), says("and another"))) as coder:
        coder.session = row.session
        await coder.host.send(AnswerAsk(session=row.session, ask=row.ask.id, decision=Deny(), by=WEB))
        await coder.ended()
        await coder.host.send(SendPrompt(session=row.session, prompt_id=PromptId(new_id()), text="web", by=WEB))
        await coder.ended(2)
    async with chat_house(tmp_path, script(), outbox=shown) as bot:
        told = await bot.click_value(confirm, value)
        assert told.toast == "已取消，anne"
        await bot.card("任务完成", nth=2)
        assert bot.titles() == [
            "正在执行任务...",
            "已取消",
            "继续执行...",
            "任务完成",
            "正在执行任务...",
            "任务完成",
        ]
        assert len(confirm.versions) == 2  # it never looked open again


@story
async def test_e19_an_input_is_answered_after_a_restart(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(ask("Name?"))) as bot:
        await bot.say("go")
        await bot.card("等待回复")
        shown = bot.outbox
    async with chat_house(tmp_path, script(says("done")), outbox=shown) as bot:
        await bot.say("Anne")
        await bot.card("任务完成")
        assert bot.coder.server.requests[-1]["messages"][-1]["content"] == "Name?\n→ Anne"


def _next(history: History) -> Answer:
    asked = [said.role for said in history].count("user")
    if asked == 1 and not any(said.role == "assistant" for said in history):
        return proposes(bash("rm -f x"))
    return says("done" if asked == 1 else "two")


async def _done(bot: ChatHouse, count: int) -> None:
    await bot.card("任务完成", nth=count)


@story
async def test_two_bots_on_one_log_act_once_and_draw_once(tmp_path: Path) -> None:
    """The platform gives each event to one of them, at random."""
    shown = RecordingOutbox()
    model = by_history(_next)
    async with (
        chat_house(tmp_path, model, outbox=shown) as one,
        chat_house(tmp_path, model, outbox=shown) as two,
    ):
        await one.say("go")
        confirm = await two.shown("请确认")
        value = confirm.card.button("确认").value
        first = await two.click_value(confirm, value)
        second = await one.click_value(confirm, value)
        assert (first.toast_kind, second.toast_kind) == ("success", "info")
        await _done(one, 1)
        await two.say("more")
        await _done(one, 2)
        assert one.titles() == [
            "正在执行任务...",
            "已确认",
            "继续执行...",
            "任务完成",
            "正在执行任务...",
            "任务完成",
        ]
        assert [len(each.versions) for each in shown.in_chat(CHAT) if each.key.startswith("result/")] == [1, 1]
        (one.coder.session,) = await one.sessions()
        assert await one.coder.story() == ["user: go", "bash: ok", "agent: done", "user: more", "agent: two"]


@story
async def test_the_first_messages_of_a_chat_begin_one_session_whichever_bots_they_reach(tmp_path: Path) -> None:
    shown = RecordingOutbox()
    model = by_history(lambda _: says("done"))
    async with (
        chat_house(tmp_path, model, outbox=shown) as one,
        chat_house(tmp_path, model, outbox=shown) as two,
    ):
        for chat in ("oc_1", "oc_2", "oc_3"):
            await asyncio.gather(one.say("first", chat=chat), two.say("second", chat=chat))
        await one.results(6)
        sessions = await one.sessions()
        assert len(sessions) == 3
        for one.coder.session in sessions:
            told = await one.coder.story()
            assert sorted(told) == ["agent: done", "agent: done", "user: first", "user: second"]


@story
async def test_a_bot_that_does_not_draw_lets_the_other_know(tmp_path: Path) -> None:
    """Neither `/link` nor `/use` is an event of a session."""
    shown = RecordingOutbox()
    async with (
        chat_house(tmp_path, script(), outbox=shown),
        chat_house(tmp_path, script(proposes(bash("rm x"))), outbox=shown) as two,
    ):
        await two.coder.create(mode="default")
        await two.coder.prompt("in the terminal")
        await two.coder.asks()
        links = Links(two.client.key_value_store("feishu:test"))
        code = await links.offer(HOST_PERSON, time.time_ns() // 1_000_000)
        await two.say(f"/link {code}")
        await two.card("请确认")
        await two.say(f"/use {two.coder.session}", chat="oc_other")
        await two.card("请确认", chat="oc_other")


@story
async def test_the_other_bot_takes_over_when_one_ends(tmp_path: Path) -> None:
    shown = RecordingOutbox()
    async with chat_house(tmp_path, by_history(_next), outbox=shown) as two:
        async with chat_house(tmp_path, by_history(_next), outbox=shown) as one:
            await one.say("go")
            confirm = await one.shown("请确认")
        (row,) = await two.client.get(ListAsks())
        await two.coder.host.send(AnswerAsk(session=row.session, ask=row.ask.id, decision=Allow(), by=WEB))
        await _done(two, 1)
        assert confirm.card.title == "已确认"


@story
async def test_a_message_can_come_while_a_bot_ceases_to_draw(tmp_path: Path) -> None:
    async with chat_house(tmp_path, by_history(_next)) as bot:
        await bot.say("go")
        await bot.card("请确认")
        presenting = bot.chat_side._presenting  # pyright: ignore[reportPrivateUsage]  # it has lost the lease
        assert presenting is not None
        presenting.cancel()
        for number in range(50):
            bot.chat_side._presenter.wake(SessionId(f"s{number}"))  # pyright: ignore[reportPrivateUsage]
            await asyncio.sleep(0)


@story
async def test_a_queued_message_is_acknowledged_across_a_restart(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x")))) as bot:
        await bot.say("one")
        await bot.card("请确认")
        said = await bot.say("two")
        queued = await bot.shown("已加入队列")
        assert queued.place.reply_to == said
        shown = bot.outbox
    async with chat_house(tmp_path, script(says("first"), says("second")), outbox=shown) as bot:
        await bot.click(await bot.shown("请确认"), "取消")
        await bot.results(2)
        assert queued.card.title == "已开始执行"
