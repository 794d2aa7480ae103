"""The `grep` tool: finds lines of files that match a regular expression."""

import asyncio
import os
import sys
import time
from collections.abc import Iterable

from msgspec import Struct

from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.protocol.translatable import say
from coderelay.tools.glob import glob_of
from coderelay.tools.search.search_root import SearchRoot, resolve_search_root
from coderelay.workspace.processes.command_runner import CannotStart, ProcessesLost
from coderelay.workspace.processes.command_runner import FinishedCommand as Ended
from coderelay.workspace.workspace import Workspace

_SHOWN = 200
_SHOWN_CHARS = 30_000
_LINE_CHARS = 300
_SECONDS = 20.0
_COUNTING_SECONDS = 0.5
_OUTPUT_BYTES = 4 * 1024 * 1024
_SCRIPT = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from coderelay.tools.search.grep_script import main; sys.exit(main(*sys.argv[2:]))"
)


class GrepArguments(Struct, frozen=True, forbid_unknown_fields=True):
    pattern: str
    path: str = "."
    glob: str = ""


class Match(Struct, frozen=True, order=True):
    """`path` is relative to the root of the search."""

    path: str
    line: int
    text: str


class Grep:
    spec = ToolSpec(
        name="grep",
        description="Search files for lines that match a regular expression ((?i) in front ignores case). "
        "Gives path:line:text. What git ignores is left out.",
        parameters={
            "type": "object",
            "properties": {
                "pattern": {"type": "string"},
                "path": {"type": "string", "description": "file or folder, the workspace if left out"},
                "glob": {"type": "string", "description": "only in files with such names, as *.py or src/**/*.ts"},
            },
            "required": ["pattern"],
            "additionalProperties": False,
        },
        acp_kind="search",
        external_name="Grep",
        rule_target="path",
        headline="pattern",
        chinese="在文件中搜索匹配正则表达式的行（以 (?i) 开头则忽略大小写）。",
        chinese_results={
            "no matches": "没有匹配",
            "1 match in 1 file": "1 个文件中有 1 处匹配",
            "{count} matches in 1 file": "1 个文件中有 {count} 处匹配",
            "{count} matches in {files} files": "{files} 个文件中有 {count} 处匹配",
            "1 match or more in 1 file": "1 个文件中至少有 1 处匹配",
            "{count} matches or more in 1 file": "1 个文件中至少有 {count} 处匹配",
            "{count} matches or more in {files} files": "{files} 个文件中至少有 {count} 处匹配",
            "invalid regular expression: {why}": "模式不是正则表达式：{why}",
            "the search could not be started: {why}": "搜索无法启动：{why}",
            "the search was interrupted": "搜索被中断",
        },
    )
    arguments = GrepArguments

    def need(self, arguments: GrepArguments, workspace: Workspace) -> Need:
        _check(arguments)
        path = workspace.disk.locate(arguments.path)
        return Need(tool="grep", kind="read", title=arguments.pattern, paths=(path,))

    async def run(self, arguments: GrepArguments, workspace: Workspace) -> Finished:
        _check(arguments)
        start = await asyncio.to_thread(resolve_search_root, arguments.path, workspace)
        if start.file:
            ended, found = await _search(arguments, start, workspace)
            return _finished(ended, found, start, workspace)
        counting = asyncio.to_thread(_count_hidden, arguments, start, workspace)
        (ended, found), left_out = await asyncio.gather(_search(arguments, start, workspace), counting)
        hidden = workspace.hidden({start.full(each.path) for each in found})
        found = [each for each in found if start.full(each.path) not in hidden]
        return _finished(ended, found, start, workspace, left_out)


def _check(arguments: GrepArguments) -> None:
    if not arguments.pattern:
        raise ToolFailed("the pattern is empty")
    if "\0" in arguments.pattern or "\n" in arguments.pattern:
        raise ToolFailed("the pattern must be for one line, without line ends; search for a part of it")
    if arguments.glob:
        glob_of(arguments.glob)


async def _search(arguments: GrepArguments, start: SearchRoot, workspace: Workspace) -> tuple[Ended, list[Match]]:
    """Search in a separate process (`search/grep_script.py`): a regular expression can take forever and cannot be
    interrupted."""
    above = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    wanted = [start.root, start.folder, start.file, arguments.pattern, "" if start.file else arguments.glob]
    try:
        ended = await workspace.processes.run(
            [sys.executable, "-I", "-S", "-W", "ignore", "-X", "utf8", "-c", _SCRIPT, above, *wanted],
            cwd=start.root,
            env=workspace.environment,
            seconds=_SECONDS,
            output_bytes=_OUTPUT_BYTES,
        )
    except CannotStart as error:
        raise ToolFailed(say("the search could not be started: {why}", why=error)) from error
    except ProcessesLost as error:
        raise ToolFailed("the search was interrupted") from error
    from coderelay.tools.search.grep_script import BAD_PATTERN

    if ended.exit_code == BAD_PATTERN:
        raise ToolFailed(say("invalid regular expression: {why}", why=_short(ended.output)))
    return ended, _matches(ended)


def _matches(ended: Ended) -> list[Match]:
    lines = ended.output.split("\n")
    if ended.omitted_bytes:
        gap = lines.index(f"[{ended.omitted_bytes} bytes left out]")
        del lines[gap - 1 : gap + 2]  # together with the truncated lines on both sides of it
    found: list[Match] = []
    for line in lines:
        path, nul, rest = line.partition("\0")
        number, colon, text = rest.partition(":")
        if nul and colon and number.isdecimal():
            found.append(Match(path, int(number), text))
    return sorted(found)


def _fitting(paths: Iterable[str], arguments: GrepArguments, start: SearchRoot) -> Iterable[str]:
    if not arguments.glob:
        return paths
    glob, skipped = glob_of(arguments.glob), len(start.folder) + 1 if start.folder else 0
    return (path for path in paths if glob.matches(path[skipped:]))


def _count_hidden(arguments: GrepArguments, start: SearchRoot, workspace: Workspace) -> str:
    """Count the files left out because reading them must be asked about, by their names alone: nobody may learn
    whether the pattern is in them. In large trees the count stops after `_COUNTING_SECONDS`."""
    from coderelay.tools.search.file_walk import Walk  # loaded with the first search

    until = time.monotonic() + _COUNTING_SECONDS
    paths: list[str] = []
    more = ""
    try:
        for place in Walk(start.root, start.folder):
            if place.entry.is_file(follow_symlinks=False):
                paths.append(place.path)
            if time.monotonic() > until:
                more = " or more"
                break
    except OSError:  # the search itself reports the error
        return ""
    hidden = workspace.hidden(start.full(path) for path in _fitting(paths, arguments, start))
    return f"{_count(len(hidden), 'file', 'files')}{more}" if hidden else ""


def _finished(
    ended: Ended, found: list[Match], start: SearchRoot, workspace: Workspace, left_out: str = ""
) -> Finished:
    names = {path: workspace.disk.relative(start.full(path)) for path in {each.path for each in found}}
    lines: list[str] = []
    room = _SHOWN_CHARS
    for each in found[:_SHOWN]:
        line = f"{names[each.path]}:{each.line}:{_short(each.text)}"
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    matches, files = _count(len(found), "match", "matches"), _count(len(names), "file", "files")
    more = " or more" if ended.omitted_bytes or ended.timed_out else ""
    if len(lines) < len(found):
        lines.append(f"({len(lines)} of {matches}{more} in {files}; narrow pattern, path or glob to see the others)")
    if not found:
        lines.append("no line matches")
    if left_out:
        lines.append(f"({left_out} left out: their reading must be asked about; give one as path)")
    if ended.timed_out:
        lines.append(f"(stopped after {_SECONDS:g} s, before all was searched; give a narrower path or glob)")
    return Finished("\n".join(lines), _summary(len(found), more, len(names)))


def _summary(matches: int, more: str, files: int) -> str:
    if not matches:
        return "no matches"
    if files == 1:
        return _summary_of_one_file(matches, more)
    if more:
        return say("{count} matches or more in {files} files", count=matches, files=files)
    return say("{count} matches in {files} files", count=matches, files=files)


def _summary_of_one_file(matches: int, more: str) -> str:
    if matches == 1:
        return "1 match or more in 1 file" if more else "1 match in 1 file"
    if more:
        return say("{count} matches or more in 1 file", count=matches)
    return say("{count} matches in 1 file", count=matches)


def _count(number: int, one: str, many: str) -> str:
    return f"1 {one}" if number == 1 else f"{number} {many}"


def _short(text: str) -> str:
    text = text.strip("\n")
    return text if len(text) <= _LINE_CHARS else f"{text[:_LINE_CHARS]}…"
