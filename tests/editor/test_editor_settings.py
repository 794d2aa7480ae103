"""What an editor, or a program, wants of a session when it opens one, and what it may choose later."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import acp
import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.editor.acp_editor import editor
from tests.editor.wire_process import initialized
from tests.house import story
from tests.model_server import ModelServerThread, bash, call, proposes, says, script, write

CoderOn = Callable[[ModelServerThread], Coder]


def configure(coder: Coder, **settings: Any) -> None:
    coder.home.mkdir(exist_ok=True)
    (coder.home / "config.json").write_text(json.dumps(settings))


@story
async def test_x45_the_settings_of_a_new_session_count_up_to_max_mode(coder_on: CoderOn, serve: Serve) -> None:
    """X-21: `smart` is auto-edit. What is refused is said."""
    server = serve(script(proposes(write("a.txt", "one")), proposes(bash("echo no")), says("done"), says("unheard")))
    coder = coder_on(server)
    configure(coder, acp={"max_mode": "auto-edit"})
    async with initialized(coder) as line:
        settings = {
            "permission_mode": "yolo",
            "disallowed_tools": ["bash"],
            "append_system_prompt": "Speak like a sailor.",
            "system_prompt": "You are free.",
            "max_turns": 2,
        }
        made = await line.ask(
            1, "session/new", cwd=str(coder.cwd), mcpServers=[], settings=settings, hooks={"Stop": []}
        )
        assert made["result"]["modes"]["currentModeId"] == "auto-edit"
        session = made["result"]["sessionId"]
        ended = await line.ask(2, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": "go"}])
        assert ended["result"] == {"stopReason": "max_turn_requests"}
        told = "".join(line.texts("agent_message_chunk"))
        assert "have no effect: system_prompt, hooks." in told.replace("\n", " ")
        assert "The mode is auto-edit, because yolo is not allowed to this client." in told
        wrong = await line.ask(
            3, "session/new", cwd=str(coder.cwd), mcpServers=[], settings={"permission_mode": "free"}
        )
        assert wrong["error"]["code"] == -32602
    assert (coder.cwd / "a.txt").read_text() == "one"
    sent = json.dumps(server.requests[0]["messages"])
    assert "Speak like a sailor." in sent
    assert "You are free." not in sent
    assert "bash is not allowed in this session" in coder.run("sessions", "show", session).out


@story
async def test_x45_default_is_the_freest_mode_unless_the_person_says_more(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script()))
    async with initialized(coder) as line:
        for wanted, mode in (("yolo", "default"), ("autoEdit", "default"), ("plan", "plan")):
            settings = {"permission_mode": wanted, "allowed_tools": ["read"]}
            made = await line.ask(1, "session/new", cwd=str(coder.cwd), mcpServers=[], settings=settings)
            assert made["result"]["modes"]["currentModeId"] == mode, wanted


@story
async def test_x20_model_and_thinking_are_options_that_count_from_the_next_turn_on(
    coder_on: CoderOn, serve: Serve
) -> None:
    server = serve(script(says("one"), says("two")))
    coder = coder_on(server)
    async with editor(coder) as opened:
        made = await opened.agent.new_session(cwd=str(coder.cwd), mcp_servers=[])
        assert [(each.id, each.category) for each in made.config_options or []] == [
            ("mode", "mode"),
            ("model", "model"),
            ("think", "thought_level"),
        ]
        listed = await opened.screen.until("config_option_update")
        assert listed["configOptions"][1]["currentValue"] == "openai:scripted"
        answer = await opened.agent.set_config_option(session_id=made.session_id, config_id="think", value="high")
        assert answer is not None
        assert [each.current_value for each in answer.config_options] == ["default", "openai:scripted", "high"]
        await opened.agent.set_config_option(session_id=made.session_id, config_id="model", value="openai:gpt-5.5")
        assert (await opened.prompt(made.session_id, "go")).stop_reason == "end_turn"
        assert server.requests[0]["model"] == "gpt-5.5"
        assert server.requests[0]["reasoning_effort"] == "high"
        for option, value in (("think", "hard"), ("model", "nobody:x"), ("smell", "x"), ("mode", "yolo")):
            with pytest.raises(acp.RequestError):
                await opened.agent.set_config_option(session_id=made.session_id, config_id=option, value=value)
        ran = coder.run("-p", "more", "--resume", made.session_id, "--mode", "plan")
        assert ran.code == 0, ran.err
        await opened.screen.until_seen(
            lambda each: (
                each["sessionUpdate"] == "config_option_update" and each["configOptions"][0]["currentValue"] == "plan"
            )
        )


@story
async def test_a_model_that_is_chosen_in_a_session_of_the_guide_works_there(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script(says("I am the model"))))
    coder.env["CODER_MODEL"] = "guide"
    async with editor(coder) as opened:
        session = await opened.new(coder)
        await opened.agent.set_config_option(session_id=session, config_id="model", value="openai:scripted")
        await opened.prompt(session, "go")
        assert opened.screen.text() == "I am the model"
        await opened.agent.set_config_option(session_id=session, config_id="model", value="guide")
        await opened.prompt(session, "help")
        assert "I am the built-in guide" in opened.screen.text()


@story
async def test_usage_is_told_at_the_end_of_a_turn(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script(says("one"))))
    async with editor(coder) as opened:
        await opened.prompt(await opened.new(coder), "go")
        [used] = [each for each in opened.screen.updates if each["sessionUpdate"] == "usage_update"]
        assert 0 < used["used"] < used["size"]


@story
async def test_folders_of_the_editor_can_be_used(coder_on: CoderOn, serve: Serve, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("three lines\n")
    coder = coder_on(serve(script(proposes(call("read", path=str(other / "notes.txt"))), says("read"))))
    async with editor(coder) as opened:
        made = await opened.agent.new_session(cwd=str(coder.cwd), mcp_servers=[], additional_directories=[str(other)])
        await opened.prompt(made.session_id, "read it")
        [shown] = opened.screen.calls().values()
        assert shown["status"] == "completed"
        [listed] = (await opened.agent.list_sessions()).sessions
        assert listed.additional_directories == [str(other)]
        with pytest.raises(acp.RequestError) as refused:
            await opened.agent.new_session(cwd=str(coder.cwd), mcp_servers=[], additional_directories=["relative"])
        assert refused.value.code == -32602


@story
async def test_a_deleted_session_is_gone(coder_on: CoderOn, serve: Serve) -> None:
    coder = coder_on(serve(script(says("one"))))
    async with initialized(coder) as line:
        made = await line.ask(1, "session/new", cwd=str(coder.cwd), mcpServers=[])
        session = made["result"]["sessionId"]
        prompt = [{"type": "text", "text": "go"}]
        await line.ask(2, "session/prompt", sessionId=session, prompt=prompt)
        assert (await line.ask(3, "session/delete", sessionId=session))["result"] == {}
        assert (await line.ask(4, "session/list"))["result"] == {"sessions": []}
        late = await line.ask(5, "session/prompt", sessionId=session, prompt=prompt)
        assert late["error"]["code"] == -32002
        again = await line.ask(6, "session/load", sessionId=session, cwd=str(coder.cwd), mcpServers=[])
        assert again["error"]["code"] == -32002
    assert coder.run("sessions", "list").out.strip() == "" or session not in coder.run("sessions", "list").out
