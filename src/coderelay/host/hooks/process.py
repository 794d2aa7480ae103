"""A hook as a process: the person's own program, outside of the sandbox, with an end to its time and its words."""

from collections.abc import Mapping

from msgspec.structs import replace

from coderelay.host.hooks.hook import Hook
from coderelay.host.hooks.hook_output import Said, understand
from coderelay.protocol.translatable import say
from coderelay.workspace.processes.environment import person_environment
from coderelay.workspace.processes.processes import CannotStart, Processes, ProcessesLost
from coderelay.workspace.processes.run_with_input import run_piped

_OUTPUT_BYTES = 256 * 1024


class HookProcesses:
    def __init__(self, processes: Processes, environment: Mapping[str, str]) -> None:
        self._processes = processes
        self._environment = person_environment(environment)

    async def run(self, hook: Hook, told: bytes, cwd: str) -> Said:
        try:
            piped = await run_piped(
                self._processes,
                hook.command,
                told,
                cwd=cwd,
                env=self._environment | {"CODER_PROJECT_DIR": cwd, "CLAUDE_PROJECT_DIR": cwd},
                seconds=hook.seconds,
                output_bytes=_OUTPUT_BYTES,
            )
        except (CannotStart, ProcessesLost, OSError) as error:
            return Said(trouble=f"it could not be run: {error}")
        ended = piped.ended
        if ended.timed_out:
            return Said(trouble=f"it did not end within {hook.seconds:g} s")
        if ended.exit_code is None:
            return Said(trouble=say("ended by signal {number}", number=ended.signal))
        if ended.omitted_bytes:
            said = understand(ended.exit_code, "", piped.errors)
            return said if said.verdict else replace(said, trouble=said.trouble or "it wrote too much")
        return understand(ended.exit_code, ended.output, piped.errors)
