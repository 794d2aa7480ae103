"""The commands of one session: where they run, and what they see."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from coderelay.protocol.calls import Right
from coderelay.workspace.processes import Finished, Processes

Rung = Literal["bubblewrap", "sandlock", "none"]


class Commands:
    def __init__(self, processes: Processes, environment: Mapping[str, str], cwd: str) -> None:
        self.rung: Rung = "none"
        self._processes = processes
        self._environment = environment
        self._cwd = cwd

    async def run(
        self, argv: Sequence[str], *, rights: Collection[Right] = (), seconds: float, output_bytes: int = 1 << 20
    ) -> Finished:
        """To its end, as `Processes.run` does it."""
        return await self._processes.run(
            argv, cwd=self._cwd, env=self._environment, seconds=seconds, output_bytes=output_bytes
        )
