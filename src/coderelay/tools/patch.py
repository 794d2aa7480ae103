"""The `patch` tool: applies a patch to several files at once, all or none."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.protocol.translatable import join_texts, say
from coderelay.tools.editing.edit_need import need_of
from coderelay.tools.editing.file_changes import (
    FileEdit,
    check_known,
    current_content,
    current_on_disk,
    make,
    summary_of,
    without_hidden_quotations,
)
from coderelay.tools.editing.text_encoding import TextFile, text_file
from coderelay.workspace.files.confined_files import FileContent
from coderelay.workspace.workspace import Workspace

if TYPE_CHECKING:
    from coderelay.tools.editing.patch_parser import FilePatch


class PatchArguments(Struct, frozen=True, forbid_unknown_fields=True):
    patch: str


def _outside_edits(arguments: dict[str, Any]) -> dict[str, Any]:
    """The patch as a list of edits, for other front ends. One of them knows a single file only and is shown the
    first."""
    from coderelay.tools.editing.patch_parser import Hunk, parse_patch  # loaded with the first patch

    patch = arguments.get("patch")
    try:
        files = parse_patch(patch) if isinstance(patch, str) else []
    except ToolFailed:
        files = []
    edits = [
        {"file_path": file.to or file.path, "old_string": "".join(hunk.old), "new_string": "".join(hunk.new)}
        for file in files
        for hunk in file.hunks or [Hunk()]
    ]
    return {"file_path": files[0].path if files else "", "edits": edits}


class Patch:
    spec = ToolSpec(
        name="patch",
        kind="edit",
        description="Change several files at once, all or none. A unified diff (--- a/file, +++ b/file, @@), or "
        "*** Begin Patch, then for each file *** Add File: path, *** Update File: path or *** Delete File: path, "
        "and *** End Patch. Lines begin with a space (stays), - (goes) or + (comes); those that stay or go must be "
        "exactly as in the file.",
        parameters={
            "type": "object",
            "properties": {"patch": {"type": "string"}},
            "required": ["patch"],
            "additionalProperties": False,
        },
        external_name="MultiEdit",
        external_extra=_outside_edits,
        covered_by=("edit",),
        rule_target="path",
        headline="",
        chinese="一次改动多个文件，全部成功或全部不改。",
        chinese_results={
            "the patch changes nothing": "补丁没有任何改动",
            "{path} already exists, so nothing can be moved there": "{path} 已存在，不能移动到那里",
            "{path} already exists; change it with an update": "{path} 已存在；请用 update 改动它",
        },
    )
    arguments = PatchArguments

    def need(self, arguments: PatchArguments, workspace: Workspace) -> Need:
        from coderelay.tools.editing.patch_parser import parse_patch

        patches = parse_patch(arguments.patch)
        paths = _paths(patches)

        def work_out() -> list[FileEdit]:
            return _changes(patches, {path: current_on_disk(path, workspace) for path in paths}, workspace)

        return need_of("patch", paths, work_out, workspace)

    async def run(self, arguments: PatchArguments, workspace: Workspace) -> Finished:
        from coderelay.tools.editing.patch_parser import parse_patch

        patches = parse_patch(arguments.patch)
        now = {path: await current_content(path, workspace) for path in _paths(patches)}
        changes = _changes(patches, now, workspace)
        lines = [_change_line(change, workspace) for change in changes]
        tally = summary_of(changes)
        seen = await make(changes, workspace)
        if any(each.mode for each in patches):
            lines.append("(modes are not changed by a patch; use chmod)")
        files = "1 file" if len(changes) == 1 else say("{count} files", count=len(changes))
        return Finished("\n".join(lines), join_texts(", ", (tally, files)), seen=seen)


def _paths(patches: "list[FilePatch]") -> list[str]:
    return list(dict.fromkeys(path for each in patches for path in (each.path, each.to) if path))


def _changes(
    patches: "list[FilePatch]", now: Mapping[str, FileContent | None], workspace: Workspace
) -> list[FileEdit]:
    """Compute the changes in memory. Parts about the same file are applied one after the other; the file then changes
    once."""
    locate = workspace.disk.locate
    changes: dict[str, FileEdit] = {}
    for patch in patches:
        path, before = locate(patch.path), now[patch.path]
        earlier = changes.get(path)
        if before is not None:
            check_known(path, before, workspace)
        if patch.to and (now[patch.to] is not None or locate(patch.to) in changes):
            raise ToolFailed(say("{path} already exists, so nothing can be moved there", path=patch.to))
        so_far = earlier.after if earlier is not None else before and before.data
        with without_hidden_quotations(path, workspace):
            after = _patched(patch, so_far, workspace.disk.relative(path))
        to = locate(patch.to) if patch.to else earlier.to if earlier is not None else ""
        changes[path] = FileEdit(path, before, after, to)
    made = [each for each in changes.values() if each.to or (each.before and each.before.data) != each.after]
    if not made:
        raise ToolFailed("the patch changes nothing")
    return made


def _patched(patch: "FilePatch", data: bytes | None, shown: str) -> bytes | None:
    from coderelay.tools.editing.apply_hunks import apply_hunks

    if patch.kind == "add":
        if data is not None:
            raise ToolFailed(say("{path} already exists; change it with an update", path=shown))
        return apply_hunks("", patch.hunks, shown).encode()
    if data is None:
        raise ToolFailed(say("{path} does not exist", path=shown))
    if patch.kind == "delete" and not patch.hunks:
        return None
    file = text_file(data)
    if file is None:
        raise ToolFailed(say("{path} is a binary file", path=shown))
    text = apply_hunks(file.text, patch.hunks, shown)
    if patch.kind == "update":
        return _encoded(file, text, shown)
    if text:
        raise ToolFailed(say("the patch deletes {path} but does not list all of its lines", path=shown))
    return None


def _encoded(file: TextFile, text: str, shown: str) -> bytes:
    try:
        return file.encode(text)
    except UnicodeEncodeError as error:
        raise ToolFailed(
            say(
                "{path} is {encoding}, which has no {character}",
                path=shown,
                encoding=file.note,
                character=repr(text[error.start]),
            )
        ) from error


def _change_line(change: FileEdit, workspace: Workspace) -> str:
    shown = workspace.disk.relative(change.path)
    added, removed = change.tally()
    if change.before is None:
        return f"created {shown} (+{added})"
    if change.after is None:
        return f"deleted {shown} (-{removed})"
    moved = f"moved {shown} to {workspace.disk.relative(change.to)}" if change.to else f"edited {shown}"
    return f"{moved} (+{added} -{removed})"
