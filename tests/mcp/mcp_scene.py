"""A folder with MCP servers as the agent has them: their tools in a toolbox."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from coderelay.config.settings import McpServerConfig
from coderelay.http.model_server_client import HttpClient
from coderelay.tools.mcp.folder_servers import McpServers
from coderelay.tools.mcp.restarting_server import ServerLimits
from coderelay.tools.toolbox import Toolbox
from coderelay.workspace.processes.command_runner import Processes
from coderelay.workspace.processes.environment import command_environment
from coderelay.workspace.workspace import Workspace
from tests.patience import PATIENCE
from tests.tools.toolbox_scene import Scene

DOUBLE = Path(__file__).with_name("stdio_double.py")
PATIENT = ServerLimits(step_wait_seconds=60.0, start=60.0, answer=60.0, ping=60.0)
P = ParamSpec("P")


def in_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """What fails unseen in the background fails the test."""

    async def watched(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: unseen.append(context))
        await test(*args, **kwargs)

    unseen: list[dict[str, Any]] = []

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        unseen.clear()
        asyncio.run(watched(*args, **kwargs))
        assert unseen == []

    return run


class Clock:
    """Time that passes when the test says so, besides the real one."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._ahead = 0.0
        real = loop.time
        loop.time = lambda: real() + self._ahead  # what every timer of the loop goes by

    def advance(self, seconds: float) -> None:
        self._ahead += seconds


class McpScene:
    def __init__(self, servers: McpServers, workspace: Workspace, notes: Path) -> None:
        self.servers = servers
        self._workspace = workspace
        self._notes = notes

    @property
    def tools(self) -> Scene:
        """As they are now."""
        return Scene(self._workspace, Toolbox(self.servers.tools))

    @property
    def names(self) -> list[str]:
        return [each.spec.name for each in self.servers.tools]

    def said(self) -> list[str]:
        """What the doubles noted for the test."""
        return self._notes.read_text().splitlines() if self._notes.exists() else []

    async def until_said(self, text: str) -> None:
        await until(lambda: any(text in line for line in self.said()))

    def pids(self) -> list[int]:
        return [int(line.split()[1]) for line in self.said() if line.startswith("started")]


@asynccontextmanager
async def mcp_scene(
    root: Path,
    *kinds: str,
    settings: Mapping[str, McpServerConfig] | None = None,
    limits: ServerLimits | None = None,
) -> AsyncGenerator[McpScene]:
    """Doubles of these kinds, each by its own name, and servers with other `settings`."""
    notes = root / "notes.txt"
    processes = Processes()
    environment = command_environment(os.environ)
    servers = McpServers(
        {kind: double(kind, notes) for kind in kinds} | dict(settings or {}),
        folders=[str(root)],
        environment=environment,
        processes=processes,
        open_http=lambda origin: HttpClient(origin, env={}),
        variables={},
        limits=limits or PATIENT,
    )
    try:
        await servers.ready()
        yield McpScene(servers, Workspace(str(root), processes, environment), notes)
    finally:
        await servers.close()
        await processes.close()


def double(kind: str, notes: Path) -> McpServerConfig:
    return McpServerConfig(command=sys.executable, args=(str(DOUBLE), kind), env={"DOUBLE_NOTES": str(notes)})


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - another process brings it about
            await asyncio.sleep(0.01)


def until_now(condition: Callable[[], bool]) -> None:
    """The same where there is no loop."""
    asyncio.run(until(condition))


def is_running(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
