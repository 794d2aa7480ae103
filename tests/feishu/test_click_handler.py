"""Clicks: what they decide, and what is told to those that come too late or from elsewhere."""

from pathlib import Path

from msgspec.structs import replace

from coderelay.protocol.asks import Allow, By, Deny
from coderelay.protocol.commands import AnswerAsk, StopTurn
from coderelay.protocol.queries import ListAsks
from tests.feishu.chat_house import ANNE, CHAT, chat_house
from tests.feishu.test_message_routing import Gate, ask
from tests.house import story
from tests.model_server import bash, call, proposes, says, script

WEB = By(who="anne", via="web")


@story
async def test_e14_a_click_decides_and_the_card_shows_who_and_what(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm -f x")), says("done"))) as bot:
        await bot.say("go")
        confirm = await bot.shown("请确认")
        answer = await bot.click(confirm, "确认")
        assert answer.toast_kind == "success"
        assert answer.toast.startswith(f"已确认，feishu:{ANNE}，")
        assert answer.card is not None
        await bot.card("任务完成")
        assert confirm.card.title == "已确认"
        assert confirm.card.buttons == ()
        assert confirm.card.texts[-1].startswith(f"已确认，feishu:{ANNE}，20")


@story
async def test_a_click_after_an_answer_elsewhere_gets_the_recorded_outcome(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x")), says("done"))) as bot:
        await bot.say("go")
        confirm = await bot.shown("请确认")
        value = confirm.card.button("确认").value
        (row,) = await bot.client.get(ListAsks())
        answer = AnswerAsk(session=row.session, ask=row.ask.id, decision=Deny("not now"), by=WEB)
        await bot.coder.host.send(answer)
        told = await bot.click_value(confirm, value)
        assert (told.toast_kind, told.toast) == ("info", "已取消，not now，anne")
        await bot.card("任务完成")
        assert confirm.card.title == "已取消"
        assert confirm.card.texts[-1].startswith("已取消，not now，anne，20")
        again = await bot.click_value(confirm, value)
        assert again.toast == "已取消，not now，anne"
        assert again.card == confirm.versions[-1], "with the time"


@story
async def test_a_click_after_the_turn_was_stopped_is_told_so(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x")))) as bot:
        await bot.say("go")
        confirm = await bot.shown("请确认")
        value = confirm.card.button("确认").value
        (session,) = await bot.sessions()
        await bot.coder.host.send(StopTurn(session=session, by=WEB))
        told = await bot.click_value(confirm, value)
        assert (told.toast_kind, told.toast) == ("info", "已失效")
        await bot.card("已停止")
        assert confirm.card.title == "已失效"


@story
async def test_a_click_is_answered_while_a_turn_runs(tmp_path: Path) -> None:
    """The order shows it: the click is answered before the model of another turn has said anything."""
    gate = Gate(says("late"))
    model = script(proposes(bash("rm -f x")), gate.answer, says("done"))
    async with chat_house(tmp_path, model) as bot:
        await bot.say("go")
        confirm = await bot.shown("请确认")
        await bot.say("/new")
        await bot.say("something long")
        await gate.asked.wait()
        assert (await bot.click(confirm, "确认")).toast_kind == "success"
        assert not gate.opened.is_set()
        await bot.card("任务完成")
        gate.opened.set()
        await bot.card("任务完成", nth=2)


@story
async def test_x07_a_bare_text_decides_the_card_of_its_message(tmp_path: Path) -> None:
    """The seed's buttons carry `confirm` and `cancel` and nothing else."""
    async with chat_house(tmp_path, script(proposes(bash("rm -f x")), proposes(bash("rm y")), says("done"))) as bot:
        await bot.say("go")
        confirm = await bot.shown("请确认")
        await bot.click_value(confirm, {"action": "confirm"})
        again = await bot.shown("请确认", text="文件 y")
        await bot.click_value(again, {"action": "cancel"})
        await bot.card("任务完成")
        (bot.coder.session,) = await bot.sessions()
        assert (await bot.coder.story())[1:3] == ["bash: ok", "bash: denied"]


@story
async def test_x07_a_bare_text_never_decides_a_batch(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x"), bash("rm y")))) as bot:
        await bot.say("go")
        batch = await bot.shown("请确认")
        assert (await bot.click_value(batch, {"action": "confirm_all"})).toast_kind == "error"
        assert len(await bot.client.get(ListAsks())) == 2


@story
async def test_a_click_counts_only_with_its_nonce_chat_message_and_request(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x")), proposes(bash("rm y")))) as bot:
        await bot.say("go")
        first = await bot.shown("请确认")
        value = first.card.button("确认").value
        await bot.say("/new")
        await bot.say("go")
        second = await bot.shown("请确认", text="文件 y")
        other = second.card.button("确认").value
        assert set(value) == {"action", "rid", "sid", "card", "nonce"}
        forged = [
            {**value, "nonce": "guess"},
            {**value, "nonce": other["nonce"]},
            {**value, "nonce": None},
            {**value, "rid": other["rid"]},
            {**value, "sid": other["sid"]},
            {**value, "card": "ask/unknown"},
            {"action": "confirm", "rid": value["rid"]},
            {},
        ]
        for each in forged:
            assert (await bot.click_value(first, each)).toast_kind in ("error", "warning"), each
        elsewhere = await bot.click_value(first, value, change=lambda click: replace(click, chat_id="oc_other"))
        moved = await bot.click_value(first, value, change=lambda click: replace(click, message_id="om_other"))
        assert (elsewhere.toast_kind, moved.toast_kind) == ("error", "error")
        assert len(await bot.client.get(ListAsks())) == 2


@story
async def test_a_batch_is_decided_one_by_one_or_as_a_whole(tmp_path: Path) -> None:
    model = script(proposes(bash("rm -f x"), bash("rm y"), bash("rm -f z")), says("done"))
    async with chat_house(tmp_path, model) as bot:
        await bot.say("go")
        batch = await bot.shown("请确认")
        assert batch.card.title == "请确认 (0/3)"
        second = [each for each in batch.card.buttons if each.label == "取消"][1]
        assert (await bot.click_value(batch, second.value)).toast_kind == "success"
        await bot.card("请确认 (1/3)")
        assert (await bot.click(batch, "全部确认")).toast_kind == "success"
        await bot.card("任务完成")
        (bot.coder.session,) = await bot.sessions()
        assert (await bot.coder.story())[1:4] == ["bash: ok", "bash: denied", "bash: ok"]
        assert batch.card.title == "已回复"
        assert batch.card.text.count(f"feishu:{ANNE}") == 3


@story
async def test_stop_on_a_card_stops_the_turn(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x")))) as bot:
        await bot.say("go")
        await bot.click(await bot.shown("请确认"), "停止")
        await bot.shown("已停止", nth=2)
        assert bot.titles() == ["正在执行任务...", "已停止", "已停止"]


@story
async def test_a_question_is_answered_with_a_button_or_the_form(tmp_path: Path) -> None:
    two = [{"question": "Name?"}, {"question": "Which?", "options": [{"label": "a"}, {"label": "b"}]}]
    model = script(ask("哪一个?", "red", "blue"), proposes(call("ask_user", questions=two)), says("done"))
    async with chat_house(tmp_path, model) as bot:
        await bot.say("go")
        choice = await bot.shown("请选择")
        await bot.click(choice, "2. blue")
        form = await bot.shown("请选择", text="Name?")
        missing = await bot.click(form, "提交", form={"q0_other": "Anne"})
        assert missing.toast_kind == "error"
        await bot.click(form, "提交", form={"q0_other": "Anne", "q1": "2"})
        await bot.card("任务完成")
        contents = [each["content"] for each in bot.coder.server.requests[-1]["messages"] if each["role"] == "tool"]
        assert contents == ["哪一个?\n→ blue", "Name?\n→ Anne\nWhich?\n→ b"]


@story
async def test_a_plan_is_approved_from_its_card(tmp_path: Path) -> None:
    plan = proposes(call("plan_exit", plan="# Plan\n1. look\n2. leap"))
    model = script(says("hi"), plan, plan, says("done"))
    async with chat_house(tmp_path, model) as bot:
        await bot.say("hi")
        await bot.card("任务完成")
        await bot.say("/mode plan")
        await bot.say("think")
        shown = await bot.shown("请审阅方案")
        assert "2. leap" in shown.card.text
        assert shown.card.labels == ["批准，编辑前询问", "继续规划", "停止", "提交"]
        await bot.click(shown, "提交", form={"feedback": "smaller"})
        again = await bot.shown("请审阅方案")
        assert "smaller" in shown.card.text
        await bot.click(again, "批准，编辑前询问")
        await bot.card("任务完成", nth=2)
        assert again.card.title == "方案已批准"


@story
async def test_an_answer_in_the_chat_is_an_answer_everywhere(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x")), says("done"))) as bot:
        await bot.say("go")
        confirm = await bot.shown("请确认")
        (row,) = await bot.client.get(ListAsks())
        await bot.click(confirm, "取消")
        late = await bot.coder.host.send(AnswerAsk(session=row.session, ask=row.ask.id, decision=Allow(), by=WEB))
        assert str(getattr(late, "by", None)) == f"feishu:{ANNE} (feishu)"
        await bot.card("任务完成")
        assert confirm.place.chat_id == CHAT
