"""Runs the commands of one session: inside or outside of its sandbox, with its environment and working folder."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from coderelay.protocol.calls import Right
from coderelay.workspace.processes.command_runner import (
    CannotStart,
    FinishedCommand,
    LaunchContext,
    OnOutput,
    Processes,
    RunningCommand,
)
from coderelay.workspace.processes.disk_space_watch import FREE_BYTES
from coderelay.workspace.sandbox.sandbox_backend import SandboxBackend

if TYPE_CHECKING:
    from coderelay.workspace.sandbox.guarded_file_restore import Restored
    from coderelay.workspace.sandbox.session_sandbox import Sandbox  # loaded with the first command


class CommandContext(Struct, frozen=True):
    """The session's current settings for commands: whether they are confined, and whether they get the network."""

    confined: bool = True
    network: bool = False


class SessionCommandRunner:
    """Runs commands for one session, confined as its settings and the rights of each command say."""

    def __init__(
        self,
        processes: Processes,
        environment: Mapping[str, str],
        cwd: str,
        *,
        sandbox: Callable[[], Sandbox] | None,
        wanted: Callable[[], CommandContext],
        variables: Mapping[str, str],
    ) -> None:
        """Without a sandbox, commands run unconfined in `processes`. `wanted` is called for each command. All
        commands get the `variables`, wherever they run."""
        self._variables = variables
        self._processes = processes
        self._environment = environment
        self._cwd = cwd
        self._open = sandbox
        self._wanted = wanted
        self._heard: OnOutput | None = None

    def at(self, cwd: str) -> SessionCommandRunner:
        there = copy(self)
        there._cwd = cwd
        return there

    def with_output_listener(self, listener: OnOutput) -> SessionCommandRunner:
        """A copy whose commands pass their output to `listener` until they end."""
        there = copy(self)
        there._heard = listener
        return there

    @property
    def backend(self) -> SandboxBackend:
        """How a command without any rights would be confined now. The first call may wait while that is tried out."""
        sandbox = self._sandbox()
        return "none" if sandbox is None else sandbox.backend

    async def run(
        self,
        argv: Sequence[str],
        *,
        rights: Collection[Right] = (),
        seconds: float,
        output_bytes: int = 1 << 20,
        free_bytes: int = FREE_BYTES,
    ) -> FinishedCommand:
        """Run a command to its end, as `Processes.run` does."""
        sandbox = self._sandbox()
        try:
            async with self._place(rights, sandbox) as place:
                finished = await place.processes.run(
                    argv,
                    cwd=self._cwd,
                    env=place.environment,
                    seconds=seconds,
                    output_bytes=output_bytes,
                    on_output=self._heard,
                    writable_folders=(self._cwd, place.temporary),
                    free_bytes=free_bytes,
                )
        except CannotStart as error:
            if sandbox is not None and error.what == "sandbox":
                sandbox.forget_backend()
            raise
        told = "" if sandbox is None else _restored_text(await sandbox.restore())
        return replace(finished, output=finished.output + told) if told else finished

    async def start(
        self,
        argv: Sequence[str],
        *,
        rights: Collection[Right] = (),
        output_bytes: int = 1 << 20,
        free_bytes: int = FREE_BYTES,
    ) -> RunningCommand:
        """Start a command and let it run on, as `Processes.start` does."""
        async with self._place(rights, self._sandbox()) as place:
            return await place.processes.start(
                argv,
                cwd=self._cwd,
                env=place.environment,
                output_bytes=output_bytes,
                writable_folders=(self._cwd, place.temporary),
                free_bytes=free_bytes,
            )

    @asynccontextmanager
    async def _place(self, rights: Collection[Right], sandbox: Sandbox | None) -> AsyncGenerator[LaunchContext]:
        if sandbox is None or "outside" in rights or sandbox.backend == "none":
            temporary = self._environment.get("TMPDIR", "/tmp")
            yield LaunchContext(self._processes, {**self._environment, **self._variables}, temporary)
            return
        async with sandbox.entered(network="network" in rights or self._wanted().network) as place:
            yield replace(place, environment={**place.environment, **self._variables})

    def _sandbox(self) -> Sandbox | None:
        return self._open() if self._open is not None and self._wanted().confined else None


def _restored_text(restored: Restored) -> str:
    told = ""
    if restored.paths:
        told += (
            f"\n[Put back as it was or moved aside, since commands may not change it: {', '.join(restored.paths)}\n"
            "What was moved aside is beside it, called NAME.moved-XXXXXXXX; do not commit that it is missing. "
            "If the project needs it, run the command again as `CODER_SANDBOX=0 COMMAND`; the person is asked.]\n"
        )
    if restored.unchecked:
        told += "\n[There are too many folders to look for new git repositories in all of them.]\n"
    return told
