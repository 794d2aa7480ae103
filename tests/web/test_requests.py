"""What web clients can ask for besides the seven events of the contract."""

import re
from pathlib import Path

from websockets.typing import Subprotocol

from tests.host.test_spending import costly
from tests.house import story
from tests.model_server import bash, call, hangs, proposes, says, script, write
from tests.web.browser import web


@story
async def test_x16_slash_commands_over_the_web_are_a_white_list(tmp_path: Path) -> None:
    """Any other text that begins with a slash or an exclamation mark is a prompt."""
    async with web(tmp_path, script(says("one"), says("two"), says("three"))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="!touch made")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        assert not (site.folder / "made").exists()
        await page.send("session.continue", sessionId=session, prompt="/status")
        told = await page.until("command.output")
        assert (told["sessionId"], told["command"]) == (session, "/status")
        assert str(site.folder) in told["text"]
        for text in ("/export out.md", "/yolo"):
            await page.send("session.continue", sessionId=session, prompt=text)
            await page.until("stream.user_prompt", prompt=text)
            await page.until("session.status", status="completed")
        assert sorted(each.name for each in site.folder.iterdir() if each.name != ".coder") == []
        listed = await page.ask("session.list", "session.list")
        assert listed["sessions"][0]["mode"] == "default"


@story
async def test_a_turn_is_undone_over_the_web(tmp_path: Path) -> None:
    async with web(tmp_path, script(proposes(write("a.txt", "new")), says("done"))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="make it", mode="yolo")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        assert (site.folder / "a.txt").read_text() == "new"
        await page.send("session.continue", sessionId=session, prompt="/undo")
        undone = await page.until("turn.undone")
        assert undone["removed"] == ["a.txt"]
        assert not (site.folder / "a.txt").exists()


@story
async def test_x20_settings_change_with_the_next_turn(tmp_path: Path) -> None:
    async with web(tmp_path, script(says("one"), says("two"))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="one")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        await page.send("session.configure", sessionId=session, title="Better", mode="auto-edit")
        changed = await page.until("session.settings")
        assert (changed["title"], changed["mode"]) == ("Better", "auto-edit")
        await page.send("session.continue", sessionId=session, prompt="two")
        running = await page.until("session.status", status="running")
        assert (running["title"], running["mode"]) == ("Better", "auto-edit")
        await page.until("session.status", status="completed")
        await page.send("session.clear", sessionId=session)
        cleared = await page.until("stream.message")
        assert cleared["message"]["subtype"] == "history_cleared"


@story
async def test_a61_agent_and_model_are_changed_together_and_what_cannot_run_is_refused(tmp_path: Path) -> None:
    """The guide has no model: it is chosen as an agent or as a model, and left with either."""
    async with web(tmp_path, script(says("one"))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="one")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        model = (await page.ask("session.list", "session.list"))["sessions"][0]["model"]
        for change, agent, named in (
            ({"agent": "guide"}, "guide", "guide"),
            ({"agent": "native"}, "native", model),
            ({"model": "guide"}, "guide", "guide"),
            ({"model": model}, "native", model),
        ):
            changed = await page.ask("session.configure", "session.settings", sessionId=session, **change)
            assert (changed["agent"], changed["model"]) == (agent, named)
        refused = await page.ask("session.configure", "runner.error", sessionId=session, agent="nobody")
        assert "'nobody'" in refused["message"]
        await page.send("session.start", title="t", prompt="hello", model="guide")
        running = await page.until("session.status", status="running")
        assert (running["agent"], running["model"]) == ("guide", "guide")


@story
async def test_queued_prompts_are_changed_and_taken_back(tmp_path: Path) -> None:
    async with web(tmp_path, script(hangs(says("one two three"), 2))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="one")
        session = (await page.until("session.status"))["sessionId"]
        await page.until("stream.message")
        await page.send("session.continue", sessionId=session, prompt="two")
        queued = await page.until("prompt.queued", prompt="two")
        await page.send("prompt.edit", sessionId=session, promptId=queued["promptId"], prompt="too")
        assert (await page.until("prompt.edited"))["prompt"] == "too"
        await page.send("prompt.recall", sessionId=session, promptId=queued["promptId"])
        await page.until("prompt.recalled", promptId=queued["promptId"])
        await page.send("prompt.recall", sessionId=session, promptId=queued["promptId"])
        assert "queue" in (await page.until("runner.error"))["message"]
        await page.send("session.stop", sessionId=session)
        await page.until("session.status", status="idle")


@story
async def test_files_of_a_session_are_listed_and_read(tmp_path: Path) -> None:
    """Only beneath its folders, and no secrets."""
    async with web(tmp_path, script(says("one"))) as site, site.client() as page:
        (site.folder / "a.txt").write_text("hello")
        (site.folder / ".env").write_text("KEY=secret")
        await page.send("session.start", title="t", prompt="one")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        listed = await page.ask("files.list", "files.list", sessionId=session)
        assert "a.txt" in listed["paths"]
        shown = await page.ask("files.read", "files.read", sessionId=session, path="a.txt")
        assert (shown["text"], shown["size"], shown["whole"]) == ("hello", 5, True)
        for path in (".env", "../home/sessions.db", "/etc/passwd", "nothing.txt"):
            await page.send("files.read", sessionId=session, path=path)
            assert (await page.until("runner.error"))["sessionId"] == session


@story
async def test_b35_statistics_come_while_somebody_wants_them(tmp_path: Path) -> None:
    async with web(tmp_path, script()) as site, site.client() as page, site.client() as other:
        await page.send("statistics.subscribe", on=True)
        for _ in range(2):
            told = await page.until("statistics")
            assert set(told) == {"cpu", "memory", "disk"}
        await page.send("statistics.subscribe", on=False)
        await other.ask("session.list", "session.list")
        assert other.kinds() == ["session.list"]


@story
async def test_agents_are_looked_for_again(tmp_path: Path) -> None:
    async with web(tmp_path, script()) as site, site.client() as page:
        found = await page.ask("agents.recheck", "agents")
        assert "native" in [each["name"] for each in found["agents"]]


@story
async def test_x03_deny_and_stop_ends_the_turn(tmp_path: Path) -> None:
    async with web(tmp_path, script(proposes(bash("touch a"), bash("touch b")))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="do it", mode="default")
        asked = await page.until("permission.request")
        where = {"sessionId": asked["sessionId"], "toolUseId": asked["toolUseId"]}
        await page.send("permission.response", **where, result={"behavior": "deny_and_stop"})
        await page.until("session.status", status="idle")
        story_of = page.story(asked["sessionId"])
        assert story_of.count("resolved deny_and_stop") == 1
        assert story_of.count("resolved deny") == 1
        assert [each.name for each in site.folder.iterdir() if each.name != ".coder"] == []


@story
async def test_x22_a_plan_is_approved_in_both_shapes(tmp_path: Path) -> None:
    for number, result in enumerate(
        ({"behavior": "plan", "option": "default"}, {"behavior": "plan", "approved": True})
    ):
        async with web(tmp_path / str(number), script(says("the plan"), says("done"))) as site, site.client() as page:
            await page.send("session.start", title="t", prompt="plan it", mode="plan")
            asked = await page.until("permission.request", toolName="ExitPlanMode")
            assert asked["input"] == {"plan": "the plan"}
            where = {"sessionId": asked["sessionId"], "toolUseId": asked["toolUseId"]}
            await page.send("permission.response", **where, result={"behavior": "plan"})
            assert "option" in (await page.until("runner.error"))["message"]
            await page.send("permission.response", **where, result=result)
            await page.until("stream.user_prompt", prompt="The plan is approved. Carry it out now.")
            await page.until("session.status", status="completed")
            assert (await page.ask("session.list", "session.list"))["sessions"][0]["mode"] == "default"


@story
async def test_b60_several_choices_are_joined_and_every_question_needs_an_answer(tmp_path: Path) -> None:
    colours = [{"label": "red"}, {"label": "blue"}]
    questions = [{"question": "Which?", "options": colours, "multiSelect": True}, {"question": "Why?"}]
    asked = proposes(call("ask_user", questions=questions))
    async with web(tmp_path, script(asked, says("painted"))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="paint")
        request = await page.until("permission.request")
        assert [each["multiSelect"] for each in request["input"]["questions"]] == [True, False]
        where = {"sessionId": request["sessionId"], "toolUseId": request["toolUseId"]}
        wrong: tuple[object, ...] = (
            None,
            {},
            {"answers": []},
            {"answers": {"Which?": "red"}},
            {"answers": {"Which?": ["red"], "Why?": "so"}},
            {"answers": {"Which?": "red", "Why?": "so", "Who?": "me"}},
        )
        for each in wrong:
            await page.send("permission.response", **where, result={"behavior": "allow", "updatedInput": each})
            assert (await page.until("runner.error"))["sessionId"] == request["sessionId"]
        chosen = {"answers": {"Which?": "red, blue", "Why?": "so"}}
        await page.send("permission.response", **where, result={"behavior": "allow", "updatedInput": chosen})
        assert (await page.until("permission.resolved"))["answers"] == chosen["answers"]
        await page.until("session.status", status="completed")


@story
async def test_a_budget_is_raised_or_ends_the_turn(tmp_path: Path) -> None:
    """The ask belongs to no tool use, so its own id stands for one."""
    for behavior, ending in (("allow", "completed"), ("deny", "idle")):
        root = tmp_path / behavior
        root.mkdir()
        costly(root, {"session": 0.01})
        answers = script(proposes(bash("echo one")), says("done"))
        async with web(root, answers) as site, site.client() as page:
            await page.send("session.start", title="t", prompt="go", mode="yolo")
            asked = await page.until("permission.request", toolName="Budget")
            assert asked["toolUseId"] == asked["askId"]
            assert (asked["input"]["span"], asked["input"]["limit"]) == ("session", 0.01)
            where = {"sessionId": asked["sessionId"], "toolUseId": asked["toolUseId"]}
            await page.send("permission.response", **where, result={"behavior": behavior})
            await page.until("permission.resolved", askId=asked["askId"], behavior=behavior)
            ended = await page.next()
            while ended["type"] != "session.status":
                ended = await page.next()
            assert ended["payload"]["status"] == ending


@story
async def test_reasons_and_refusals_are_english_and_come_in_chinese_too(tmp_path: Path) -> None:
    """The contract has one language; a page that has another shows what stands beside it."""
    async with web(tmp_path, script(proposes(bash("make deploy")))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="go")
        asked = await page.until("permission.request")
        assert asked["reason"] == "make may change things"
        assert asked["retold"] == {"zh": "不能确认 make 只读取"}
        refused = await page.ask("session.start", "runner.error", prompt="go", cwd="/no/such/folder", requestId="r7")
        assert refused["requestId"] == "r7"
        assert "no such folder" in refused["message"]
        assert refused["retold"]["zh"] != refused["message"]


@story
async def test_a_page_is_answered_in_the_language_that_its_browser_prefers(tmp_path: Path) -> None:
    """Other programs have none; they are answered in the language of the server."""
    async with web(tmp_path, script(says("one"))) as site:
        told: list[str] = []
        for preferred in ("", "zh-CN,zh;q=0.9", "fr", "lang.zh"):
            named = (Subprotocol(preferred),) if preferred.startswith("lang.") else ()
            headers = {"Accept-Language": preferred} if preferred and not named else {}
            async with site.client(also_offered=named, additional_headers=headers) as page:
                if not told:
                    await page.send("session.start", title="t", prompt="go")
                    await page.until("session.status", status="completed")
                session = (await page.ask("session.list", "session.list"))["sessions"][0]["id"]
                output = await page.ask("session.continue", "command.output", sessionId=session, prompt="/status")
                told.append(output["text"])
        english, chinese, french, named_chinese = told
        assert chinese == named_chinese
        assert english.splitlines()[0] == french.splitlines()[0] != chinese.splitlines()[0]
        assert (re.search("[一-龥]", chinese) is not None, re.search("[一-龥]", english)) == (True, None)


@story
async def test_a_history_says_what_was_decided_and_by_whom(tmp_path: Path) -> None:
    answers = script(proposes(bash("make one"), bash("make two")), says("done"))
    async with web(tmp_path, answers) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="go")
        first, second = await page.until("permission.request"), await page.until("permission.request")
        where = {"sessionId": first["sessionId"]}
        history = await page.ask("session.history", "session.history", **where)
        assert history["decisions"] == []
        await page.send(
            "permission.response", **where, askId=first["askId"], result={"behavior": "deny", "message": "x"}
        )
        await page.send("permission.response", **where, askId=second["askId"], result={"behavior": "allow"})
        await page.until("session.status", status="completed")

        history = await page.ask("session.history", "session.history", **where)

        resolved = [each["payload"] for each in page.seen if each["type"] == "permission.resolved"]
        placed = ("sessionId", "seq", "part", "parts")
        assert history["decisions"] == [
            {name: each[name] for name in each if name not in placed} for each in resolved
        ]


@story
async def test_the_commands_that_may_be_used_from_afar_are_listed_with_those_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "home" / "commands").mkdir(parents=True)
    (tmp_path / "home" / "commands" / "ship.md").write_text("---\ndescription: Ship it\n---\nship $ARGUMENTS\n")
    async with web(tmp_path, script(says("one"))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="go")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        listed = await page.ask("commands.list", "commands.list", sessionId=session)
        by_name = {each["name"]: each for each in listed["commands"]}
        assert by_name["ship"] == {"name": "ship", "hint": "", "text": "Ship it"}
        assert by_name["undo"]["retold"]["zh"].startswith("撤销")
        assert "trust" not in by_name  # that needs a person at the machine
