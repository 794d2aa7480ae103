"""Asks of sessions that began elsewhere, in the chat that their person has linked."""

import time
from pathlib import Path

from coderelay.protocol.asks import Deny
from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.queries import ListAsks, ListSessions
from coderelay.surfaces.feishu.account_links import CODE_SECONDS, Links
from coderelay.surfaces.feishu.chat_status import ChatStatus, current_state
from tests.feishu.chat_house import ANNE, BOB, CHAT, EVE, NOW, chat_house
from tests.feishu.test_message_routing import ask
from tests.house import ME, story
from tests.model_server import bash, call, proposes, says, script


@story
async def test_an_ask_of_a_terminal_session_arrives_in_the_linked_chat(tmp_path: Path) -> None:
    """X-44: it has no deadline."""
    model = script(proposes(bash("rm -f x")), ask("Name?"), says("done"))
    async with chat_house(tmp_path, model, input_timeout_s=1) as bot:
        await bot.link(ANNE, CHAT)
        await bot.coder.create(mode="default")
        await bot.coder.prompt("work in the terminal")
        confirm = await bot.shown("请确认")
        assert "会话：work in the terminal" in confirm.card.text
        assert (await bot.click(confirm, "确认", by=BOB)).toast_kind == "error"
        assert (await bot.click(confirm, "确认")).toast_kind == "success"
        asked = await bot.shown("等待回复")
        (row,) = await bot.client.get(ListAsks())
        assert row.ask.deadline is None
        answered = await bot.click(asked, "提交", form={"q0_other": "Anne"})
        assert answered.toast_kind == "success"
        await bot.coder.ended()
        assert await bot.coder.story() == [
            "user: work in the terminal",
            "bash: ok",
            "ask_user: ok",
            "agent: done",
        ]
        await bot.shown("已回复")
        assert bot.titles() == ["已确认", "已回复"]  # only the asks


@story
async def test_a_mirrored_ask_that_is_answered_in_the_terminal_is_closed_in_the_chat(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x")), says("done"))) as bot:
        await bot.link(ANNE, CHAT)
        await bot.coder.create(mode="default")
        await bot.coder.prompt("go")
        confirm = await bot.shown("请确认")
        value = confirm.card.button("确认").value
        (row,) = await bot.client.get(ListAsks())
        await bot.coder.answer(row.ask, Deny())
        await bot.card("已取消")
        assert (await bot.click_value(confirm, value)).toast == "已取消，tester"


@story
async def test_asks_that_were_open_before_the_bot_started_are_shown_once(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x"), bash("rm y")))) as bot:
        await bot.coder.create(mode="default")
        await bot.coder.prompt("go")
        await bot.coder.asks()
        assert bot.outbox.messages == {}
        await bot.link(ANNE, CHAT)
        await bot.card("请确认 (0/2)")
        shown = bot.outbox
    async with chat_house(tmp_path, script(says("done")), outbox=shown) as bot:
        batch = await bot.shown("请确认 (0/2)")
        await bot.click(batch, "全部取消")
        await bot.card("已回复")
        assert len(shown.messages) == 1


@story
async def test_an_ask_of_a_subagent_arrives_too(tmp_path: Path) -> None:
    task = proposes(call("task", description="look", prompt="remove x"))
    child = (proposes(bash("rm x")), says("child done"))
    async with chat_house(tmp_path, script(says("hi"), task, *child, says("done"))) as bot:
        await bot.say("hi")
        await bot.card("任务完成")
        (session,) = await bot.sessions()
        await bot.coder.host.send(ConfigureSession(session=session, by=ME, mode="auto-edit"))
        await bot.say("go")
        confirm = await bot.shown("请确认")
        assert await current_state(bot.client, session) is ChatStatus.WAITING_CONFIRM
        await bot.click(confirm, "取消")
        await bot.card("任务完成", nth=2)
        assert bot.titles()[2:] == ["正在执行任务...", "已取消", "继续执行...", "任务完成"]
    async with chat_house(tmp_path / "linked", script(task, *child, says("done"))) as bot:
        await bot.link(ANNE, CHAT)
        await bot.coder.create(mode="auto-edit")
        await bot.coder.prompt("go")
        confirm = await bot.shown("请确认")
        assert "会话：go" in confirm.card.text
        await bot.click(confirm, "取消")
        await bot.coder.ended()
        await bot.card("已取消")


@story
async def test_a_person_links_a_chat_with_a_code_that_works_once(tmp_path: Path) -> None:
    """`coder feishu link` prints the code."""
    async with chat_house(tmp_path, script()) as bot:
        links = Links(bot.client.key_value_store("feishu:test"))
        code = await links.offer("tester", time.time_ns() // 1_000_000)
        await bot.say(f"/link {code}", sender=BOB, chat="oc_group", kind="group", mentions_bot=True)
        await bot.say(f"/link {code}", sender=EVE, chat="oc_eve")
        assert await links.all() == [], "who has read it in the group cannot use it"
        code = await links.offer("tester", time.time_ns() // 1_000_000)
        await bot.say("/link WRONG", sender=BOB, chat="oc_bob")
        assert await links.all() == []
        await bot.say(f"/link {code.lower()}", sender=BOB, chat="oc_bob")
        await bot.card("已绑定", chat="oc_bob")
        (link,) = await links.all()
        assert (link.person, link.open_id, link.chat_id) == ("tester", BOB, "oc_bob")
        assert await links.redeem(code, ANNE, CHAT, NOW) is None
        late = await links.offer("tester", NOW)
        assert await links.redeem(late, ANNE, CHAT, NOW + CODE_SECONDS * 1000 + 1) is None
        await links.remove("tester")
        assert await links.all() == []


@story
async def test_a_session_of_a_chat_is_in_everybodys_list(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(says("done"))) as bot:
        await bot.say("fix the tests")
        await bot.card("任务完成")
        (listed,) = await bot.coder.host.get(ListSessions())
        assert (listed.title, listed.person, listed.cwd) == (
            "fix the tests",
            f"feishu:{ANNE}",
            str(bot.coder.folder),
        )


@story
async def test_a_mirrored_ask_is_closed_also_if_its_session_has_come_into_a_chat_meanwhile(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x")), says("done"))) as bot:
        await bot.link(ANNE, CHAT)
        await bot.coder.create(mode="default")
        await bot.coder.prompt("go")
        confirm = await bot.shown("请确认")
        await bot.say(f"/use {bot.coder.session}", chat="oc_other")
        both = await bot.shown("请确认", chat="oc_other")
        await bot.click(both, "取消")
        await bot.card("任务完成", chat="oc_other")
        await bot.outbox.until(lambda: confirm if confirm.card.title == "已取消" else None)
