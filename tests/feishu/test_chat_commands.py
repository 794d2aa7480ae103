"""The commands of a chat, each through a message."""

from pathlib import Path

from coderelay.protocol.queries import ShowSession
from coderelay.surfaces.feishu.access_rules import AccessRules
from coderelay.surfaces.feishu.account_links import Links
from tests.feishu.chat_house import ANNE, BOB, CHAT, HOST_PERSON, ChatHouse, chat_house
from tests.feishu.test_message_routing import Gate
from tests.house import story
from tests.model_server import bash, proposes, says, script


async def _reply(bot: ChatHouse, text: str, *, sender: str = ANNE, chat: str = CHAT) -> tuple[str, str]:
    """What a command answers, to the message itself."""
    said = await bot.say(text, sender=sender, chat=chat)
    shown = bot.outbox.messages[f"notice/{said}"]
    assert shown.place.reply_to == said
    return shown.card.title, shown.card.text


@story
async def test_e18_one_person_has_several_sessions(tmp_path: Path) -> None:
    """`/new`, `/sessions`, `/use` by number and by id."""
    async with chat_house(tmp_path, script(says("a1"), says("b1"), says("a2"), says("b2"))) as bot:
        assert (await _reply(bot, "/sessions"))[1] == "还没有会话；直接发送消息即可开始。"
        await bot.say("first")
        await bot.results(1)
        title, text = await _reply(bot, "/new the second")
        assert (title, text) == ("已新建会话", f"工作目录：{bot.coder.folder}")
        await bot.say("go on")
        await bot.results(2)
        title, text = await _reply(bot, "/sessions")
        lines = text.splitlines()
        assert title == "会话列表"
        assert lines[0].startswith("1. the second · ")
        assert lines[0].endswith(" · 当前")
        assert lines[1].startswith("2. first · ")
        assert await _reply(bot, "/use 2") == ("已切换会话", "first")
        await bot.say("more of the first")
        await bot.results(3)
        second = lines[0].split(" · ")[1]
        assert await _reply(bot, f"/use {second}") == ("已切换会话", "the second")
        await bot.say("more of the second")
        await bot.results(4)
        stories: set[tuple[str, ...]] = set()
        for each in await bot.sessions():
            bot.coder.session = each
            stories.add(tuple(await bot.coder.story()))
        assert stories == {
            ("user: first", "agent: a1", "user: more of the first", "agent: a2"),
            ("user: go on", "agent: b1", "user: more of the second", "agent: b2"),
        }


@story
async def test_nobody_uses_another_persons_session(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(says("secret"), says("of the terminal"), says("bob's own"))) as bot:
        await bot.say("mine")
        await bot.results(1)
        (session,) = await bot.sessions()
        await bot.coder.create()
        await bot.coder.prompt("terminal")
        await bot.coder.ended()
        for name in ("1", session, session[:8], bot.coder.session, "", "x"):
            title, _ = await _reply(bot, f"/use {name}", sender=BOB, chat="oc_bob")
            assert title == "操作未成功", name
        assert "mine" not in (await _reply(bot, "/sessions", sender=BOB, chat="oc_bob"))[1]
        await bot.link(BOB, "oc_bob")  # the person who runs the bot has those of the terminal
        assert "terminal" in (await _reply(bot, "/sessions", sender=BOB, chat="oc_bob"))[1]
        assert (await _reply(bot, "/use 1", sender=BOB, chat="oc_bob"))[0] == "已切换会话"
        await Links(bot.client.key_value_store("feishu:test")).remove(HOST_PERSON)  # `coder feishu unlink`
        assert (await _reply(bot, "/status", sender=BOB, chat="oc_bob"))[0] == "操作未成功"
        await bot.say("whose session is it?", sender=BOB, chat="oc_bob")
        await bot.card("任务完成", chat="oc_bob")
        assert "whose session is it?" in (await _reply(bot, "/status", sender=BOB, chat="oc_bob"))[1]
        assert await bot.coder.story() == ["user: terminal", "agent: of the terminal"]


@story
async def test_stop_ends_what_runs(tmp_path: Path) -> None:
    gate = Gate(says("late"))
    async with chat_house(tmp_path, script(gate.answer)) as bot:
        assert (await _reply(bot, "/stop"))[0] == "操作未成功"
        await bot.say("go")
        await gate.asked.wait()
        assert await _reply(bot, "/stop") == ("已停止", "")
        await bot.results(1)
        assert (await _reply(bot, "/stop"))[1] == "当前没有正在执行的任务。"
        gate.opened.set()


@story
async def test_the_folder_is_chosen_among_the_roots(tmp_path: Path) -> None:
    roots = tmp_path / "roots"
    (roots / "one").mkdir(parents=True)
    (roots / "two").mkdir()
    (roots / "out").symlink_to(tmp_path)
    model = script(says("here"), says("there"))
    async with chat_house(tmp_path, model, roots=(str(roots),)) as bot:
        await bot.say("hi")
        await bot.results(1)
        title, text = await _reply(bot, "/cd")
        assert title == "工作目录"
        assert {"one", "two"} <= set(text.splitlines())
        for outside in ("/etc", "..", str(tmp_path), "one/../../home", "out", "nowhere"):
            title, _ = await _reply(bot, f"/cd {outside}")
            assert title == "操作未成功", outside
        assert str(roots / "two") in (await _reply(bot, "/cd two"))[1]
        await bot.say("in the other folder")
        await bot.results(2)
        folders = {(await bot.client.get(ShowSession(each))).cwd for each in await bot.sessions()}
        assert folders == {str(bot.coder.folder), str(roots / "two")}
        await bot.say("/cd two")
    async with chat_house(tmp_path, model, roots=(str(roots / "one"),)) as bot:
        title, text = await _reply(bot, "still in that folder")
        assert (title, str(roots / "two") in text) == ("操作未成功", True), "it is not among the roots any more"
        assert len(await bot.sessions()) == 2


@story
async def test_status_mode_and_help(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(says("hi"))) as bot:
        await bot.say("hello")
        await bot.results(1)
        title, text = await _reply(bot, "/status")
        assert title == "状态"
        assert text.splitlines()[:2] == ["空闲", "会话：hello"]
        assert await _reply(bot, "/mode") == ("模式：default", "")
        assert (await _reply(bot, "/mode nonsense"))[0] == "操作未成功"
        title, text = await _reply(bot, "/help")
        assert title == "可用命令"
        names = [line.split()[0] for line in text.splitlines()]
        assert names == ["/new", "/sessions", "/use", "/stop", "/mode", "/cd", "/status", "/help"]


@story
async def test_a_picture_is_not_a_prompt(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script()) as bot:
        assert (await _reply(bot, ""))[0] == "仅支持文字消息"
        assert await bot.sessions() == []


@story
async def test_a_person_who_was_removed_decides_nothing(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(proposes(bash("rm x")))) as bot:
        await bot.say("go")
        confirm = await bot.shown("请确认")
        shown = bot.outbox
    async with chat_house(tmp_path, script(), outbox=shown, access=AccessRules(users=(BOB,))) as bot:
        assert (await bot.click(confirm, "确认", by=ANNE)).toast_kind == "error"
        assert confirm.place.chat_id == CHAT


@story
async def test_a_session_is_shown_in_the_chat_where_it_is_used_last(tmp_path: Path) -> None:
    async with chat_house(tmp_path, script(says("one"), says("two"), says("three"))) as bot:
        await bot.say("begin")
        await bot.card("任务完成")
        (session,) = await bot.sessions()
        assert (await _reply(bot, f"/use {session}", chat="oc_other"))[0] == "已切换会话"
        await bot.say("go on", chat="oc_other")
        await bot.card("任务完成", chat="oc_other")
        await bot.say("back again")
        await bot.card("任务完成", nth=2)
        assert len(await bot.sessions()) == 1
        turns = [each.place.chat_id for each in bot.outbox.messages.values() if each.key.startswith("turn/")]
        assert turns == [CHAT, "oc_other", CHAT]


@story
async def test_a_session_that_cannot_run_says_why(tmp_path: Path) -> None:
    roots = tmp_path / "roots"
    (roots / "one").mkdir(parents=True)
    async with chat_house(tmp_path, script(says("one")), roots=(str(roots),)) as bot:
        await bot.say("/cd one")
        await bot.say("begin")
        await bot.card("任务完成")
    (roots / "one").rename(roots / "moved")
    async with chat_house(tmp_path, script(), roots=(str(roots),)) as bot:
        title, text = await _reply(bot, "go on")
        assert title == "会话暂时无法在此执行"
        assert str(roots / "one") in text
        assert (await _reply(bot, "/new"))[0] == "操作未成功"
