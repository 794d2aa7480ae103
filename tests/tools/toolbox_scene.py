"""One folder and the tools in it, used through the toolbox as the agent uses them."""

import json
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from coderelay.protocol.calls import Call, Failed, Finished, Need
from coderelay.protocol.ids import CallId
from coderelay.tools.bash import Bash
from coderelay.tools.edit import Edit
from coderelay.tools.glob import GlobFiles
from coderelay.tools.grep import Grep
from coderelay.tools.list_files import ListFilesTool
from coderelay.tools.patch import Patch
from coderelay.tools.read import Read
from coderelay.tools.tool import Tool
from coderelay.tools.toolbox import Toolbox
from coderelay.tools.write import Write
from coderelay.workspace.processes.command_runner import Processes
from coderelay.workspace.processes.environment import command_environment
from coderelay.workspace.workspace import Workspace
from tests.outcomes import in_english

TOOLS: list[Tool[Any]] = [Read(), ListFilesTool(), GlobFiles(), Grep(), Write(), Edit(), Patch(), Bash()]


class Scene:
    def __init__(self, workspace: Workspace, toolbox: Toolbox) -> None:
        self.workspace = workspace
        self._toolbox = toolbox

    async def outcome(self, tool: str, **arguments: Any) -> Finished | Failed:
        return in_english(await self._toolbox.run(_call(tool, arguments), self.workspace))

    async def run(self, tool: str, **arguments: Any) -> str:
        """What the model is told of a call that succeeds."""
        outcome = await self.outcome(tool, **arguments)
        assert isinstance(outcome, Finished), outcome
        return outcome.output

    async def summary(self, tool: str, **arguments: Any) -> str:
        outcome = await self.outcome(tool, **arguments)
        assert isinstance(outcome, Finished), outcome
        return outcome.summary

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Why a call fails."""
        outcome = await self.outcome(tool, **arguments)
        assert isinstance(outcome, Failed), outcome
        return outcome.message

    def need(self, tool: str, **arguments: Any) -> Need:
        return self._toolbox.need(_call(tool, arguments), self.workspace)


@asynccontextmanager
async def scene(
    root: Path, *, folders: Sequence[str] = (), path: str | None = None, tools: Sequence[Tool[Any]] = TOOLS
) -> AsyncGenerator[Scene]:
    """`path` is where programs are looked for, if not where they are for us."""
    processes = Processes()
    environment = command_environment(os.environ) | ({} if path is None else {"PATH": path})
    try:
        yield Scene(Workspace(str(root), processes, environment, folders=folders), Toolbox(tools))
    finally:
        await processes.close()


def lay_out(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def _call(tool: str, arguments: dict[str, Any]) -> Call:
    return Call(CallId("c"), tool, json.dumps(arguments))
