"""read: a text file, whole or a range of lines."""

from msgspec import Struct

from coderelay.protocol.calls import Finished, Need, ToolSpec
from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.workspace import Workspace

_LINES = 2000
_LINE_CHARS = 2000
_FILE_BYTES = 32 * 1024 * 1024


class ReadArguments(Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    offset: int = 1
    limit: int = _LINES


class Read:
    spec = ToolSpec(
        name="read",
        description="Read a text file. Lines come numbered. Long files come in parts: use offset and limit.",
        parameters={
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "relative to the workspace"},
                "offset": {"type": "integer", "description": "first line, from 1"},
                "limit": {"type": "integer", "description": f"how many lines, {_LINES} if left out"},
            },
            "required": ["path"],
            "additionalProperties": False,
        },
    )
    arguments = ReadArguments

    def need(self, arguments: ReadArguments, workspace: Workspace) -> Need:
        path = workspace.files.resolve(arguments.path)
        return Need(tool="read", kind="read", title=arguments.path, paths=(path,))

    async def run(self, arguments: ReadArguments, workspace: Workspace) -> Finished:
        if arguments.offset < 1 or arguments.limit < 1:
            raise ToolFailed("offset and limit start at 1")
        content, size = workspace.files.read(arguments.path, _FILE_BYTES)
        if b"\0" in content[:8192]:
            raise ToolFailed(f"{arguments.path} is a binary file of {size} bytes")
        lines = content.decode("utf-8", "replace").splitlines()
        first = arguments.offset - 1
        if first and first >= len(lines):
            raise ToolFailed(f"{arguments.path} has only {len(lines)} lines")
        part = lines[first : first + arguments.limit]
        last = first + len(part)
        shown = "\n".join(f"{number}\t{_cut(line)}" for number, line in enumerate(part, first + 1))
        more = f"\n(lines {first + 1}-{last} of {len(lines)}; go on with offset={last + 1})"
        return Finished(
            output=shown + (more if last < len(lines) else "") if lines else "(empty file)",
            summary=f"{len(part)} lines",
        )


def _cut(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}… ({len(line)} characters)"
