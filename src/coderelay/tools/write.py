"""write: a whole file."""

from msgspec import Struct

from coderelay.protocol.calls import Finished, Need, ToolSpec
from coderelay.workspace.workspace import Workspace


class WriteArguments(Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    content: str


class Write:
    spec = ToolSpec(
        name="write",
        description="Create a file or replace it whole. Missing folders are made.",
        parameters={
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "relative to the workspace"},
                "content": {"type": "string", "description": "the whole new content"},
            },
            "required": ["path", "content"],
            "additionalProperties": False,
        },
    )
    arguments = WriteArguments

    def need(self, arguments: WriteArguments, workspace: Workspace) -> Need:
        path = workspace.files.resolve(arguments.path)
        return Need(tool="write", kind="edit", title=arguments.path, paths=(path,))

    async def run(self, arguments: WriteArguments, workspace: Workspace) -> Finished:
        created = workspace.files.write(arguments.path, arguments.content.encode())
        done = "created" if created else "replaced"
        lines = len(arguments.content.splitlines())
        return Finished(
            output=f"{done} {arguments.path} ({lines} lines)",
            summary=f"{done}, {lines} lines",
            seen=(workspace.files.seen(arguments.path),),
        )
