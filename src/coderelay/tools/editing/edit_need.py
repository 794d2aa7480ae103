"""Previews of file changes: the need of a call, with its diff, before the call is allowed to run."""

from collections.abc import Callable, Sequence

from coderelay.protocol.autorun_files import is_package_json
from coderelay.protocol.calls import Need
from coderelay.protocol.errors import ToolFailed
from coderelay.tools.editing.file_changes import FileEdit, is_hidden
from coderelay.tools.editing.package_json_autorun_changes import changes_install_scripts
from coderelay.tools.editing.text_encoding import sendable
from coderelay.workspace.files.disk_or_editor_files import EditorFiles
from coderelay.workspace.workspace import Workspace

_BYTES = 20_000
_NAMED = 5


def need_of(
    tool: str, names: Sequence[str], work_out: Callable[[], Sequence[FileEdit]], workspace: Workspace
) -> Need:
    """The need of a call that changes files. Raises ToolFailed for what could not be done anyway. For two kinds of
    files this shows only when the call runs: an editor may have other text than the disk, which is all that can be
    read here; and before the verdict nobody may learn whether a text is in a hidden file."""
    from coderelay.workspace.files.line_diff import cut  # loaded with the first change of a file

    disk = workspace.disk
    paths = tuple(dict.fromkeys(disk.locate(name) for name in names))
    for path in paths:
        disk.check_write(path)
    try:
        changes = work_out()
        scripts = tuple(change.to or change.path for change in changes if changes_install_scripts(change))
    except ToolFailed:
        if not isinstance(workspace.files, EditorFiles) and not any(is_hidden(path, workspace) for path in paths):
            raise
        changes = ()
        scripts = tuple(path for path in paths if is_package_json(path))
    shown = [disk.relative(path) for path in paths]
    more = f" and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    return Need(
        tool=tool,
        kind="edit",
        title=", ".join(shown[:_NAMED]) + more,
        paths=paths,
        diff=cut("".join(_diff(change, workspace) for change in changes), _BYTES),
        scripts=scripts,
    )


def _diff(change: FileEdit, workspace: Workspace) -> str:
    from coderelay.workspace.files.line_diff import unified_diff

    name, to = workspace.disk.relative(change.path), change.to and workspace.disk.relative(change.to)
    texts = change.texts
    if texts is None:
        return f"Binary files a/{name} and b/{to or name} differ\n"
    old, new = map(sendable, texts)
    return unified_diff(name, change.before and old, new if change.after is not None else None, to)
