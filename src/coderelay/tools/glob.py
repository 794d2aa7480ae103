"""The `glob` tool: finds files by a name pattern, newest first."""

import asyncio
import os
import threading
import time
from typing import TYPE_CHECKING

from msgspec import Struct

from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.protocol.translatable import say
from coderelay.tools.search.search_root import SearchRoot, resolve_search_root
from coderelay.workspace.workspace import Workspace

if TYPE_CHECKING:
    from coderelay.tools.search.glob_pattern import Glob

_SHOWN = 200
_SECONDS = 20.0


class GlobArguments(Struct, frozen=True, forbid_unknown_fields=True):
    pattern: str
    path: str = "."


class GlobFiles:
    spec = ToolSpec(
        name="glob",
        description="Find files by name, newest first: *.py is found in every folder, src/**/*.{ts,tsx} below src. "
        "What git ignores is left out.",
        parameters={
            "type": "object",
            "properties": {
                "pattern": {"type": "string"},
                "path": {"type": "string", "description": "folder to look in, the workspace if left out"},
            },
            "required": ["pattern"],
            "additionalProperties": False,
        },
        acp_kind="search",
        external_name="Glob",
        rule_target="path",
        headline="pattern",
        chinese="按名称查找文件，最新的在前：*.py 匹配所有目录，src/**/*.{ts,tsx} 匹配 src 之下。",
        chinese_results={
            "the pattern is empty": "模式为空",
            "{path} is a file; path must be a folder": "{path} 是文件；path 必须是目录",
        },
    )
    arguments = GlobArguments

    def need(self, arguments: GlobArguments, workspace: Workspace) -> Need:
        glob_of(arguments.pattern)
        path = workspace.disk.locate(arguments.path)
        return Need(tool="glob", kind="read", title=arguments.pattern, paths=(path,))

    async def run(self, arguments: GlobArguments, workspace: Workspace) -> Finished:
        start = resolve_search_root(arguments.path, workspace)
        if start.file:
            raise ToolFailed(say("{path} is a file; path must be a folder", path=arguments.path))
        search = _Search(start, glob_of(_below(arguments.pattern, start)))
        try:
            await asyncio.to_thread(search.run)
        finally:
            search.stop()
        return _finished(search, start, workspace)


def glob_of(pattern: str) -> "Glob":
    from coderelay.tools.search.glob_pattern import Glob  # loaded with the first search

    if not pattern.strip():
        raise ToolFailed("the pattern is empty")
    if ".." in pattern.split("/"):
        raise ToolFailed("the pattern must not go up with ..; give path instead")
    try:
        return Glob(pattern)
    except ValueError as error:
        raise ToolFailed(str(error)) from error


def _below(pattern: str, start: SearchRoot) -> str:
    """An absolute pattern beneath the search folder is taken as anchored at that folder."""
    folder = start.full(start.folder).rstrip("/")
    return pattern.removeprefix(folder) if pattern.startswith(f"{folder}/") else pattern


class _Search:
    """A search that runs in a thread, which ends soon after `stop` is called."""

    def __init__(self, start: SearchRoot, glob: "Glob") -> None:
        from coderelay.tools.search.file_walk import Walk

        self._walk = Walk(start.root, start.folder)
        self._skipped = len(start.folder) + 1 if start.folder else 0
        self._glob = glob
        self._stopped = threading.Event()
        self.found: list[tuple[int, str]] = []
        self.is_whole = True

    @property
    def ignored(self) -> int:
        return self._walk.ignored

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        until = time.monotonic() + _SECONDS
        try:
            for place in self._walk:
                if self._stopped.is_set() or time.monotonic() > until:
                    self.is_whole = False
                    return
                if self._glob.matches(place.path[self._skipped :]):
                    self._add(place.path, place.entry)
        except OSError as error:
            raise ToolFailed(say("the folder cannot be read: {why}", why=error.strerror)) from error

    def _add(self, path: str, entry: os.DirEntry[str]) -> None:
        try:
            self.found.append((-entry.stat(follow_symlinks=False).st_mtime_ns, path))
        except OSError:  # deleted since it was listed
            return


def _finished(search: _Search, start: SearchRoot, workspace: Workspace) -> Finished:
    found = sorted(search.found)
    lines = [workspace.disk.relative(start.full(path)) for _, path in found[:_SHOWN]] or ["no file matches"]
    if len(found) > _SHOWN:
        lines.append(f"({_SHOWN} of {len(found)} files, the newest; narrow the pattern to see others)")
    if not search.is_whole:
        lines.append(f"(stopped after {_SECONDS:g} s, before all was looked at; give a narrower path)")
    if search.ignored and not found:
        lines.append("(what git ignores was not looked at; give its folder as path to look there)")
    return Finished("\n".join(lines), "1 file" if len(found) == 1 else say("{count} files", count=len(found)))
