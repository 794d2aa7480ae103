"""The acceptance cases of the event contract (B-72), with a client on a real socket."""

import json
from pathlib import Path

import pytest

from coderelay.client.client import NO_CAPABILITIES, Capabilities
from coderelay.protocol.modes import MODE_NAMES
from tests.house import story
from tests.model_server import bash, call, hangs, proposes, says, script, write
from tests.web.browser import Event, Page, web

COWORK = Capabilities(profile="cowork")
"""What `web.profile = "cowork"` gives to the clients of the server."""
SETTINGS: dict[str, tuple[Capabilities, dict[str, str]]] = {
    "cowork, no mode": (COWORK, {}),
    **{f"mode {mode}": (NO_CAPABILITIES, {"mode": mode}) for mode in MODE_NAMES},
}
in_every_mode = pytest.mark.parametrize("setting", SETTINGS)
QUESTIONS = {"questions": [{"question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}]}]}


@in_every_mode
@story
async def test_b72_case_1_cold_start_lists_no_sessions(tmp_path: Path, setting: str) -> None:
    async with web(tmp_path, script(), SETTINGS[setting][0]) as site, site.client() as page:
        await page.send_text('{"type": "session.list"}')
        assert await page.next() == {"type": "session.list", "payload": {"sessions": []}}


@in_every_mode
@story
async def test_b72_case_2_start_shows_a_turn_in_order_and_stores_it(tmp_path: Path, setting: str) -> None:
    """B-41, B-53, B-20."""
    capabilities, more = SETTINGS[setting]
    async with web(tmp_path, script(says("hello")), capabilities) as site, site.client() as page:
        await page.send("session.start", title="Greeting", prompt="hi", cwd=str(site.folder), **more)
        started = await page.until("session.status")
        assert (started["status"], started["title"]) == ("running", "Greeting")
        assert started["cwd"] == str(site.folder)
        session = await _completed(page)
        assert page.story(session) == [
            "status running",
            "prompt hi",
            "message system init",
            "message assistant text",
            *(["request ExitPlanMode", "resolved plan"] if more.get("mode") == "plan" else []),
            "message result success",
            "status completed",
        ]
        listed = await page.ask("session.list", "session.list")
        (row,) = listed["sessions"]
        assert {name: row[name] for name in ("id", "title", "status", "cwd", "claudeSessionId")} == {
            "id": session,
            "title": "Greeting",
            "status": "completed",
            "cwd": str(site.folder),
            "claudeSessionId": session,
        }
        assert row["updatedAt"] >= row["createdAt"] > 1_600_000_000_000
        history = await page.ask("session.history", "session.history", sessionId=session)
        assert history["messages"][0] == {"type": "user_prompt", "prompt": "hi"}
        assert history["status"] == "completed"


@in_every_mode
@story
async def test_b72_case_3_continue_shows_the_same_order(tmp_path: Path, setting: str) -> None:
    capabilities, more = SETTINGS[setting]
    async with web(tmp_path, script(says("one"), says("two")), capabilities) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="hi", cwd=str(site.folder), **more)
        session = await _completed(page)
        before = len(page.story(session))
        await page.send("session.continue", sessionId=session, prompt="again")
        await _completed(page)
        assert page.story(session)[before:][:2] == ["status running", "prompt again"]
        assert page.story(session)[-2:] == ["message result success", "status completed"]


@in_every_mode
@story
async def test_b72_case_5_stop_ends_idle_and_never_as_an_error(tmp_path: Path, setting: str) -> None:
    """B-44, B-69: an abort is no error; X-12: nothing follows the status."""
    capabilities, more = SETTINGS[setting]
    answers = script(hangs(says("one two three four five"), after_pieces=3))
    async with web(tmp_path, answers, capabilities) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="wait", **more)
        session = (await page.until("session.status"))["sessionId"]
        while "stream_event" not in json.dumps(await page.next()):
            pass
        await page.send("session.stop", sessionId=session)
        await page.until("session.status", status="idle")
        listed = await page.ask("session.list", "session.list")
        assert listed["sessions"][0]["status"] == "idle"
        assert "status error" not in page.story(session)
        assert page.story(session)[-1] == "status idle"


@in_every_mode
@story
async def test_b72_case_6_delete_is_always_told(tmp_path: Path, setting: str) -> None:
    """B-45, B-67, B-25: also of a session that runs."""
    capabilities, more = SETTINGS[setting]
    answers = script(says("one"), hangs(says("one two three"), after_pieces=2))
    async with web(tmp_path, answers, capabilities) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="hi", **more)
        session = await _completed(page)
        await page.send("session.start", title="t", prompt="run", **more)
        running = (await page.until("session.status", status="running"))["sessionId"]
        for each in (session, session, running, "never"):
            assert (await page.ask("session.delete", "session.deleted", sessionId=each))["sessionId"] == each
        assert (await page.ask("session.list", "session.list"))["sessions"] == []
        await page.send("session.history", sessionId=session)
        await page.until("runner.error", message="Unknown session")


@in_every_mode
@story
async def test_b72_case_7_a_question_is_answered_and_the_turn_goes_on(tmp_path: Path, setting: str) -> None:
    """B-59, B-60: the answers go back under the text of their question."""
    capabilities, more = SETTINGS[setting]
    asked = proposes(call("ask_user", questions=QUESTIONS["questions"]))
    async with web(tmp_path, script(asked, says("red it is")), capabilities) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="paint", **more)
        request = await page.until("permission.request")
        assert request["toolName"] == "AskUserQuestion"
        assert request["input"]["questions"][0]["question"] == "Which colour?"
        answered = {"behavior": "allow", "updatedInput": QUESTIONS | {"answers": {"Which colour?": "red"}}}
        where = {"sessionId": request["sessionId"], "toolUseId": request["toolUseId"]}
        await page.send("permission.response", **where, result=answered)
        resolved = await page.until("permission.resolved")
        assert (resolved["behavior"], resolved["by"], resolved["via"]) == ("allow", "tester", "web")
        await _completed(page)
        results = [x["payload"]["message"] for x in page.seen if _is_result(x)]
        assert "red" in json.dumps(results[0])


@story
async def test_b38_b62_in_the_cowork_profile_only_questions_wait(tmp_path: Path) -> None:
    """The literal behaviour of the contract: every other tool runs, and allowedTools is only stored."""
    answers = script(proposes(bash("rm -rf a; touch made"), write("b.txt", "text")), says("done"))
    async with web(tmp_path, answers, COWORK) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="do it", allowedTools="Read")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        assert not any(line.startswith("request") for line in page.story(session))
        assert (site.folder / "made").exists()
        assert (site.folder / "b.txt").exists()
        assert (await page.ask("session.list", "session.list"))["sessions"][0]["allowedTools"] == "Read"


@story
async def test_x01_a_sensitive_tool_asks_and_its_answer_reaches_everybody(tmp_path: Path) -> None:
    """B-76, B-46: own acceptance of approvals."""
    answers = script(proposes(write("a.txt", "text"), bash("rm -rf b")), says("done"))
    async with web(tmp_path, answers) as site, site.client() as page, site.client() as other:
        await page.send("session.start", title="t", prompt="write it", mode="default")
        first = await page.until("permission.request")
        second = await page.until("permission.request")
        assert [first["toolName"], second["toolName"]] == ["Write", "Bash"]
        assert first["input"]["file_path"] == "a.txt"
        assert not (site.folder / "a.txt").exists()
        await other.until("permission.request", askId=second["askId"])
        session = first["sessionId"]
        allow = {"behavior": "allow", "updatedInput": first["input"]}
        await other.send("permission.response", sessionId=session, toolUseId=first["toolUseId"], result=allow)
        await page.until("permission.resolved", toolUseId=first["toolUseId"], behavior="allow")
        deny = {"behavior": "deny", "message": "not that"}
        await page.send("permission.response", sessionId=session, toolUseId=second["toolUseId"], result=deny)
        await page.until("session.status", status="completed")
        await other.until("session.status", status="completed")
        assert page.story(session) == other.story(session)
        assert (site.folder / "a.txt").read_text() == "text"
        assert any("not that" in json.dumps(each) for each in page.seen if _is_result(each))


@story
async def test_x37_a_permission_does_not_change_what_is_run(tmp_path: Path) -> None:
    async with web(tmp_path, script(proposes(bash("touch a")), says("done"))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="do it", mode="default")
        asked = await page.until("permission.request")
        where = {"sessionId": asked["sessionId"], "toolUseId": asked["toolUseId"]}
        other = {"behavior": "allow", "updatedInput": {"command": "touch b"}}
        await page.send("permission.response", **where, result=other)
        assert "cannot be changed" in (await page.until("runner.error"))["message"]
        await page.send("permission.response", **where, result={"behavior": "allow"})
        await page.until("session.status", status="completed")
        assert [each.name for each in site.folder.iterdir() if not each.name.startswith(".")] == ["a"]


@story
async def test_x01_b75_allowed_tools_are_enforced(tmp_path: Path) -> None:
    async with web(tmp_path, script(proposes(bash("touch a")), says("done"))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="do it", mode="yolo", allowedTools="Read, Edit")
        await page.until("session.status", status="completed")
        assert not (site.folder / "a").exists()
        result = next(each for each in page.seen if _is_result(each))
        assert result["payload"]["message"]["message"]["content"][0]["is_error"] is True


@pytest.mark.parametrize("kind", ["session.history", "session.continue", "session.follow"])
@story
async def test_b63_b64_an_unknown_session_has_its_exact_sentence(tmp_path: Path, kind: str) -> None:
    more = {"session.continue": {"prompt": "hi"}, "session.follow": {"afterSeq": 0}}.get(kind, {})
    async with web(tmp_path, script()) as site, site.client() as page:
        await page.send(kind, sessionId="nothing", **more)
        assert await page.next() == {"type": "runner.error", "payload": {"message": "Unknown session"}}


@story
async def test_b66_stop_of_an_unknown_session_is_silent(tmp_path: Path) -> None:
    async with web(tmp_path, script()) as site, site.client() as page:
        await page.send("session.stop", sessionId="nothing")
        await page.send("session.list")
        assert (await page.next())["type"] == "session.list"


@story
async def test_a_start_that_cannot_run_creates_nothing(tmp_path: Path) -> None:
    async with web(tmp_path, script()) as site, site.client() as page:
        for wrong in ({"model": "nobody:none"}, {"agent": "nobody"}, {"cwd": "/does/not/exist"}, {"prompt": " "}):
            await page.send("session.start", **({"title": "t", "prompt": "hi"} | wrong))
            assert (await page.next())["type"] == "runner.error"
        assert (await page.ask("session.list", "session.list"))["sessions"] == []


async def _completed(page: Page) -> str:
    """Wait for the end of the turn. In plan mode it ends when the person has decided about the plan."""
    while True:
        event = await page.next()
        payload = event["payload"]
        if event["type"] == "permission.request" and payload["toolName"] == "ExitPlanMode":
            where = {"sessionId": payload["sessionId"], "toolUseId": payload["toolUseId"]}
            await page.send("permission.response", **where, result={"behavior": "plan", "option": "keep"})
        if event["type"] == "session.status" and payload["status"] == "completed":
            return str(payload["sessionId"])


def _is_result(event: Event) -> bool:
    return event["type"] == "stream.message" and event["payload"]["message"]["type"] == "user"
