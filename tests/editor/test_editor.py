"""`coder acp` as an editor sees it: a real process, the official client, a scripted model."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import acp
import pytest
from acp import schema

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.editor.acp_editor import editor
from tests.house import story
from tests.model_server import ModelServerThread, bash, call, hangs, http_error, proposes, says, script, write
from tests.patience import PATIENCE

SEES = '{"providers": {"openai": {"models": {"scripted": {"images": true}}}}}'
CoderOn = Callable[[ModelServerThread], Coder]


@story
async def test_a35_a_prompt_streams_thoughts_text_and_calls(coder_on: CoderOn, serve: Serve, folder: Path) -> None:
    """X-19: nothing is folded; an editor gets the structure, and shows as much as it likes."""
    (folder / "notes.txt").write_text("three lines\n")
    server = serve(
        script(
            proposes(call("read", path="notes.txt"), text="Let me look.", thinking="Which file?"),
            says("It has one line."),
        )
    )
    coder = coder_on(server)
    async with editor(coder) as opened:
        session = await opened.new(coder)
        answer = await opened.prompt(session, "how long is notes.txt?")
        assert answer.stop_reason == "end_turn"
        screen = opened.screen
        assert screen.text("agent_thought_chunk") == "Which file?"
        assert screen.text() == "Let me look.It has one line."
        [shown] = screen.calls().values()
        assert (shown["kind"], shown["status"], shown["title"]) == ("read", "completed", "read notes.txt")
        assert shown["locations"] == [{"path": str(folder / "notes.txt")}]
        assert shown["rawInput"] == {"path": "notes.txt"}
        assert "three lines" in shown["content"][0]["content"]["text"]
        assert "user_message_chunk" not in [each["sessionUpdate"] for each in screen.updates]
    assert opened.process.returncode == 0


@story
async def test_nothing_comes_about_a_session_before_the_reply_that_made_it(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script()))
    async with editor(coder) as opened:
        session = await opened.new(coder)
        commands = await opened.screen.until("available_commands_update")
        assert {"status", "compact"} <= {each["name"] for each in commands["availableCommands"]}
        order = [each.get("result", {}).get("sessionId") or each.get("method") for each in opened.screen.raw]
        assert order.index(session) < order.index("session/update")


@story
async def test_a49_a_permission_is_asked_in_the_editor(coder_on: CoderOn, serve: Serve, folder: Path) -> None:
    """Allowed once, denied, and allowed for the session."""
    edit = write("made.txt", "one\ntwo\n")
    again = bash("rm -rf made.txt")
    coder = coder_on(serve(script(proposes(edit), proposes(again), proposes(edit), says("done"))))
    async with editor(coder) as opened:
        prompt = opened.prompt(await opened.new(coder), "write it")
        asked = await opened.screen.next_asked()
        assert asked.kinds == {"y": "allow_once", "a": "allow_always", "n": "reject_once", "s": "reject_always"}
        assert asked.tool_call.kind == "edit"
        [_, diff] = asked.tool_call.content or []
        assert diff == schema.FileEditToolCallContent(
            type="diff", path=str(folder / "made.txt"), new_text="one\ntwo\n"
        )
        asked.choose("a")
        refused = await opened.screen.next_asked()
        assert (folder / "made.txt").read_text() == "one\ntwo\n"
        assert refused.tool_call.kind == "execute"
        assert [each.name for each in refused.options] == ["Yes", "Yes, always", "No", "No, and stop"]
        [words] = refused.tool_call.content or []
        assert isinstance(words, schema.ContentToolCallContent)
        assert isinstance(words.content, schema.TextContentBlock)
        assert words.content.text.startswith("```\nRun this command?\n  $ rm -rf made.txt\n")
        refused.choose("n")
        assert (await prompt).stop_reason == "end_turn"
        assert [each["status"] for each in opened.screen.calls().values()] == ["completed", "failed", "completed"]
    assert (folder / "made.txt").exists()


@story
async def test_a_refusal_that_stops_ends_the_turn(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script(proposes(bash("rm -rf a")))))
    async with editor(coder) as opened:
        prompt = opened.prompt(await opened.new(coder), "go")
        (await opened.screen.next_asked()).choose("s")
        assert (await prompt).stop_reason == "cancelled"


@story
async def test_cancel_ends_the_turn_and_what_waits_behind_it(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script(hangs(says("I begin and never end"), 2), says("later"))))
    async with editor(coder) as opened:
        session = await opened.new(coder)
        first = opened.prompt(session, "first")
        await opened.screen.until("agent_message_chunk")
        second = opened.prompt(session, "second")
        await opened.screen.until_sent("session/prompt", 2)
        await opened.agent.cancel(session_id=session)
        assert [(await each).stop_reason for each in (first, second)] == ["cancelled", "cancelled"]
        assert (await opened.prompt(session, "third")).stop_reason == "end_turn"
        assert opened.screen.text().endswith("later")


@story
async def test_cancel_closes_an_open_permission(coder_on: CoderOn, serve: Serve, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(bash("rm -rf a; touch ran")))))
    async with editor(coder) as opened:
        session = await opened.new(coder)
        prompt = opened.prompt(session, "go")
        asked = await opened.screen.next_asked()
        await opened.agent.cancel(session_id=session)
        asked.choose(None)
        assert (await prompt).stop_reason == "cancelled"
    assert not (folder / "ran").exists()
    assert coder.run("asks", "--json").out == ""


@story
async def test_a_second_prompt_waits_and_is_answered_in_order(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script(proposes(bash("rm -rf a")), says("one"), says("two"))))
    async with editor(coder) as opened:
        session = await opened.new(coder)
        first = opened.prompt(session, "first")
        asked = await opened.screen.next_asked()
        second = opened.prompt(session, "second")
        await opened.screen.until_sent("session/prompt", 2)
        asked.choose("y")
        await asyncio.gather(first, second)
        assert opened.screen.text() == "onetwo"
        answers = [each["id"] for each in opened.screen.raw if "stopReason" in each.get("result", {})]
        assert answers == sorted(answers)


@story
async def test_a_session_is_loaded_with_its_whole_history(coder_on: CoderOn, serve: Serve, folder: Path) -> None:
    todo = call("todo", items=[{"content": "look", "status": "in_progress"}])
    coder = coder_on(serve(script(proposes(todo), says("looked"))))
    done = coder.run("-p", "look around")
    assert done.code == 0, done.err
    async with editor(coder) as opened:
        listed = await opened.agent.list_sessions(cwd=str(folder))
        [found] = listed.sessions
        assert found.title == "look around"
        await opened.agent.load_session(cwd=str(folder), session_id=found.session_id, mcp_servers=[])
        screen = opened.screen
        loaded = next(n for n, each in enumerate(screen.raw) if "modes" in each.get("result", {}))
        before = [each["params"]["update"] for each in screen.raw[:loaded] if each.get("method") == "session/update"]
        assert [each["sessionUpdate"] for each in before] == [
            "user_message_chunk",
            "tool_call",
            "tool_call_update",
            "tool_call_update",
            "plan",
            "agent_message_chunk",
        ]
        assert before[0]["content"]["text"] == "look around"
        assert before[4]["entries"] == [{"content": "look", "priority": "medium", "status": "in_progress"}]
        assert before[5]["content"]["text"] == "looked"


@story
async def test_x20_a_mode_is_chosen_up_to_max_mode(coder_on: CoderOn, serve: Serve) -> None:
    """X-45: a client may not choose more than the person allows."""
    coder = coder_on(serve(script()))
    async with editor(coder) as opened:
        made = await opened.agent.new_session(cwd=str(coder.cwd), mcp_servers=[])
        assert made.modes is not None
        assert [each.id for each in made.modes.available_modes] == ["plan", "default"]
        with pytest.raises(acp.RequestError) as refused:
            await opened.agent.set_session_mode(session_id=made.session_id, mode_id="yolo")
        assert refused.value.code == -32602
        await opened.agent.set_session_mode(session_id=made.session_id, mode_id="plan")
        await opened.screen.until("current_mode_update", currentModeId="plan")
    (coder.home / "config.json").write_text(json.dumps({"acp": {"max_mode": "auto-edit"}}))
    async with editor(coder) as opened:
        made = await opened.agent.new_session(cwd=str(coder.cwd), mcp_servers=[])
        assert made.modes is not None
        assert [each.id for each in made.modes.available_modes] == ["plan", "default", "auto-edit"]


@story
async def test_files_and_images_go_with_a_prompt(coder_on: CoderOn, serve: Serve, folder: Path) -> None:
    server = serve(script(says("seen")))
    coder = coder_on(server)
    coder.home.mkdir()
    (coder.home / "config.json").write_text(SEES)
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    uri = (folder / "a b.txt").as_uri()
    blocks: list[Any] = [
        acp.text_block("compare "),
        acp.resource_link_block(name="x", uri=(folder / "x.py").as_uri()),
        acp.resource_block(acp.embedded_text_resource(uri=uri, text="unsaved\n")),
        acp.image_block(pixel, "image/png"),
    ]
    async with editor(coder) as opened:
        session = await opened.new(coder)
        await opened.agent.prompt(session_id=session, prompt=blocks)
    asked = json.dumps(server.requests[0])
    assert "compare @x.py@a b.txt" in asked
    assert json.dumps('<file path="a b.txt">\nunsaved\n</file>')[1:-1] in asked
    assert pixel in asked
    assert coder.run("sessions", "show", session).out.count("unsaved") == 0


@story
async def test_a_failed_turn_is_an_error_and_the_session_stays(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script(http_error(400, "no such deployment"), says("better"))))
    async with editor(coder) as opened:
        session = await opened.new(coder)
        with pytest.raises(acp.RequestError, match="no such deployment"):
            await opened.prompt(session, "go")
        assert (await opened.prompt(session, "again")).stop_reason == "end_turn"


@story
async def test_x16_only_commands_that_were_named_are_commands(coder_on: CoderOn, serve: Serve) -> None:
    server = serve(script(says("a prompt"), says("no shell")))
    coder = coder_on(server)
    async with editor(coder) as opened:
        session = await opened.new(coder)
        await opened.prompt(session, "/status")
        assert "openai:scripted" in opened.screen.text()
        assert server.requests == []
        await opened.prompt(session, "/nothing like it")
        await opened.prompt(session, "!touch ran")
        assert len(server.requests) == 2
    assert not (coder.cwd / "ran").exists()


@story
async def test_a_server_of_the_editor_that_cannot_be_used_is_named(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script()))
    old = schema.SseMcpServer(type="sse", name="files", url="http://127.0.0.1:1/sse", headers=[])
    async with editor(coder) as opened:
        await opened.agent.new_session(cwd=str(coder.cwd), mcp_servers=[old])
        told = await opened.screen.until("agent_message_chunk")
        assert "cannot be used: files" in told["content"]["text"]


@story
async def test_an_ask_answered_elsewhere_closes_the_request_of_the_editor(
    coder_on: CoderOn, serve: Serve, folder: Path
) -> None:
    coder = coder_on(serve(script(proposes(bash("rm -rf a; echo one >> effects")), says("done"))))
    async with editor(coder) as opened:
        prompt = opened.prompt(await opened.new(coder), "go")
        asked = await opened.screen.next_asked()
        [row] = [json.loads(line) for line in coder.run("asks", "--json").out.splitlines()]
        answered = await asyncio.to_thread(coder.run, "answer", "--no-wait", row["ask"]["id"], "allow")
        assert answered.code == 0, answered.err
        cancelled = await opened.screen.until_told("$/cancel_request")
        request = next(each for each in opened.screen.raw if each.get("method") == "session/request_permission")
        assert cancelled == {"requestId": request["id"]}
        asked.choose("n")  # late
        assert (await prompt).stop_reason == "end_turn"
    assert (folder / "effects").read_text() == "one\n"


@story
async def test_an_ask_outlives_the_process_of_the_editor(coder_on: CoderOn, serve: Serve, folder: Path) -> None:
    """Killed while a permission is open, answered in a shell: the work is done once."""
    coder = coder_on(serve(script(proposes(bash("rm -rf a; echo one >> effects")), says("done"))))
    async with editor(coder) as opened:
        session = await opened.new(coder)
        prompt = opened.prompt(session, "go")
        await opened.screen.next_asked()
        opened.process.kill()
        with pytest.raises(ConnectionError):
            await prompt
    [row] = [json.loads(line) for line in coder.run("asks", "--json").out.splitlines()]
    answered = coder.run("answer", row["ask"]["id"], "allow")
    assert (answered.code, answered.out.endswith("done\n")) == (0, True), answered
    assert (folder / "effects").read_text() == "one\n"
    async with editor(coder) as opened:
        await opened.agent.load_session(cwd=str(folder), session_id=session, mcp_servers=[])
        assert opened.screen.text() == "done"
        assert [each["status"] for each in opened.screen.calls().values()] == ["completed"]


@story
async def test_an_editor_that_leaves_and_comes_back_is_asked_again(
    coder_on: CoderOn, serve: Serve, folder: Path
) -> None:
    coder = coder_on(serve(script(proposes(bash("rm -rf a; echo one >> effects")), says("done"))))
    async with editor(coder) as opened:
        session = await opened.new(coder)
        prompt = opened.prompt(session, "go")
        await opened.screen.next_asked()
        prompt.cancel()
    assert opened.process.returncode == 0
    async with editor(coder) as opened:
        await opened.agent.load_session(cwd=str(folder), session_id=session, mcp_servers=[])
        (await opened.screen.next_asked()).choose("y")
        async with asyncio.timeout(PATIENCE):
            while opened.screen.text() != "done":
                await opened.screen.until("agent_message_chunk")
    assert (folder / "effects").read_text() == "one\n"


@story
async def test_a_session_that_is_closed_ends_its_prompt_and_one_that_is_deleted_is_gone(
    coder_on: CoderOn, serve: Serve
) -> None:
    coder = coder_on(serve(script(hangs(says("I begin and never end"), 2))))
    async with editor(coder) as opened:
        session = await opened.new(coder)
        prompt = opened.prompt(session, "go")
        await opened.screen.until("agent_message_chunk")
        await opened.agent.close_session(session_id=session)
        assert (await prompt).stop_reason == "cancelled"
        with pytest.raises(acp.RequestError) as closed:
            await opened.prompt(session, "go on")
        assert closed.value.code == -32002
        assert len((await opened.agent.list_sessions()).sessions) == 1
        resumed = await opened.agent.resume_session(cwd=str(coder.cwd), session_id=session, mcp_servers=[])
        assert resumed.modes is not None
        assert resumed.modes.current_mode_id == "default"


@story
async def test_the_output_of_a_command_is_shown_while_it_runs(coder_on: CoderOn, serve: Serve, folder: Path) -> None:
    os.mkfifo(folder / "gate")
    coder = coder_on(serve(script(proposes(bash("echo begun; cat gate; echo over")), says("done"))))
    coder.home.mkdir()
    (coder.home / "config.json").write_text('{"mode": "yolo"}')
    async with editor(coder) as opened:
        prompt = opened.prompt(await opened.new(coder), "run it")
        shown = await opened.screen.until_seen(lambda each: each.get("status") == "in_progress" and "content" in each)
        assert shown["content"][0]["content"]["text"] == "```\nbegun\n```"
        await asyncio.to_thread((folder / "gate").write_text, "opened\n")
        await prompt
        [whole] = opened.screen.calls().values()
        assert "begun\nopened\nover" in whole["content"][0]["content"]["text"]


@story
async def test_a_prompt_from_elsewhere_is_shown_in_the_editor(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script(says("one"), says("two"))))
    async with editor(coder) as opened:
        session = await opened.new(coder)
        await opened.prompt(session, "first")
        ran = await asyncio.to_thread(coder.run, "-p", "second", "--resume", session)
        assert ran.code == 0, ran.err
        shown = await opened.screen.until("user_message_chunk")
        assert shown["content"]["text"] == "second"
        await opened.screen.until("agent_message_chunk", content={"type": "text", "text": "two"})
