"""The events of the contract, field by field (B-11, B-12): what each must have, with its type and its words."""

from pathlib import Path

from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ShowSession
from coderelay.surfaces.web.all_sessions_broadcast import BroadcastOptions
from coderelay.surfaces.web.outgoing_event_json import resume_command
from coderelay.testing.scripted_external_agent import Fails
from tests.blocking.scene import blocking_house, steps
from tests.house import story
from tests.model_server import bash, proposes, says, script
from tests.web.browser import Event, Site, serving, web


@story
async def test_b47_to_b51_every_event_has_the_fields_of_the_contract(tmp_path: Path) -> None:
    """B-03: a session from its start to its end, as a client sees it. B-40, B-41, B-46, B-47, B-48,
    B-49, B-50, B-51."""
    answers = script(proposes(bash("rm -rf a")), says("done"))
    async with web(tmp_path, answers) as site, site.client() as page:
        await page.send("session.start", title="Clean up", prompt="go", mode="default", cwd=str(site.folder))
        request = await page.until("permission.request")
        session = request["sessionId"]
        where = {"sessionId": session, "toolUseId": request["toolUseId"]}
        await page.send("permission.response", **where, result={"behavior": "allow"})
        await page.until("session.status", status="completed")
        listed = await page.ask("session.list", "session.list")
        history = await page.ask("session.history", "session.history", sessionId=session)
        await page.send("session.continue", sessionId="nobody", prompt="hi")
        failed = await page.until("runner.error")
        deleted = await page.ask("session.delete", "session.deleted", sessionId=session)

        status, prompt = _first(page.seen, "session.status"), _first(page.seen, "stream.user_prompt")
        assert _only(status, "sessionId", "status", "title", "cwd") == {
            "sessionId": session,
            "status": "running",
            "title": "Clean up",
            "cwd": str(site.folder),
        }
        assert _only(prompt, "sessionId", "prompt") == {"sessionId": session, "prompt": "go"}
        message = _first(page.seen, "stream.message")
        assert message["sessionId"] == session
        assert _only(message["message"], "type", "subtype", "session_id") == {
            "type": "system",
            "subtype": "init",
            "session_id": session,
        }
        assert _only(request, "sessionId", "toolName", "input") == {
            "sessionId": session,
            "toolName": "Bash",
            "input": {"command": "rm -rf a"},
        }
        (row,) = listed["sessions"]
        assert _only(row, "id", "title", "status", "cwd", "claudeSessionId") == {
            "id": session,
            "title": "Clean up",
            "status": "completed",
            "cwd": str(site.folder),
            "claudeSessionId": session,
        }
        assert isinstance(row["createdAt"], int)
        assert isinstance(row["updatedAt"], int)
        assert _only(history, "sessionId", "status") == {"sessionId": session, "status": "completed"}
        assert history["messages"][0] == {"type": "user_prompt", "prompt": "go"}
        kinds = [each["type"] for each in history["messages"]]
        assert kinds == ["user_prompt", "system", "assistant", "user", "assistant", "result"]
        assert failed == {"message": "Unknown session"}
        assert deleted["sessionId"] == session


@story
async def test_b68_an_exception_of_the_agent_is_told_in_the_status(tmp_path: Path) -> None:
    """X-28: in the words it has, never translated."""
    async with (
        blocking_house(tmp_path, steps(Fails("the program broke down"))) as coder,
        serving(coder.host, BroadcastOptions(cwd=str(coder.folder))) as server,
        Site(coder, server).client() as page,
    ):
        await page.send("session.start", title="t", prompt="go", agent="blocking")
        ended = await page.until("session.status", status="error")
        assert "the program broke down" in ended["error"]
        listed = await page.ask("session.list", "session.list")
        assert listed["sessions"][0]["status"] == "error"


@story
async def test_b23_a_prompt_goes_on_in_the_same_session(tmp_path: Path) -> None:
    async with web(tmp_path, script(says("one"), says("two"))) as site, site.client() as page:
        await page.send("session.start", title="t", prompt="first")
        session = (await page.until("session.status", status="completed"))["sessionId"]
        await page.send("session.continue", sessionId=session, prompt="second")
        await page.until("session.status", status="completed")
        second = site.inside.server.requests[-1]["messages"]
        assert [str(each["content"]) for each in second if "first" in str(each["content"])]
        summary = await site.host.get(ShowSession(SessionId(session)))
        assert summary.last_prompt == "second"


def test_b34_x10_the_agents_own_command_has_the_agents_own_id() -> None:
    claude = Summary(SessionId("ours"), "/work", "claude", "m", "default", 0, 0)
    assert resume_command(claude) == {"coder": "coder resume ours", "problem": "the agent has no session id yet"}
    known = Summary(SessionId("ours"), "/work", "claude", "m", "default", 0, 0, agent_session_id="theirs")
    assert resume_command(known) == {"coder": "coder resume ours", "agent": "claude --resume theirs"}
    native = Summary(SessionId("ours"), "/work", "native", "m", "default", 0, 0, agent_session_id="ours")
    assert resume_command(native) == {"coder": "coder resume ours"}


def _first(events: list[Event], kind: str) -> Event:
    return next(each["payload"] for each in events if each["type"] == kind)


def _only(payload: Event, *names: str) -> Event:
    return {name: payload[name] for name in names}
