"""What all tools have in common, and bash."""

import os
from pathlib import Path
from typing import Any

import pytest

from coderelay.protocol.calls import Call, Failed, Finished
from coderelay.protocol.ids import CallId
from coderelay.tools.read import Read
from coderelay.tools.tool import Tool
from coderelay.tools.toolbox import Toolbox
from coderelay.workspace.processes.command_runner import Processes
from coderelay.workspace.workspace import Workspace
from tests.house import story
from tests.outcomes import in_english
from tests.tools.toolbox_scene import TOOLS, scene


@pytest.mark.quick
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.spec.name)
def test_the_schema_says_what_the_arguments_are(tool: Tool[Any]) -> None:
    parameters = tool.spec.parameters
    fields = tool.arguments.__struct_fields__
    defaults = tool.arguments.__struct_defaults__
    assert tuple(parameters["properties"]) == fields
    assert tuple(parameters["required"]) == fields[: len(fields) - len(defaults)]
    assert parameters["additionalProperties"] is False


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "link/secret", "~/x", "a/../../secret"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read", {}),
        ("list", {}),
        ("glob", {"pattern": "*"}),
        ("grep", {"pattern": "s"}),
        ("write", {"content": "x"}),
        ("edit", {"old": "s", "new": "x"}),
    ],
)
def test_x17_c10_no_tool_leaves_the_workspace(
    tmp_path: Path, tool: str, arguments: dict[str, Any], path: str
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("s")
    (root / "link").symlink_to(tmp_path)

    @story
    async def check() -> None:
        async with scene(root) as here:
            assert "outside the workspace" in await here.refused(tool, path=path, **arguments)

    check()
    assert (tmp_path / "secret").read_text() == "s"


@pytest.mark.quick
@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "link/secret"])
@story
async def test_x17_no_patch_leaves_the_workspace(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("s\n")
    (root / "link").symlink_to(tmp_path)
    (root / "inside").write_text("s\n")
    envelope = "*** Begin Patch\n*** {} File: {}\n{}*** End Patch\n"
    patches = [
        envelope.format("Update", path, "-s\n+t\n"),
        envelope.format("Delete", path, ""),
        envelope.format("Update", "inside", f"*** Move to: {path}.new\n"),
    ]
    async with scene(root) as here:
        for patch in patches:
            assert "outside the workspace" in await here.refused("patch", patch=patch)
            assert "outside the workspace" in (here.need("patch", patch=patch).problem or "")
    assert (tmp_path / "secret").read_text() == "s\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["root", "secret"]


@pytest.mark.quick
@story
async def test_a_second_folder_of_the_session_is_used_like_the_first(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    (other / "f.txt").write_text("one\n")
    file = str(other / "f.txt")
    async with scene(root, folders=[str(other)]) as here:
        assert await here.run("read", path=file) == "1\tone"
        assert await here.run("glob", pattern="*.txt", path=str(other)) == file
        assert await here.run("grep", pattern="one", path=str(other)) == f"{file}:1:one"
        assert await here.run("list", path=str(other)) == "f.txt  4 B"
        assert await here.run("edit", path=file, old="one", new="two") == f"edited {file} (+1 -1)"
    assert (other / "f.txt").read_text() == "two\n"


@pytest.mark.quick
@story
async def test_bad_arguments_are_told_with_those_there_are(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        assert await here.refused("edit", path="a", old_string="x") == (
            "bad arguments for edit: Object contains unknown field `old_string`; it takes path, old, new, all"
        )
        assert await here.refused("patch", patch=1) == (
            "bad arguments for patch: Expected `str`, got `int` - at `$.patch`; it takes patch"
        )


@pytest.mark.quick
@story
async def test_bash_gives_output_exit_code_and_folder(tmp_path: Path) -> None:
    async with scene(tmp_path) as here:
        assert await here.run("bash", command="echo out; echo err >&2; pwd") == f"out\nerr\n{tmp_path}"
        assert await here.refused("bash", command="echo no; exit 3") == "exit code 3\nno"
        assert await here.refused("bash", command="kill -9 $$") == "ended by signal 9"
        assert await here.refused("bash", command="sleep 60", timeout=0.2) == "timed out after 0.2 s and was ended"
        assert here.need("bash", command=" ").problem == "the command is empty"


@pytest.mark.quick
@story
async def test_x41_commands_do_not_see_keys(tmp_path: Path) -> None:
    os.environ["OPENAI_API_KEY"] = "sk-secret"
    try:
        async with scene(tmp_path) as here:
            seen = await here.run("bash", command="env")
    finally:
        del os.environ["OPENAI_API_KEY"]
    assert "sk-secret" not in seen
    assert "PATH=" in seen


@pytest.mark.quick
@story
async def test_a_broken_tool_does_not_end_the_turn(tmp_path: Path) -> None:
    class Broken(Read):
        async def run(self, arguments: Any, workspace: Workspace) -> Finished:
            raise ZeroDivisionError("oh")

    workspace = Workspace(str(tmp_path), Processes(), {})
    outcome = await Toolbox([Broken()]).run(Call(CallId("c"), "read", '{"path": "x"}'), workspace)
    assert in_english(outcome) == Failed("read failed: ZeroDivisionError: oh")
