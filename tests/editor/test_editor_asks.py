"""Asks in an editor that are no plain permissions: questions, plans, and those of subagents."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from acp import schema

from tests.children.conversations import conversations, task
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.editor.acp_editor import Form, editor
from tests.house import story
from tests.model_server import ModelServerThread, bash, by_history, call, proposes, says, script

CoderOn = Callable[[ModelServerThread], Coder]
QUESTIONS = [
    {"question": "Which one?", "header": "One", "options": [{"label": "red"}, {"label": "blue"}]},
    {"question": "How many?", "header": "Many", "options": [{"label": "few"}, {"label": "lots"}]},
]


@story
async def test_a47_questions_are_chosen_one_after_the_other(coder_on: CoderOn, serve: Serve) -> None:
    """Without forms, a question is a permission request with its answers."""
    server = serve(script(proposes(call("ask_user", questions=QUESTIONS)), says("thanks")))
    coder = coder_on(server)
    async with editor(coder) as opened:
        prompt = opened.prompt(await opened.new(coder), "ask me")
        first = await opened.screen.next_asked()
        assert [each.name for each in first.options] == ["red", "blue", "No answer", "No, and stop"]
        assert first.tool_call.title == "Which one?"
        first.choose("2")
        second = await opened.screen.next_asked()
        assert second.tool_call.title == "How many?"
        second.choose("1")
        assert (await prompt).stop_reason == "end_turn"
    answered = server.requests[1]["messages"][-1]["content"]
    assert "blue" in answered
    assert "few" in answered


FORMS = schema.ClientCapabilities(
    elicitation=schema.ElicitationCapabilities(form=schema.ElicitationFormCapabilities())
)


@story
async def test_a47_an_editor_with_forms_gets_all_questions_at_once(coder_on: CoderOn, serve: Serve) -> None:
    """A question without choices, one with several, and an answer in the person's own words."""
    several = {"question": "Which ones?", "multiSelect": True, "options": [{"label": "a"}, {"label": "b"}]}
    server = serve(script(proposes(call("ask_user", questions=[*QUESTIONS, several])), says("thanks")))
    coder = coder_on(server)
    screen = Form(question_0="red", question_1="few", question_1_custom="seven", question_2=["a", "b"])
    async with editor(coder, screen, FORMS) as opened:
        assert (await opened.prompt(await opened.new(coder), "ask me")).stop_reason == "end_turn"
    [form] = screen.forms
    assert list(form["properties"]) == [
        *("question_0", "question_0_custom", "question_1", "question_1_custom", "question_2", "question_2_custom")
    ]
    answered = server.requests[1]["messages"][-1]["content"]
    assert "red" in answered
    assert "seven" in answered
    assert "few" not in answered
    assert "a, b" in answered


@story
async def test_a48_a_plan_is_approved_within_max_mode(coder_on: CoderOn, serve: Serve) -> None:
    """X-45: the answer that leads into auto-edit is not offered, because the editor may not choose that mode."""
    coder = coder_on(serve(script(proposes(call("plan_exit", plan="1. look\n2. write")), says("on it"))))
    async with editor(coder) as opened:
        session = await opened.new(coder)
        await opened.agent.set_session_mode(session_id=session, mode_id="plan")
        prompt = opened.prompt(session, "plan it")
        asked = await opened.screen.next_asked()
        assert asked.kinds == {"default": "allow_once", "keep": "reject_once", "stop": "reject_always"}
        assert (asked.tool_call.kind, asked.tool_call.title) == ("switch_mode", "Approve this plan?")
        [plan] = asked.tool_call.model_dump(by_alias=True)["content"]
        assert plan["content"]["text"] == "1. look\n2. write"
        asked.choose("default")
        await prompt
        await opened.screen.until("current_mode_update", currentModeId="default")


CHILD = conversations(
    parent=[proposes(task("a task", "the child's work")), says("all done")],
    children={"the child's work": [proposes(bash("rm -rf a; echo one >> effects")), says("child done")]},
)


@story
async def test_an_ask_of_a_subagent_comes_under_the_session_of_its_parent(
    coder_on: CoderOn, serve: Serve, folder: Path
) -> None:
    coder = coder_on(serve(by_history(CHILD)))
    coder.home.mkdir()
    (coder.home / "config.json").write_text('{"mode": "auto-edit"}')
    async with editor(coder) as opened:
        session = await opened.new(coder)
        prompt = opened.prompt(session, "go")
        asked = await opened.screen.next_asked()
        request = next(each for each in opened.screen.raw if each.get("method") == "session/request_permission")
        assert request["params"]["sessionId"] == session
        asked.choose("y")
        assert (await prompt).stop_reason == "end_turn"
        assert opened.screen.text() == "all done"
        assert {each["status"] for each in opened.screen.calls().values()} == {"completed"}
    assert (folder / "effects").read_text() == "one\n"


@story
async def test_an_answer_that_was_not_offered_leaves_the_ask_open(
    coder_on: CoderOn, serve: Serve, folder: Path
) -> None:
    coder = coder_on(serve(script(proposes(bash("rm -rf a; echo one >> effects")), says("done"))))
    async with editor(coder) as opened:
        prompt = opened.prompt(await opened.new(coder), "go")
        (await opened.screen.next_asked()).choose("allow everything")
        told = await opened.screen.until("agent_message_chunk")
        [row] = [json.loads(line) for line in coder.run("asks", "--json").out.splitlines()]
        assert f"coder answer {row['ask']['id']}" in told["content"]["text"]
        answered = await asyncio.to_thread(coder.run, "answer", "--no-wait", row["ask"]["id"], "allow")
        assert answered.code == 0, answered.err
        assert (await prompt).stop_reason == "end_turn"
    assert (folder / "effects").read_text() == "one\n"


@story
async def test_two_editors_are_asked_and_the_first_answer_counts(
    coder_on: CoderOn, serve: Serve, folder: Path
) -> None:
    """Promise 4 and 6: the session is one, whoever has it open."""
    coder = coder_on(serve(script(proposes(bash("rm -rf a; echo one >> effects")), says("done"))))
    async with editor(coder) as one, editor(coder) as other:
        session = await one.new(coder)
        prompt = one.prompt(session, "go")
        asked = await one.screen.next_asked()
        await other.agent.load_session(cwd=str(folder), session_id=session, mcp_servers=[])
        (await other.screen.next_asked()).choose("y")
        await one.screen.until_told("$/cancel_request")
        asked.choose("n")
        assert (await prompt).stop_reason == "end_turn"
        for each in (one, other):
            await each.screen.until("agent_message_chunk", content={"type": "text", "text": "done"})
            assert [call["status"] for call in each.screen.calls().values()] == ["completed"]
        assert other.screen.text("user_message_chunk") == "go"
        told = [each.get("method") or each["result"] for each in one.screen.raw]
        begun = [each.get("params", {}).get("update", {}).get("status") for each in one.screen.raw]
        assert told.index("$/cancel_request") < begun.index("in_progress")
    assert (folder / "effects").read_text() == "one\n"
