"""Sessions of other agents and of children, as web clients see them."""

import json
from pathlib import Path

from coderelay.surfaces.web.all_sessions_broadcast import BroadcastOptions
from coderelay.testing.scripted_external_agent import Attaches, Emits, Fails, Says, uses
from tests.blocking.scene import blocking_house, steps
from tests.children.conversations import conversations, task
from tests.house import story
from tests.model_server import Call, bash, by_history, proposes, says
from tests.web.browser import Site, message_name, serving, web


@story
async def test_b72_case_4_b65_an_agent_without_an_id_cannot_be_continued(tmp_path: Path) -> None:
    async with (
        blocking_house(tmp_path, steps(Fails("no network")), has_own_session_ids=True) as coder,
        serving(coder.host, BroadcastOptions(cwd=str(coder.folder))) as server,
        Site(coder, server).client() as page,
    ):
        await page.send("session.start", title="t", prompt="go", agent="blocking")
        failed = await page.until("session.status", status="error")
        assert "no network" in failed["error"]
        session = failed["sessionId"]
        await page.send("session.continue", sessionId=session, prompt="go on")
        refused = await page.next()
        assert refused["type"] == "runner.error"
        assert (
            refused["payload"].items() >= {"message": "Session has no resume id yet.", "sessionId": session}.items()
        )
        listed = await page.ask("session.list", "session.list")
        assert listed["sessions"][0]["status"] == "error"
        assert "claudeSessionId" not in listed["sessions"][0]


@story
async def test_b54_b77_the_agents_own_id_is_listed_as_soon_as_it_is_known(tmp_path: Path) -> None:
    job = steps(Attaches("theirs-1"), Says("hello"))
    async with (
        blocking_house(tmp_path, job, has_own_session_ids=True) as coder,
        serving(coder.host, BroadcastOptions(cwd=str(coder.folder))) as server,
        Site(coder, server).client() as page,
    ):
        await page.send("session.start", title="t", prompt="go", agent="blocking")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        (row,) = (await page.ask("session.list", "session.list"))["sessions"]
        assert row["claudeSessionId"] == "theirs-1"
        assert row["resume"]["coder"] == f"coder resume {session}"
        await page.send("session.continue", sessionId=session, prompt="more")
        await page.until("session.status", status="completed")


@story
async def test_b56_messages_of_an_agents_program_are_shown_as_they_are(tmp_path: Path) -> None:
    message = '{"type":"assistant","uuid":"u-1","odd":[1, 2.50],"message":{"role":"assistant","content":"hi"}}'
    async with (
        blocking_house(tmp_path, steps(Emits((message,)), Says("done"))) as coder,
        serving(coder.host, BroadcastOptions(cwd=str(coder.folder))) as server,
        Site(coder, server).client() as page,
    ):
        await page.send("session.start", title="t", prompt="go", agent="blocking")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        shown = [x["payload"]["message"] for x in page.seen if x["type"] == "stream.message"]
        assert json.loads(message) in shown
        history = await page.ask("session.history", "session.history", sessionId=session)
        assert json.loads(message) in history["messages"]


@story
async def test_a_held_ask_of_a_blocking_agent_is_answered_on_the_web(tmp_path: Path) -> None:
    async with (
        blocking_house(tmp_path, steps(uses("touch made"), Says("made"))) as coder,
        serving(coder.host, BroadcastOptions(cwd=str(coder.folder))) as server,
        Site(coder, server).client() as page,
    ):
        await page.send("session.start", title="t", prompt="go", agent="blocking", mode="default")
        asked = await page.until("permission.request")
        assert asked["input"] == {"command": "touch made"}
        where = {"sessionId": asked["sessionId"], "toolUseId": asked["toolUseId"]}
        await page.send("permission.response", **where, result={"behavior": "allow"})
        await page.until("session.status", status="completed")
        assert (coder.folder / "made").exists()


@story
async def test_b09_the_ask_of_a_child_comes_under_its_parent(tmp_path: Path) -> None:
    """It says which child and what its task is; the answer finds it by the parent's id."""
    models = conversations(
        [proposes(task("make a file", "make it")), says("all done")],
        {"make it": [proposes(bash("rm -rf old")), says("made it")]},
    )
    async with web(tmp_path, by_history(models)) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="go", mode="auto-edit")
        session = (await page.until("session.status"))["sessionId"]
        (site.folder / "old").mkdir()
        asked = await page.until("permission.request")
        assert asked["sessionId"] == session
        assert asked["task"] == "make a file"
        assert asked["childSessionId"] != session
        async with site.client() as late:
            await late.send("session.history", sessionId=session)
            again = await late.until("permission.request")
            assert again["askId"] == asked["askId"]
            await late.send(
                "permission.response",
                sessionId=session,
                toolUseId=asked["toolUseId"],
                result={"behavior": "allow"},
            )
        resolved = await page.until("permission.resolved", askId=asked["askId"])
        assert resolved["childSessionId"] == asked["childSessionId"]
        await page.until("session.status", status="completed")
        assert not (site.folder / "old").exists()
        assert {each["payload"].get("sessionId") for each in page.seen} == {session}
        use = next(each["payload"] for each in page.seen if each["type"] == "session.child")["toolUseId"]
        task_done = await page.ask("task.history", "task.history", sessionId=session, toolUseId=use)
        assert message_name(task_done["messages"][0]) == "prompt make it"
        assert (task_done["status"], task_done["childSessionId"]) == ("completed", asked["childSessionId"])
        for wrong in ({"sessionId": session, "toolUseId": "nothing"}, {"sessionId": use, "toolUseId": use}):
            await page.send("task.history", **wrong)
            await page.until("runner.error")


@story
async def test_two_children_with_the_same_call_id_are_told_apart_by_the_ask(tmp_path: Path) -> None:
    """Local model servers count calls from 0. An answer that could mean either is refused."""
    models = conversations(
        [proposes(task("one", "make one"), task("two", "make two")), says("all done")],
        {
            f"make {name}": [proposes(Call("bash", {"command": f"rm -rf {name}"}, id="call_0")), says("made it")]
            for name in ("one", "two")
        },
    )
    async with web(tmp_path, by_history(models)) as site, site.client() as page:
        for name in ("one", "two"):
            (site.folder / name).mkdir()
        await page.send("session.start", title="t", prompt="go", mode="auto-edit")
        asked = [await page.until("permission.request") for _ in range(2)]
        assert [each["toolUseId"] for each in asked] == ["call_0", "call_0"]
        by_task = {each["task"]: each for each in asked}
        where = {"sessionId": asked[0]["sessionId"], "toolUseId": "call_0"}
        await page.send("permission.response", **where, result={"behavior": "allow"})
        assert "askId" in (await page.until("runner.error"))["message"]
        other = {**where, "toolUseId": "call_1", "askId": asked[0]["askId"]}
        await page.send("permission.response", **other, result={"behavior": "allow"})
        assert "no open request" in (await page.until("runner.error"))["message"], "its two ids mean different asks"
        for name, behavior in (("two", "deny"), ("one", "allow")):
            ask = by_task[name]["askId"]
            await page.send("permission.response", **where, askId=ask, result={"behavior": behavior})
            await page.until("permission.resolved", askId=ask, behavior=behavior)
        await page.until("session.status", status="completed")
        assert [(site.folder / name).exists() for name in ("one", "two")] == [False, True]


@story
async def test_b45_with_a_parent_its_children_go_unseen(tmp_path: Path) -> None:
    """Others do not know them; but whoever deletes one by its own id is told."""
    models = conversations(
        [proposes(task("one", "make one"), task("two", "make two")), says("all done")],
        {f"make {name}": [says("made it")] for name in ("one", "two")},
    )
    async with web(tmp_path, by_history(models)) as site, site.client() as page, site.client() as other:
        await page.send("session.start", title="t", prompt="go", mode="yolo")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        child = next(each["payload"]["childSessionId"] for each in page.seen if each["type"] == "session.child")
        assert (await page.ask("session.delete", "session.deleted", sessionId=child))["sessionId"] == child
        assert (await page.ask("session.delete", "session.deleted", sessionId=session))["sessionId"] == session
        await other.until("session.deleted", sessionId=session)
        assert {each["payload"].get("sessionId") for each in other.seen} == {session}
