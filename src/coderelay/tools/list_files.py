"""The `list` tool: lists the files and folders in a folder."""

from msgspec import Struct

from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.protocol.translatable import say
from coderelay.tools.search.search_root import SearchRoot, resolve_search_root
from coderelay.workspace.files.confined_files import FolderEntry
from coderelay.workspace.files.path_resolution import shown
from coderelay.workspace.workspace import Workspace

_SHOWN = 500
_LEFT_OUT = 10
_IS_FILE = "{path} is a file, not a folder; use read, or bash to count or search in it"


class ListArguments(Struct, frozen=True, forbid_unknown_fields=True):
    path: str = "."


class ListFilesTool:
    spec = ToolSpec(
        name="list",
        description="List a folder: its folders, and its files with their sizes.",
        parameters={
            "type": "object",
            "properties": {"path": {"type": "string", "description": "the workspace if left out"}},
            "required": [],
            "additionalProperties": False,
        },
        external_name="LS",
        rule_target="path",
        for_small_models=True,
        headline="path",
        chinese="列出目录：其中的子目录，以及文件和大小。",
        chinese_results={
            "1 entry": "1 项",
            "{count} entries": "{count} 项",
            _IS_FILE: "{path} 是文件，不是目录；请用 read 读取，或用 bash 在其中统计、搜索",
        },
    )
    arguments = ListArguments

    def need(self, arguments: ListArguments, workspace: Workspace) -> Need:
        path = workspace.disk.locate(arguments.path)
        return Need(tool="list", kind="read", title=workspace.disk.relative(path), paths=(path,))

    async def run(self, arguments: ListArguments, workspace: Workspace) -> Finished:
        found = _entries(arguments.path, workspace)
        ignored = _ignored(found, resolve_search_root(arguments.path, workspace))
        entries = [each for each in found if each.name not in ignored]
        entries.sort(key=lambda each: (each.kind != "folder", each.name))
        lines = [_line(each) for each in entries[:_SHOWN]] or ["(empty folder)" if not found else ""]
        if len(entries) > _SHOWN:
            lines.append(f"({_SHOWN} of {len(entries)} entries; glob finds the others)")
        if ignored:
            names = [shown(each) for each in sorted(ignored)[:_LEFT_OUT]]
            more = f" and {len(ignored) - _LEFT_OUT} more" if len(ignored) > _LEFT_OUT else ""
            lines.append(f"(ignored by git, not shown: {', '.join(names)}{more})")
        summary = "1 entry" if len(entries) == 1 else say("{count} entries", count=len(entries))
        return Finished("\n".join(lines).strip("\n"), summary)


def _entries(path: str, workspace: Workspace) -> list[FolderEntry]:
    try:
        return workspace.disk.list(path)
    except ToolFailed as failed:
        if not isinstance(failed.__cause__, NotADirectoryError) or not workspace.disk.fingerprint(path):
            raise
        raise ToolFailed(say(_IS_FILE, path=shown(path))) from failed


def _ignored(found: list[FolderEntry], start: SearchRoot) -> set[str]:
    from coderelay.tools.search.gitignore_rules import is_ignored, rules_in  # loaded with the first search

    rules = rules_in(start.root, start.folder)
    prefix = f"{start.folder}/" if start.folder else ""
    return {each.name for each in found if is_ignored(rules, prefix + each.name, each.name, each.kind == "folder")}


def _line(entry: FolderEntry) -> str:
    name = shown(entry.name)
    match entry.kind:
        case "folder":
            return f"{name}/"
        case "file":
            return f"{name}  {_size(entry.size)}"
        case "link" | "other":
            return f"{name}  ({entry.kind})"


def _size(size: int) -> str:
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.1f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
