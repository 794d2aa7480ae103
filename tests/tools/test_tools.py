"""read, write and bash, each through the toolbox as the agent uses it."""

import json
import os
import stat
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from coderelay.protocol.calls import Call, Failed, Finished
from coderelay.protocol.ids import CallId
from coderelay.testing.house import story
from coderelay.tools.bash import Bash
from coderelay.tools.read import Read
from coderelay.tools.tool import Tool
from coderelay.tools.toolbox import Toolbox
from coderelay.tools.write import Write
from coderelay.workspace.environment import command_environment
from coderelay.workspace.files import Files
from coderelay.workspace.processes import Processes
from coderelay.workspace.workspace import Workspace

pytestmark = pytest.mark.quick

TOOLS: list[Tool[Any]] = [Read(), Write(), Bash()]


@asynccontextmanager
async def toolbox(root: Path) -> AsyncGenerator[Callable[..., Any], None]:
    processes = Processes()
    workspace = Workspace(str(root), processes, command_environment(os.environ))
    box = Toolbox(TOOLS)

    async def run(name: str, **arguments: Any) -> Finished | Failed:
        return await box.run(Call(CallId("c"), name, json.dumps(arguments)), workspace)

    try:
        yield run
    finally:
        await processes.close()


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.spec.name)
def test_the_schema_says_what_the_arguments_are(tool: Tool[Any]) -> None:
    parameters = tool.spec.parameters
    fields = tool.arguments.__struct_fields__
    defaults = tool.arguments.__struct_defaults__
    assert tuple(parameters["properties"]) == fields
    assert tuple(parameters["required"]) == fields[: len(fields) - len(defaults)]
    assert parameters["additionalProperties"] is False


@story
async def test_read_numbers_lines_and_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("".join(f"line {n}\n" for n in range(1, 6)))
    async with toolbox(tmp_path) as run:
        seen = Files(str(tmp_path)).seen("f")
        assert await run("read", path="f", offset=4) == Finished("4\tline 4\n5\tline 5", "2 lines", seen=(seen,))
        part = await run("read", path="f", limit=2)
        assert part.output == "1\tline 1\n2\tline 2\n(lines 1-2 of 5; go on with offset=3)"
        assert await run("read", path="f", offset=9) == Failed("f has only 5 lines", "f has only 5 lines")


@story
async def test_read_cuts_long_files_and_lines(tmp_path: Path) -> None:
    (tmp_path / "many").write_text("x\n" * 3000)
    (tmp_path / "long").write_text("y" * 5000)
    (tmp_path / "empty").write_text("")
    async with toolbox(tmp_path) as run:
        assert "go on with offset=2001" in (await run("read", path="many")).output
        assert (await run("read", path="long")).output.endswith("… (5000 characters)")
        assert (await run("read", path="empty")).output == "(empty file)"


@story
async def test_read_refuses_what_is_not_text_or_not_a_file(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\x7fELF\0\0")
    os.mkfifo(tmp_path / "fifo")
    async with toolbox(tmp_path) as run:
        assert "binary file" in (await run("read", path="binary")).message
        assert "not a regular file" in (await run("read", path="fifo")).message
        assert "is a folder" in (await run("read", path=".")).message
        assert "No such file" in (await run("read", path="missing")).message
        assert "NUL" in (await run("read", path="a\0b")).message


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "link/secret", "~/x", "a/../../secret"])
def test_c10_no_tool_leaves_the_workspace(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("s")
    (root / "link").symlink_to(tmp_path)

    @story
    async def check() -> None:
        async with toolbox(root) as run:
            assert "outside the workspace" in (await run("read", path=path)).message
            assert "outside the workspace" in (await run("write", path=path, content="x")).message

    check()
    assert (tmp_path / "secret").read_text() == "s"


@story
async def test_write_creates_folders_replaces_whole_and_keeps_the_mode(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("old")
    script.chmod(0o755)
    async with toolbox(tmp_path) as run:
        assert (await run("write", path="a/b/c.txt", content="one\ntwo\n")).output == "created a/b/c.txt (2 lines)"
        assert (await run("write", path="run.sh", content="new")).output == "replaced run.sh (1 lines)"
    assert (tmp_path / "a/b/c.txt").read_text() == "one\ntwo\n"
    assert (script.read_text(), stat.S_IMODE(script.stat().st_mode)) == ("new", 0o755)
    assert sorted(each.name for each in tmp_path.rglob("*.tmp")) == []


@story
async def test_x36_tools_do_not_write_into_our_own_folder(tmp_path: Path) -> None:
    async with toolbox(tmp_path) as run:
        assert "belongs to coder" in (await run("write", path=".coder/config.json", content="{}")).message
        assert "belongs to coder" in (await run("write", path="sub/../.coder/x", content="{}")).message
        assert "directory" in (await run("write", path=".", content="x")).message
    assert list(tmp_path.iterdir()) == []


@story
async def test_bash_gives_output_exit_code_and_folder(tmp_path: Path) -> None:
    async with toolbox(tmp_path) as run:
        assert (await run("bash", command="echo out; echo err >&2; pwd")).output == f"out\nerr\n{tmp_path}"
        assert (await run("bash", command="echo no; exit 3")).message == "exit code 3\nno"
        assert (await run("bash", command="kill -9 $$")).message == "ended by signal 9"
        assert (await run("bash", command="sleep 60", timeout=0.2)).message == "timed out after 0.2 s and was ended"
        assert (
            "command is empty"
            in Toolbox(TOOLS)
            .need(Call(CallId("c"), "bash", '{"command": " "}'), Workspace(str(tmp_path), Processes(), {}))
            .problem
        )  # type: ignore[operator]


@story
async def test_x41_commands_do_not_see_keys(tmp_path: Path) -> None:
    os.environ["OPENAI_API_KEY"] = "sk-secret"
    try:
        async with toolbox(tmp_path) as run:
            seen = (await run("bash", command="env")).output
    finally:
        del os.environ["OPENAI_API_KEY"]
    assert "sk-secret" not in seen
    assert "PATH=" in seen


@story
async def test_a_broken_tool_does_not_end_the_turn(tmp_path: Path) -> None:
    class Broken(Read):
        async def run(self, arguments: Any, workspace: Workspace) -> Finished:
            raise ZeroDivisionError("oh")

    workspace = Workspace(str(tmp_path), Processes(), {})
    outcome = await Toolbox([Broken()]).run(Call(CallId("c"), "read", '{"path": "x"}'), workspace)
    assert outcome == Failed("read failed: ZeroDivisionError: oh")
