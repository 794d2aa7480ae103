"""bash: one command, run to its end in the workspace."""

import shutil

from msgspec import Struct

from coderelay.policy.rights import rights_of
from coderelay.protocol.calls import Finished, Need, ToolSpec
from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.processes import CannotStart, ProcessesLost
from coderelay.workspace.processes import Finished as Ended
from coderelay.workspace.workspace import Workspace

_SECONDS = 120
_MOST_SECONDS = 3600


class BashArguments(Struct, frozen=True, forbid_unknown_fields=True):
    command: str
    timeout: float = _SECONDS


class Bash:
    spec = ToolSpec(
        name="bash",
        description="Run a shell command in the workspace and return its output. No input is possible; "
        "whatever it leaves running is ended with it.",
        parameters={
            "type": "object",
            "properties": {
                "command": {"type": "string"},
                "timeout": {"type": "number", "description": f"seconds, {_SECONDS} if left out"},
            },
            "required": ["command"],
            "additionalProperties": False,
        },
    )
    arguments = BashArguments

    def need(self, arguments: BashArguments, workspace: Workspace) -> Need:
        if not arguments.command.strip():
            raise ToolFailed("the command is empty")
        return Need(tool="bash", kind="command", title=arguments.command, command=arguments.command)

    async def run(self, arguments: BashArguments, workspace: Workspace) -> Finished:
        shell = shutil.which("bash", path=workspace.environment.get("PATH")) or "/bin/bash"
        seconds = min(max(arguments.timeout, 0.1), _MOST_SECONDS)
        try:
            ended = await workspace.commands.run(
                [shell, "--noprofile", "--norc", "-c", arguments.command],
                rights=rights_of(arguments.command),
                seconds=seconds,
            )
        except CannotStart as error:
            raise ToolFailed(f"the command could not be started: {error}") from error
        except ProcessesLost as error:
            raise ToolFailed("the command was lost: it may have run; check before repeating it") from error
        trouble = _trouble(ended, seconds)
        if trouble:
            raise ToolFailed(f"{trouble}\n{_output(ended)}".strip())
        return Finished(output=_output(ended), summary=f"exit code 0, {ended.seconds:.1f} s")


def _trouble(ended: Ended, seconds: float) -> str:
    if ended.timed_out:
        return f"timed out after {seconds:g} s and was ended"
    if ended.signal is not None:
        return f"ended by signal {ended.signal}"
    return f"exit code {ended.exit_code}" if ended.exit_code else ""


def _output(ended: Ended) -> str:
    return ended.output.rstrip("\n")
