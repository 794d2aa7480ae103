"""patch: changes to several files at once, all or none."""

from collections.abc import Mapping

from msgspec import Struct

from coderelay.protocol.calls import Finished, Need, ToolSpec
from coderelay.protocol.errors import ToolFailed
from coderelay.tools.changes import Change, check_known, current, current_on_disk, make, quoting, summed_up
from coderelay.tools.hunks import apply_hunks
from coderelay.tools.patch_format import FilePatch, parse_patch
from coderelay.tools.preview import need_of
from coderelay.tools.text_file import TextFile, text_file
from coderelay.workspace.disk import Content
from coderelay.workspace.workspace import Workspace


class PatchArguments(Struct, frozen=True, forbid_unknown_fields=True):
    patch: str


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
    )
    arguments = PatchArguments

    def need(self, arguments: PatchArguments, workspace: Workspace) -> Need:
        patches = parse_patch(arguments.patch)
        paths = _paths(patches)

        def work_out() -> list[Change]:
            return _changes(patches, {path: current_on_disk(path, workspace) for path in paths}, workspace)

        return need_of("patch", paths, work_out, workspace)

    async def run(self, arguments: PatchArguments, workspace: Workspace) -> Finished:
        patches = parse_patch(arguments.patch)
        now = {path: await current(path, workspace) for path in _paths(patches)}
        changes = _changes(patches, now, workspace)
        lines = [_told(change, workspace) for change in changes]
        tally = summed_up(changes)
        seen = await make(changes, workspace)
        if any(each.mode for each in patches):
            lines.append("(modes are not changed by a patch; use chmod)")
        files = "1 file" if len(changes) == 1 else f"{len(changes)} files"
        return Finished("\n".join(lines), f"{tally}, {files}", seen=seen)


def _paths(patches: list[FilePatch]) -> list[str]:
    return list(dict.fromkeys(path for each in patches for path in (each.path, each.to) if path))


def _changes(patches: list[FilePatch], now: Mapping[str, Content | None], workspace: Workspace) -> list[Change]:
    """Worked out in memory. Parts about the same file follow each other; the file then changes once."""
    locate = workspace.disk.locate
    changes: dict[str, Change] = {}
    for patch in patches:
        path, before = locate(patch.path), now[patch.path]
        earlier = changes.get(path)
        if before is not None:
            check_known(path, before, workspace)
        if patch.to and (now[patch.to] is not None or locate(patch.to) in changes):
            raise ToolFailed(f"{patch.to} exists already, so nothing can be moved there")
        so_far = earlier.after if earlier is not None else before and before.data
        with quoting(path, workspace):
            after = _patched(patch, so_far, workspace.disk.relative(path))
        to = locate(patch.to) if patch.to else earlier.to if earlier is not None else ""
        changes[path] = Change(path, before, after, to)
    made = [each for each in changes.values() if each.to or (each.before and each.before.data) != each.after]
    if not made:
        raise ToolFailed("the patch changes nothing")
    return made


def _patched(patch: FilePatch, data: bytes | None, shown: str) -> bytes | None:
    if patch.kind == "add":
        if data is not None:
            raise ToolFailed(f"{shown} exists already; change it with an update")
        return apply_hunks("", patch.hunks, shown).encode()
    if data is None:
        raise ToolFailed(f"{shown} does not exist")
    if patch.kind == "delete" and not patch.hunks:
        return None
    file = text_file(data)
    if file is None:
        raise ToolFailed(f"{shown} is a binary file")
    text = apply_hunks(file.text, patch.hunks, shown)
    if patch.kind == "update":
        return _encoded(file, text, shown)
    if text:
        raise ToolFailed(f"{shown} has more lines than the patch that deletes it shows")
    return None


def _encoded(file: TextFile, text: str, shown: str) -> bytes:
    try:
        return file.encode(text)
    except UnicodeEncodeError as error:
        raise ToolFailed(f"{shown} is {file.note}, which has no {text[error.start]!r}") from error


def _told(change: Change, workspace: Workspace) -> str:
    shown = workspace.disk.relative(change.path)
    added, removed = change.tally()
    if change.before is None:
        return f"created {shown} (+{added})"
    if change.after is None:
        return f"deleted {shown} (-{removed})"
    moved = f"moved {shown} to {workspace.disk.relative(change.to)}" if change.to else f"edited {shown}"
    return f"{moved} (+{added} -{removed})"
