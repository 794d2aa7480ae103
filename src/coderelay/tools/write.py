"""The `write` tool: creates a file or replaces its whole content."""

from msgspec import Struct

from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.protocol.translatable import say
from coderelay.tools.editing.edit_need import need_of
from coderelay.tools.editing.file_changes import (
    FileEdit,
    check_known,
    current_content,
    current_on_disk,
    make,
    summary_of,
)
from coderelay.tools.editing.text_encoding import lines_of, text_file
from coderelay.workspace.files.confined_files import FileContent
from coderelay.workspace.workspace import Workspace

_UNREAD = (
    "{path} exists and you have not read it; write replaces the whole file, so read it first and repeat what stays, "
    "or change a part with edit"
)


class WriteArguments(Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    content: str


class Write:
    spec = ToolSpec(
        name="write",
        kind="edit",
        description="Create a file, or replace one that you have read. Missing folders are made. "
        "To change a part of a file, use edit.",
        parameters={
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "relative to the workspace"},
                "content": {"type": "string", "description": "the whole new content"},
            },
            "required": ["path", "content"],
            "additionalProperties": False,
        },
        external_name="Write",
        external_arguments={"path": "file_path"},
        covered_by=("edit",),
        rule_target="path",
        for_small_models=True,
        headline="path",
        chinese="创建文件，或替换已读过的文件。",
        chinese_results={
            "created, 1 line": "已创建，1 行",
            "created, {count} lines": "已创建，{count} 行",
            _UNREAD: "{path} 已存在但尚未读过；write 会替换整个文件，请先读取并保留其余内容，或用 edit 改动一部分",
        },
    )
    arguments = WriteArguments

    def need(self, arguments: WriteArguments, workspace: Workspace) -> Need:
        def work_out() -> list[FileEdit]:
            return [_change(arguments, current_on_disk(arguments.path, workspace), workspace)]

        return need_of("write", [arguments.path], work_out, workspace)

    async def run(self, arguments: WriteArguments, workspace: Workspace) -> Finished:
        change = _change(arguments, await current_content(arguments.path, workspace), workspace)
        shown = workspace.disk.relative(change.path)
        seen = await make([change], workspace)
        lines = len(lines_of(arguments.content))
        ending = "" if lines == 1 else "s"
        if change.before is None:
            summary = "created, 1 line" if lines == 1 else say("created, {count} lines", count=lines)
            return Finished(f"created {shown} ({lines} line{ending})", summary, seen=seen)
        return Finished(f"replaced {shown} ({lines} line{ending})", summary_of([change]), seen=seen)


def _change(arguments: WriteArguments, before: FileContent | None, workspace: Workspace) -> FileEdit:
    path = workspace.disk.locate(arguments.path)
    if before is not None:
        shown = workspace.disk.relative(path)
        if workspace.known.never_read(path):
            raise ToolFailed(say(_UNREAD, path=shown))
        check_known(path, before, workspace)
    return FileEdit(path, before, _encoded(arguments.content, before))


def _encoded(content: str, before: FileContent | None) -> bytes:
    """Keep the file's encoding and its CRLF line endings, unless the new content has carriage returns of its own or
    characters that the encoding lacks."""
    was = None if before is None else text_file(before.data)
    if was is None:
        return content.encode()
    lines = was.text.count("\n")
    if lines and "\r" not in content and was.text.count("\r\n") == lines:
        content = content.replace("\n", "\r\n")
    try:
        return was.encode(content)
    except UnicodeEncodeError:
        return content.encode()
