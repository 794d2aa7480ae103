"""The deadline of a question in a chat: absolute, kept across restarts, and then the turn is stopped."""

from pathlib import Path

from coderelay.protocol.asks import By, DenyAndStop, QuestionAsk
from coderelay.protocol.commands import SendPrompt
from coderelay.protocol.events import AskAnswered, Recorded, TurnEnded, asks_in
from coderelay.protocol.ids import PromptId, new_id
from coderelay.protocol.queries import ListAsks, ShowSession
from coderelay.surfaces.feishu.chat_status import ChatStatus, current_state
from tests.feishu.chat_house import ChatHouse, chat_house
from tests.feishu.test_message_routing import ask
from tests.house import story
from tests.model_server import bash, proposes, says, script


def _question(events: list[Recorded]) -> tuple[Recorded, QuestionAsk]:
    return next((each, asked) for each in events for asked in asks_in(each.event) if isinstance(asked, QuestionAsk))


async def _log(bot: ChatHouse) -> list[Recorded]:
    (bot.coder.session,) = await bot.sessions()
    return await bot.coder.events()


@story
async def test_e13_x05_a_question_that_nobody_answers_stops_the_turn(tmp_path: Path) -> None:
    """E-13: finish, IDLE, and the card `操作超时，已取消`."""
    async with chat_house(tmp_path, script(ask("Name?"), says("next")), input_timeout_s=1) as bot:
        await bot.say("go")
        asked = await bot.shown("操作超时，已取消")
        result = await bot.shown("操作超时，已取消", nth=2)
        assert asked.key.startswith("ask/")
        assert result.key.startswith("result/")
        events = await _log(bot)
        opened, question = _question(events)
        assert question.unanswered == "stop"
        assert question.deadline is not None
        assert 900 <= question.deadline - opened.at <= 1100
        ended = [each.event for each in events if isinstance(each.event, TurnEnded)]
        assert [each.ending for each in ended] == ["stopped"]
        assert await current_state(bot.client, bot.coder.session) is ChatStatus.IDLE
        late = await bot.click_value(asked, {"action": "confirm"})
        assert late.toast.startswith("操作超时，已取消")
        await bot.say("again")
        await bot.card("任务完成")
        assert (await bot.coder.story())[-2:] == ["user: again", "agent: next"]


@story
async def test_e13_a_reply_in_time_clears_the_deadline(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(ask("Name?"), ask("Age?"), says("done"))) as bot:
        await bot.say("go")
        await bot.card("等待回复")
        await bot.say("Anne")
        await bot.shown("等待回复", text="Age?")
        await bot.say("42")
        await bot.card("任务完成")
        answers = [each.event for each in await _log(bot) if isinstance(each.event, AskAnswered)]
        assert all(each.by.via == "feishu" for each in answers)


@story
async def test_e13_five_minutes_is_the_default(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(ask("Name?"))) as bot:
        await bot.say("go")
        await bot.card("等待回复")
        opened, question = _question(await _log(bot))
        assert question.deadline is not None
        assert abs(question.deadline - opened.at - 300_000) < 1000


@story
async def test_x05_the_deadline_passes_while_no_bot_runs(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(ask("Name?")), input_timeout_s=1) as bot:
        await bot.say("go")
        shown = bot.outbox
        await bot.card("等待回复")
    async with chat_house(tmp_path, script(), outbox=shown) as bot:
        await bot.shown("操作超时，已取消", nth=2)
        answers = [each.event for each in await _log(bot) if isinstance(each.event, AskAnswered)]
        assert [each.decision for each in answers] == [DenyAndStop()]
        assert bot.titles() == ["正在执行任务...", "操作超时，已取消", "操作超时，已取消"]


@story
async def test_x44_only_questions_of_turns_from_the_chat_have_a_deadline(tmp_path: Path) -> None:
    """A permission waits without limit, and so does a question of a turn that began elsewhere."""
    model = script(proposes(bash("rm x")), says("one"), ask("Name?"))
    async with chat_house(tmp_path, model, input_timeout_s=1) as bot:
        await bot.say("go")
        confirm = await bot.shown("请确认")
        (row,) = await bot.client.get(ListAsks())
        assert row.ask.deadline is None
        await bot.click(confirm, "取消")
        await bot.card("任务完成")
        (session,) = await bot.sessions()
        web = By(who="anne", via="web")
        await bot.coder.host.send(SendPrompt(session=session, prompt_id=PromptId(new_id()), text="ask", by=web))
        await bot.card("等待回复")
        (row,) = await bot.client.get(ListAsks())
        assert row.ask.deadline is None
        assert (await bot.client.get(ShowSession(session))).sender == "anne"
