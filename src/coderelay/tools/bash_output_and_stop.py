"""The `bash_output` and `bash_stop` tools: show new output and state of a background command, or end it."""

from msgspec import Struct

from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.ids import BackgroundId
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.workspace.processes.background_commands_interface import BackgroundStatus
from coderelay.workspace.workspace import Workspace


class WhichArguments(Struct, frozen=True, forbid_unknown_fields=True):
    id: str | int

    @property
    def number(self) -> BackgroundId:
        return BackgroundId(str(self.id).strip())


class BashOutput:
    spec = ToolSpec(
        name="bash_output",
        description="What a background command has written since you looked last, and whether it still runs.",
        parameters={
            "type": "object",
            "properties": {"id": {"type": "string", "description": "its number"}},
            "required": ["id"],
            "additionalProperties": False,
        },
        external_name="BashOutput",
        external_arguments={"id": "bash_id"},
        covered_by=("bash",),
        headline="id",
        chinese="查看后台命令自上次以来的输出，以及它是否仍在运行。",
    )
    arguments = WhichArguments

    def need(self, arguments: WhichArguments, workspace: Workspace) -> Need:
        return Need(tool="bash_output", kind="read", title=arguments.number)

    async def run(self, arguments: WhichArguments, workspace: Workspace) -> Finished:
        return shown(workspace.background().look(arguments.number), arguments.number)


def shown(look: BackgroundStatus, number: BackgroundId) -> Finished:
    told = look.told[:1].upper() + look.told[1:]
    output = look.output.rstrip("\n")
    return Finished(f"{told}.\n{output}".strip(), summary=look.told, over=number if look.over else None)


class BashStop:
    spec = ToolSpec(
        name="bash_stop",
        description="End a background command and everything it started.",
        parameters={
            "type": "object",
            "properties": {"id": {"type": "string", "description": "its number"}},
            "required": ["id"],
            "additionalProperties": False,
        },
        external_name="KillShell",
        external_arguments={"id": "shell_id"},
        covered_by=("bash",),
        headline="id",
        result_shown="summary",
        chinese="停止后台命令及其启动的一切。",
    )
    arguments = WhichArguments

    def need(self, arguments: WhichArguments, workspace: Workspace) -> Need:
        """Stopping needs no permission in any mode, because the command itself was allowed."""
        return Need(tool="bash_stop", kind="read", title=arguments.number)

    async def run(self, arguments: WhichArguments, workspace: Workspace) -> Finished:
        return shown(await workspace.background().stop(arguments.number), arguments.number)
