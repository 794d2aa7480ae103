"""The commands of one session, really confined: in a folder, with a home and a home of coder of their own."""

import asyncio
import os
import subprocess
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from coderelay.protocol.calls import Right
from coderelay.workspace.processes.command_runner import FinishedCommand, Processes, RunningCommand
from coderelay.workspace.processes.environment import command_environment
from coderelay.workspace.processes.session_command_runner import CommandContext, SessionCommandRunner
from coderelay.workspace.sandbox.sandbox_backend import SandboxBackend
from coderelay.workspace.sandbox.session_sandbox import IDLE_SECONDS, Sandbox


class Confined:
    def __init__(
        self, commands: SessionCommandRunner, sandbox: Sandbox, work: Path, home: Path, coder_home: Path
    ) -> None:
        self.commands = commands
        self.sandbox = sandbox
        self.work = work
        self.home = home
        self.coder_home = coder_home

    async def bash(
        self, script: str, *rights: Right, seconds: float = 90, output_bytes: int = 1 << 20
    ) -> FinishedCommand:
        return await self.commands.run(_argv(script), rights=rights, seconds=seconds, output_bytes=output_bytes)

    async def start(self, script: str) -> RunningCommand:
        return await self.commands.start(_argv(script))

    async def output(self, script: str, *rights: Right) -> str:
        """Of a command that succeeds."""
        finished = await self.bash(script, *rights)
        assert finished.exit_code == 0, finished
        return finished.output


def _argv(script: str) -> list[str]:
    return ["bash", "--noprofile", "--norc", "-c", script]


@asynccontextmanager
async def confined(
    root: Path,
    backend: SandboxBackend,
    *,
    home: Path | None = None,
    work: Path | None = None,
    env: Mapping[str, str] | None = None,
    idle_seconds: float = IDLE_SECONDS,
) -> AsyncGenerator[Confined]:
    work, home, coder_home = work or root / "work", home or root / "person", root / "coder"
    for folder in (work, home, coder_home):
        folder.mkdir(exist_ok=True)
    environment = command_environment(os.environ) | {"HOME": str(home)} | dict(env or {})
    sandbox = Sandbox(
        coder_home=str(coder_home),
        folders=(str(work),),
        environment=environment,
        backend=backend,
        idle_seconds=idle_seconds,
    )
    plain = Processes()
    commands = SessionCommandRunner(
        plain, environment, str(work), sandbox=lambda: sandbox, wanted=CommandContext, variables={}
    )
    try:
        yield Confined(commands, sandbox, work, home, coder_home)
    finally:
        await sandbox.close()
        await plain.close()


def make_repository(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    with (folder / ".git/config").open("a") as config:
        config.write("[user]\n\tname = Ada\n\temail = ada@example.org\n")


def git(folder: Path, *arguments: str) -> str:
    env = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(["git", *arguments], cwd=folder, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


async def eventually(claim: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < deadline, "this did not happen in time"
        await asyncio.sleep(0.005)
