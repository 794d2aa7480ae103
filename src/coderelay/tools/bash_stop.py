"""bash_stop: end a background command and everything it started."""

from coderelay.protocol.calls import Finished, Need, ToolSpec
from coderelay.tools.bash_output import WhichArguments, shown
from coderelay.workspace.workspace import Workspace


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
        outside_name="KillShell",
        outside_arguments={"id": "shell_id"},
        covered_by=("bash",),
        headline="id",
        result_shown="summary",
        chinese="停止后台命令及其启动的一切。",
    )
    arguments = WhichArguments

    def need(self, arguments: WhichArguments, workspace: Workspace) -> Need:
        """Neither asked about nor denied in any mode: the command was allowed, its end needs no permission."""
        return Need(tool="bash_stop", kind="read", title=arguments.number)

    async def run(self, arguments: WhichArguments, workspace: Workspace) -> Finished:
        return shown(await workspace.background().stop(arguments.number), arguments.number)
