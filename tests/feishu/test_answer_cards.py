"""How an answer is shown: streamed in one card, on several if it is long, with what tools did."""

from pathlib import Path

from coderelay.surfaces.feishu.card_layout import size_of
from coderelay.surfaces.feishu.session_cards import MOST_PAGES, PAGE_BYTES
from tests.feishu.chat_house import CHAT, chat_house
from tests.feishu.test_message_routing import Gate
from tests.house import story
from tests.model_server import bash, http_error, proposes, read, says, script, tokens


@story
async def test_e05_an_answer_is_streamed_into_one_card(tmp_path: Path) -> None:
    words = " ".join(f"word{number}" for number in range(300))
    async with chat_house(tmp_path, script(says(words, token_delay=0.0005))) as bot:
        await bot.say("talk")
        await bot.results(1)
        card, result = bot.outbox.in_chat(CHAT)
        assert card.versions[0]["config"]["streaming_mode"] is True
        assert card.streamed
        assert all(words.startswith(each) for each in card.streamed)
        assert card.card.text == words
        assert "streaming_mode" not in card.versions[-1]["config"]
        assert result.card.title == "任务完成"


@story
async def test_a_long_answer_goes_on_in_further_cards(tmp_path: Path) -> None:
    lines = "\n".join(f"line {number} 中文" for number in range(1200))
    async with chat_house(tmp_path, script(says(lines))) as bot:
        await bot.say("talk")
        await bot.results(1)
        *pages, result = bot.outbox.in_chat(CHAT)
        assert len(pages) == len(lines.encode()) // PAGE_BYTES + 1 > 1
        assert "".join(each.card.text for each in pages) == lines
        assert [each.card.title for each in pages][1:] == ["正在执行任务...（续）"] * (len(pages) - 1)
        assert all(size_of(version) < 30_000 for each in pages for version in each.versions)
        assert result.card.title == "任务完成"


@story
async def test_x19_an_endless_answer_is_cut_and_linked(tmp_path: Path) -> None:
    url = "https://coder.example"
    async with chat_house(tmp_path, script(tokens(30_000, "word ")), web_url=url) as bot:
        await bot.say("talk")
        await bot.results(1)
        *pages, result = bot.outbox.in_chat(CHAT)
        assert len(pages) == MOST_PAGES
        assert "其余部分请在网页中查看" in result.card.text
        (session,) = await bot.sessions()
        assert result.card.links == (f"{url}/#session={session}",)


@story
async def test_what_tools_did_is_summarised(tmp_path: Path) -> None:
    gate = Gate(says("done"))
    model = script(proposes(read("there"), read("missing")), proposes(bash("rm -f x")), gate.answer)
    async with chat_house(tmp_path, model) as bot:
        (bot.coder.folder / "there").write_text("text\n" * 1000)
        await bot.say("look")
        confirm = await bot.shown("请确认")
        first = bot.outbox.in_chat(CHAT)[0].card
        assert first.texts[0].splitlines()[0].startswith("✅ read: there · ")
        assert first.texts[0].splitlines()[1].startswith("❌ read: missing · ")
        assert "text" not in first.text.replace("there", "")
        await bot.click(confirm, "取消")
        await gate.asked.wait()
        await bot.card("继续执行...", text="⛔ bash: rm -f x")
        gate.opened.set()
        await bot.card("任务完成")


@story
async def test_a_failed_turn_says_why(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(http_error(401, "no such key"), says("better"))) as bot:
        await bot.say("go")
        failed = await bot.card("任务失败")
        assert "no such key" in failed.text
        await bot.say("again")
        await bot.card("任务完成")


@story
async def test_x44_the_cards_of_a_turn_are_english_if_configured(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x")), says("done")), language="en") as bot:
        await bot.say("go")
        await bot.click(await bot.shown("Please confirm"), "Cancel")
        await bot.card("Task done")
        assert bot.titles() == ["Working on it...", "Cancelled", "Continuing...", "Task done"]


@story
async def test_x35_the_older_schema_can_be_chosen(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x")), says("done")), schema="1.0") as bot:
        await bot.say("go")
        confirm = await bot.shown("请确认")
        assert "schema" not in confirm.versions[0]
        await bot.click(confirm, "取消")
        await bot.card("任务完成")
        assert all("schema" not in version for each in bot.outbox.in_chat(CHAT) for version in each.versions)
