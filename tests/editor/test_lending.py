"""What an editor lends to a session: text that is not saved, MCP servers, and folders."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import acp
from acp import schema

from tests.children.conversations import conversations, task
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.editor.acp_editor import Screen, editor
from tests.editor.websocket_process import frames, listening
from tests.editor.wire_process import initialized
from tests.house import story
from tests.mcp.mcp_scene import DOUBLE, until
from tests.model_server import ModelServerThread, bash, by_history, call, proposes, says, script
from tests.patience import PATIENCE

CoderOn = Callable[[ModelServerThread], Coder]
FILES = schema.ClientCapabilities(fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True))


class Buffers(Screen):
    """An editor with files that are open, and not all saved."""

    def __init__(self, **texts: str) -> None:
        super().__init__()
        self.texts = texts
        self.read: list[str] = []

    async def read_text_file(self, path: str, **_: Any) -> schema.ReadTextFileResponse:
        self.read.append(Path(path).name)
        if Path(path).name not in self.texts:
            raise acp.RequestError.resource_not_found(path)
        return schema.ReadTextFileResponse(content=self.texts[Path(path).name])

    async def write_text_file(self, path: str, content: str, **_: Any) -> schema.WriteTextFileResponse:
        if Path(path).name == "stubborn":
            raise acp.RequestError.internal_error()
        self.texts[Path(path).name] = content
        await asyncio.to_thread(Path(path).write_text, content)
        return schema.WriteTextFileResponse()


@story
async def test_a36_unsaved_text_of_the_editor_is_read_and_written_there(
    coder_on: CoderOn, serve: Serve, folder: Path
) -> None:
    """What the editor does not have open is read from the disk, and what it cannot write is written there."""
    for name in ("open", "closed", "stubborn"):
        (folder / name).write_text(f"{name} on disk\n")
    server = serve(
        script(
            proposes(call("read", path="open"), call("read", path="closed"), call("read", path="stubborn")),
            proposes(call("edit", path="open", old="unsaved", new="changed")),
            proposes(call("edit", path="stubborn", old="on disk", new="changed")),
            says("done"),
        )
    )
    coder = coder_on(server)
    coder.home.mkdir()
    (coder.home / "config.json").write_text('{"mode": "auto-edit", "workflow": {"auto_verify_after_edit": false}}')
    screen = Buffers(open="open and unsaved\n")
    async with editor(coder, screen, FILES) as opened:
        assert (await opened.prompt(await opened.new(coder), "go")).stop_reason == "end_turn"
    results = json.dumps(server.requests[1]["messages"])
    assert "open and unsaved" in results
    assert "open on disk" not in results
    assert "closed on disk" in results
    assert screen.texts["open"] == "open and changed\n"
    assert (folder / "stubborn").read_text() == "stubborn changed\n"


@story
async def test_another_process_that_runs_the_turn_does_not_see_unsaved_text(
    coder_on: CoderOn, serve: Serve, folder: Path
) -> None:
    os.mkfifo(folder / "gate")
    (folder / "open").write_text("on disk\n")
    server = serve(script(proposes(bash("echo begun; cat gate")), proposes(call("read", path="open")), says("done")))
    coder = coder_on(server)
    screen = Buffers(open="unsaved\n")
    other = coder.fork("coder", "-p", "wait, then read it", "--mode", "yolo")
    async with editor(coder, screen, FILES) as opened:
        async with asyncio.timeout(PATIENCE):
            while not (listed := (await opened.agent.list_sessions()).sessions):
                pass
            gate = await asyncio.to_thread(open, folder / "gate", "w")  # the command has begun to read
        await opened.agent.load_session(cwd=str(folder), session_id=listed[0].session_id, mcp_servers=[])
        told = await screen.until("agent_message_chunk")
        assert "does not see unsaved changes" in told["content"]["text"]
        gate.close()
        assert (await asyncio.to_thread(other.wait)).code == 0
    assert "on disk" in json.dumps(server.requests[2]["messages"])
    assert screen.read == []


SECRET = "correct-horse-42-battery"  # in no form that is known to be a key


@story
async def test_an_mcp_server_of_the_editor_is_asked_about_once_and_its_secrets_stay_out_of_the_log(
    coder_on: CoderOn, serve: Serve, folder: Path, tmp_path: Path
) -> None:
    server = serve(
        script(
            proposes(call("mcp__echo__echo", text="hello")),
            says("done"),
            says("second"),
        )
    )
    coder = coder_on(server)
    offered = schema.McpServerStdio(
        name="echo",
        command=sys.executable,
        args=[str(DOUBLE), "good", "--api-key", f"{SECRET}-1", f"--token={SECRET}-2"],
        env=[
            schema.EnvVariable(name="DOUBLE_NOTES", value=str(tmp_path / "notes")),
            schema.EnvVariable(name="PASSWORD", value=f"{SECRET}-3"),
        ],
    )
    async with editor(coder) as opened:
        made = await opened.agent.new_session(cwd=str(folder), mcp_servers=[offered])
        prompt = opened.prompt(made.session_id, "go")
        asked = await opened.screen.next_asked()
        assert asked.kinds == {"y": "allow_once", "n": "reject_once"}
        assert "MCP server echo" in (asked.tool_call.title or "")
        assert "mcp__echo__echo" not in json.dumps([each.get("tools") for each in server.requests])
        asked.choose("y")
        (await opened.screen.next_asked()).choose("y")  # the call itself
        assert (await prompt).stop_reason == "end_turn"
        assert "hello" in server.requests[1]["messages"][-1]["content"]
        await opened.prompt(made.session_id, "again")
        assert opened.screen.asked.empty()
    everything = b"".join(each.read_bytes() for each in coder.home.rglob("*") if each.is_file())
    assert b"MCP server" in everything or b"offer" in everything
    assert SECRET.encode() not in everything
    assert SECRET.encode() not in b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())


@story
async def test_a_server_ends_when_its_client_has_left(
    coder_on: CoderOn, serve: Serve, folder: Path, tmp_path: Path
) -> None:
    """The process that serves clients goes on."""
    notes = tmp_path / "notes"
    coder = coder_on(serve(script(says("done"))))
    given = {
        "name": "echo",
        "command": sys.executable,
        "args": [str(DOUBLE), "good"],
        "env": [{"name": "DOUBLE_NOTES", "value": str(notes)}],
    }
    async with listening(coder) as url:
        async with frames(url) as line:
            await line.ask(0, "initialize", protocolVersion=1)
            made = await line.ask(1, "session/new", cwd=str(folder), mcpServers=[given])
            prompt = {"sessionId": made["result"]["sessionId"], "prompt": [{"type": "text", "text": "go"}]}
            await line.send(id=2, method="session/prompt", params=prompt)
            asked = await line.until(method="session/request_permission")
            await line.send(id=asked["id"], result={"outcome": {"outcome": "selected", "optionId": "y"}})
            assert (await line.until(id=2))["result"] == {"stopReason": "end_turn"}
        pid = int(notes.read_text().split()[1])
        await until(lambda: not Path(f"/proc/{pid}").exists())
        async with frames(url) as line:
            assert "result" in await line.ask(0, "initialize", protocolVersion=1)


@story
async def test_a_server_that_is_refused_is_not_started(coder_on: CoderOn, serve: Serve, folder: Path) -> None:
    server = serve(script(says("one"), says("two")))
    coder = coder_on(server)
    started = folder / "started"
    offered = schema.McpServerStdio(name="evil", command="/bin/sh", args=["-c", f"touch {started}"], env=[])
    async with editor(coder) as opened:
        made = await opened.agent.new_session(cwd=str(folder), mcp_servers=[offered])
        prompt = opened.prompt(made.session_id, "go")
        (await opened.screen.next_asked()).choose("n")
        assert (await prompt).stop_reason == "end_turn"
        await opened.prompt(made.session_id, "again")
        assert opened.screen.asked.empty()
        assert opened.screen.text() == "onetwo"
    assert not started.exists()


@story
async def test_folders_that_a_program_names_are_asked_about(coder_on: CoderOn, serve: Serve, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("three lines\n")
    server = serve(script(proposes(call("read", path=str(other / "notes.txt"))), says("read")))
    coder = coder_on(server)
    async with initialized(coder) as line:
        wanted = {"add_dirs": [str(other), str(coder.cwd), "/nowhere"]}
        made = await line.ask(1, "session/new", cwd=str(coder.cwd), mcpServers=[], settings=wanted)
        session = made["result"]["sessionId"]
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}
        line.write({"id": 2, "method": "session/prompt", "params": prompt})
        async with asyncio.timeout(PATIENCE):
            while (said := await line.read()).get("method") != "session/request_permission":
                pass
        assert str(other) in said["params"]["toolCall"]["title"]
        outcome = {"outcome": {"outcome": "selected", "optionId": "y"}}
        line.write({"id": said["id"], "result": outcome})
        async with asyncio.timeout(PATIENCE):
            while (said := await line.read()).get("id") != 2 or "method" in said:
                assert said.get("method") != "session/request_permission"
        assert said["result"] == {"stopReason": "end_turn"}
    assert "three lines" in server.requests[1]["messages"][-1]["content"]


def _echo(tmp_path: Path, name: str = "echo") -> schema.McpServerStdio:
    notes = schema.EnvVariable(name="DOUBLE_NOTES", value=str(tmp_path / f"{name}.notes"))
    return schema.McpServerStdio(name=name, command=sys.executable, args=[str(DOUBLE), "good"], env=[notes])


CHILD = conversations(
    parent=[
        proposes(task("a task", "the child's work")),
        proposes(call("mcp__echo__echo", x="parent")),
        says("done"),
    ],
    children={"the child's work": [proposes(call("mcp__echo__echo", x="child")), says("child done")]},
)


@story
async def test_a_subagent_uses_the_servers_that_were_lent_to_its_parent(
    coder_on: CoderOn, serve: Serve, folder: Path, tmp_path: Path
) -> None:
    """Nobody is asked about them again, and they are not started again."""
    server = serve(by_history(CHILD))
    coder = coder_on(server)
    coder.home.mkdir()
    (coder.home / "config.json").write_text('{"mode": "auto-edit"}')
    async with editor(coder) as opened:
        made = await opened.agent.new_session(cwd=str(folder), mcp_servers=[_echo(tmp_path)])
        prompt = opened.prompt(made.session_id, "go")
        titles: list[str] = []
        for _ in range(3):
            asked = await opened.screen.next_asked()
            titles.append(asked.tool_call.title or "")
            asked.choose("y")
        assert (await prompt).stop_reason == "end_turn"
    assert "MCP server echo" in titles[0]
    assert ["echo" in each for each in titles] == [True] * 3
    assert '{\\"x\\": \\"child\\"}' in json.dumps([each["messages"][-1] for each in server.requests])
    assert (tmp_path / "echo.notes").read_text().count("started") == 1


@story
async def test_mcp_lists_what_a_client_lends_and_whether_it_may_be_used(
    coder_on: CoderOn, serve: Serve, folder: Path, tmp_path: Path
) -> None:
    coder = coder_on(serve(script(says("done"))))
    async with editor(coder) as opened:
        echo = _echo(tmp_path)
        echo.args += ["--token", SECRET]
        made = await opened.agent.new_session(cwd=str(folder), mcp_servers=[echo, _echo(tmp_path, "other")])
        await opened.prompt(made.session_id, "/mcp")
        lines = opened.screen.text().splitlines()
        assert [line.split()[:2] for line in lines] == [["echo", "offered"], ["other", "offered"]]
        prompt = opened.prompt(made.session_id, "go")
        (await opened.screen.next_asked()).choose("y")
        (await opened.screen.next_asked()).choose("n")
        await prompt
        await opened.prompt(made.session_id, "/mcp")
        told = opened.screen.text().partition("done")[2]
    assert "echo  running" in told
    assert "tools: " in told
    assert "other  refused" in told
    assert SECRET not in opened.screen.text()
