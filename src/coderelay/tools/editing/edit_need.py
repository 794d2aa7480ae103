"""Previews of file changes: the need of a call, with its diff, before the call is allowed to run."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec

from coderelay.protocol.autorun_files import is_package_json
from coderelay.protocol.calls import Need
from coderelay.protocol.errors import ToolFailed
from coderelay.tools.editing.file_changes import FileEdit, is_hidden
from coderelay.tools.editing.text_encoding import sendable
from coderelay.workspace.files.disk_or_editor_files import DiskOrEditorFiles
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
        if not isinstance(workspace.files, DiskOrEditorFiles) and not any(
            is_hidden(path, workspace) for path in paths
        ):
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


# The scripts in a package.json that package managers and git hooks run unasked.
_RUN_BY_INSTALL = (
    "preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare", "prepublish", "dependencies",
    "pnpm:devPreinstall",
)  # fmt: skip
_RUN_BY_COMMITS = ("husky", "lint-staged", "simple-git-hooks", "pre-commit", "gitHooks")


def changes_install_scripts(change: FileEdit) -> bool:
    name = change.to or change.path
    if not is_package_json(name) or change.after is None:
        return False
    before = change.before.data if change.before is not None and is_package_json(change.path) else b"{}"
    try:
        return _run_unasked(before) != _run_unasked(change.after)
    except (ValueError, RecursionError, msgspec.DecodeError):
        return True  # not readable as JSON: assume that they change


def _run_unasked(data: bytes) -> dict[str, Any]:
    content = msgspec.json.decode(data)
    if not isinstance(content, dict):
        raise ValueError("a package.json is an object")
    package = cast(dict[str, Any], content)
    found = {key: package[key] for key in _RUN_BY_COMMITS if key in package}
    scripts = package.get("scripts", {})
    if not isinstance(scripts, dict):
        return found | {"scripts": scripts}
    named = cast(dict[str, Any], scripts)
    return found | {f"scripts.{key}": named[key] for key in _RUN_BY_INSTALL if key in named}
