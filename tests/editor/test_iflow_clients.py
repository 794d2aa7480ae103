"""Clients made for iFlow on `coder acp --listen`: the published SDKs for Python and Node, and raw frames."""

import asyncio
import json
import logging
import shutil
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.editor.websocket_process import Frames, iflow, listening
from tests.house import story
from tests.model_server import ModelServerThread, bash, call, http_error, proposes, says, script, write
from tests.patience import PATIENCE

CoderOn = Callable[[ModelServerThread], Coder]
QUESTIONS = [{"question": "Which one?", "header": "One", "options": [{"label": "red"}, {"label": "blue"}]}]


async def opened(line: Frames, folder: Path, **settings: Any) -> str:
    wanted: dict[str, Any] = {
        "cwd": str(folder),
        "mcpServers": [],
        "settings": {"permission_mode": "yolo", **settings},
    }
    return (await line.ask(2, "session/new", **wanted))["result"]["sessionId"]


async def prompted(line: Frames, session: str, text: str = "go") -> None:
    prompt = [{"type": "text", "text": text}]
    await line.send(id=9, method="session/prompt", params={"sessionId": session, "prompt": prompt})


@story
async def test_a36_a_client_gets_tool_names_statuses_and_its_own_option_ids(
    coder_on: CoderOn, serve: Serve, folder: Path
) -> None:
    """A-35, X-45: the mode yolo that these clients send is no mode of theirs to choose."""
    coder = coder_on(serve(script(proposes(bash("rm -rf a; touch b"), text="Look."), says("done"))))
    async with listening(coder) as url, iflow(url) as line:
        assert (await line.ask(3, "authenticate", methodId="iflow"))["result"] == {"methodId": "iflow"}
        session = await opened(line, folder)
        await prompted(line, session)
        asked = await line.until(method="session/request_permission")
        params = asked["params"]
        assert params["toolCall"]["type"] == params["toolCall"]["kind"] == "execute"
        assert [each["optionId"] for each in params["options"]] == ["proceed_once", "proceed_always", "cancel", "s"]
        await line.send(id=asked["id"], result={"outcome": {"outcome": "selected", "optionId": "proceed_once"}})
        ended = await line.until(id=9)
        assert ended["result"] == {"stopReason": "end_turn"}
        [begun] = line.updates("tool_call")
        assert (begun["toolName"], begun["args"]) == ("bash", {"command": "rm -rf a; touch b"})
        assert {each["toolName"] for each in line.updates("tool_call_update")} == {"bash"}
        assert all("status" in each for each in line.updates("tool_call_update"))
        assert "".join(each["content"]["text"] for each in line.updates("agent_message_chunk")) == "Look.done"
    assert (folder / "b").exists()


@story
async def test_a47_questions_are_put_in_one_request_and_keyed_by_header(
    coder_on: CoderOn, serve: Serve, folder: Path
) -> None:
    server = serve(script(proposes(call("ask_user", questions=QUESTIONS)), says("thanks")))
    async with listening(coder_on(server)) as url, iflow(url) as line:
        await prompted(line, await opened(line, folder))
        asked = await line.until(method="_iflow/user/questions")
        [question] = asked["params"]["questions"]
        assert question == {
            "question": "Which one?",
            "header": "One",
            "options": [{"label": "red", "description": ""}, {"label": "blue", "description": ""}],
            "multiSelect": False,
        }
        await line.send(id=asked["id"], result={"answers": {"One": "blue"}})
        assert (await line.until(id=9))["result"] == {"stopReason": "end_turn"}
    assert "blue" in server.requests[1]["messages"][-1]["content"]


@story
async def test_a48_a_plan_is_approved_and_a_client_that_cannot_is_asked_for_permission(
    coder_on: CoderOn, serve: Serve, folder: Path
) -> None:
    plan = call("plan_exit", plan="1. look")
    coder = coder_on(serve(script(proposes(plan), says("on it"), proposes(plan), says("again"))))
    async with listening(coder) as url, iflow(url) as line:
        for knows in (True, False):
            session = await opened(line, folder, permission_mode="plan")
            await prompted(line, session)
            asked = await line.until(method="_iflow/plan/exit")
            assert asked["params"]["plan"] == "1. look"
            if knows:
                await line.send(id=asked["id"], result={"approved": True})
            else:
                await line.send(id=asked["id"], error={"code": -32601, "message": "unknown"})
                asked = await line.until(method="session/request_permission")
                outcome = {"outcome": "selected", "optionId": "default"}
                await line.send(id=asked["id"], result={"outcome": outcome})
            assert (await line.until(id=9))["result"] == {"stopReason": "end_turn"}
            assert line.updates("current_mode_update")[-1] == {
                "sessionUpdate": "current_mode_update",
                "currentModeId": "default",
            }


@story
async def test_a70_thinking_is_switched_and_the_model_changed(coder_on: CoderOn, serve: Serve, folder: Path) -> None:
    server = serve(script(says("one"), says("two")))
    async with listening(coder_on(server)) as url, iflow(url) as line:
        session = await opened(line, folder)
        assert (await line.ask(3, "session/set_model", sessionId=session, modelId="openai:gpt-5.5"))["result"] is None
        for enabled, effort in ((True, "medium"), (False, "none")):
            think = {"sessionId": session, "thinkEnabled": enabled, "thinkConfig": "think"}
            assert (await line.ask(4, "session/set_think", **think))["result"] is None
            await prompted(line, session)
            await line.until(id=9)
            assert server.requests[-1]["reasoning_effort"] == effort


@story
async def test_a_failed_turn_is_told_as_text_because_these_clients_would_wait_for_ever(
    coder_on: CoderOn, serve: Serve, folder: Path
) -> None:
    coder = coder_on(serve(script(http_error(401, "no such key"))))
    async with listening(coder) as url, iflow(url) as line:
        await prompted(line, await opened(line, folder))
        assert (await line.until(id=9))["result"] == {"stopReason": "end_turn"}
        assert "no such key" in line.updates("agent_message_chunk")[-1]["content"]["text"]


@pytest.fixture
def quiet_root_logger() -> Generator[None]:
    """The SDK configures the logging of the whole process."""
    root = logging.getLogger()
    before = list(root.handlers), root.level
    yield
    root.handlers[:], root.level = before


@story
async def test_a34_the_published_python_sdk_connects_asks_and_is_answered(
    coder_on: CoderOn, serve: Serve, folder: Path, quiet_root_logger: None
) -> None:
    """A-49: the program that uses the SDK gets every permission as a request, and answers it."""
    sdk = pytest.importorskip("iflow_sdk", reason="iflow-cli-sdk is not installed")
    server = serve(
        script(proposes(write("made.txt", "one\n"), text="I write. "), says("It is written."), says("Nothing."))
    )
    coder = coder_on(server)
    heard: list[str] = []
    tools: list[tuple[str, str]] = []
    async with listening(coder) as url:
        options = sdk.IFlowOptions(
            url=url,
            cwd=str(folder),
            auto_start_process=False,
            log_level="ERROR",
            session_settings=sdk.SessionSettings(append_system_prompt="Speak like a sailor."),
        )
        async with sdk.IFlowClient(options) as client:
            await client.send_message("write it")
            async with asyncio.timeout(PATIENCE):
                async for message in client.receive_messages():
                    match type(message).__name__:
                        case "AssistantMessage":
                            heard.append(message.chunk.text or "")
                        case "ToolConfirmationRequestMessage":
                            await client.respond_to_tool_confirmation(message.request_id, "proceed_once")
                        case "ToolCallMessage" | "ToolResultMessage":
                            tools.append((message.tool_name, str(message.status.value)))
                        case "TaskFinishMessage":
                            assert message.stop_reason.value == "end_turn"
                            break
                        case _:
                            pass
        again = sdk.IFlowOptions(
            url=url,
            cwd=str(folder),
            auto_start_process=False,
            log_level="ERROR",
            session_id=json.loads(coder.run("sessions", "list", "--json").out.splitlines()[0])["id"],
        )
        async with sdk.IFlowClient(again) as client:  # loads the session
            await client.send_message("and now?")
            async with asyncio.timeout(PATIENCE):
                async for message in client.receive_messages():
                    if type(message).__name__ == "TaskFinishMessage":
                        break
    assert [each["content"] for each in server.requests[2]["messages"] if each["role"] == "user"][-1].endswith(
        "and now?"
    )
    assert "".join(heard) == "I write. It is written."
    assert ("write", "completed") in tools
    assert (folder / "made.txt").read_text() == "one\n"
    assert "Speak like a sailor." in json.dumps(server.requests[0]["messages"])


NODE = """
import { IFlowClient } from "@iflow-ai/iflow-cli-sdk";
const client = new IFlowClient({ url: process.argv[2], cwd: process.argv[3], autoStartProcess: true,
  permissionMode: "auto", logLevel: "ERROR" });
await client.connect();
await client.sendMessage("write it");
let text = "", tools = [];
for await (const message of client.receiveMessages()) {
  if (message.type === "assistant") text += message.chunk.text ?? "";
  if (message.type === "tool_call") tools.push(message.status);
  if (message.type === "task_finish") break;
}
console.log(JSON.stringify({ text, tools }));
await client.disconnect();
process.exit(0);
"""


async def _install_node_sdk(folder: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("there is no npm")
    npm = await asyncio.create_subprocess_exec(
        *("npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), "@iflow-ai/iflow-cli-sdk@0.1.2"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(PATIENCE):
        said, _ = await npm.communicate()
    if npm.returncode != 0:
        pytest.skip(f"npm does not install @iflow-ai/iflow-cli-sdk: {said.decode(errors='replace')[-200:]}")


@story
async def test_a34_the_published_node_sdk_loses_no_piece_of_a_long_answer(
    coder_on: CoderOn, serve: Serve, folder: Path, tmp_path: Path
) -> None:
    """A-46: it loses frames that arrive together, so they are sent one by one."""
    await _install_node_sdk(tmp_path)
    words = [f"word{number}" for number in range(300)]
    coder = coder_on(serve(script(proposes(write("made.txt", "one\n")), says(" ".join(words)))))
    program = tmp_path / "client.mjs"
    program.write_text(NODE)
    async with listening(coder) as url:
        node = await asyncio.create_subprocess_exec(
            "node", str(program), url, str(folder), stdout=asyncio.subprocess.PIPE, cwd=tmp_path
        )
        async with asyncio.timeout(PATIENCE):
            out, _ = await node.communicate()
        assert node.returncode == 0
    said = json.loads(out.splitlines()[-1])
    assert said["text"].split() == words
    assert said["tools"][-1] == "completed"
    assert (folder / "made.txt").read_text() == "one\n"
