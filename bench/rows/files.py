"""Searching 20,000 files and patching a long one, each beside the plainest program that does the same.

The searches go through the tool, so they include starting a process under the supervisor and shortening the answer.
"""

import asyncio
import json
import subprocess
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.compare import alternate
from bench.stopwatch import Took, stopwatch
from bench.table import INFORMATIONAL, Budget, Line, Row, at_most
from coderelay.protocol.calls import Call, Finished
from coderelay.protocol.ids import CallId
from coderelay.tools.editing.apply_hunks import apply_hunks
from coderelay.tools.editing.patch_parser import parse_patch
from coderelay.tools.glob import GlobFiles
from coderelay.tools.grep import Grep
from coderelay.tools.toolbox import Toolbox
from coderelay.workspace.files.line_diff import unified_diff
from coderelay.workspace.processes.command_runner import Processes
from coderelay.workspace.workspace import Workspace

FILES, FOLDERS, LINES = 20_000, 1_000, 10_000
TEXT = "# the quick brown fox jumps over the lazy dog\n" * 30
NEEDLE = "needle_{}"
GREP = f"grep in {FILES:,} files"


class Scene:
    def __init__(self, root: Path, processes: Processes, runner: asyncio.Runner) -> None:
        self._root = root
        self._processes = processes
        self._runner = runner
        self._toolbox = Toolbox([Grep(), GlobFiles()])
        for number in range(FILES):
            path = root / f"d{number % 50}/s{number % FOLDERS}/f{number}.{'py' if number % 10 else 'md'}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(TEXT + (f"{NEEDLE.format(number)} = 1\n" if number % 400 == 0 else ""))
        (root / ".gitignore").write_text("*.log\nbuild/\n/dist\n**/cache/**\n")

    def grep(self) -> Took:
        return self._call("grep", {"pattern": r"needle_\d+ = "}, f"{FILES // 400} matches in {FILES // 400} files")

    def glob(self) -> Took:
        return self._call("glob", {"pattern": "d10/**/*.md"}, f"{FILES // 50} files")

    def program(self, *argv: str) -> Took:
        with stopwatch() as took:
            subprocess.run(argv, cwd=self._root, check=False, stdout=subprocess.DEVNULL)
        return took

    def _call(self, tool: str, arguments: dict[str, Any], expected: str) -> Took:
        workspace = Workspace(str(self._root), self._processes, {})
        call = Call(CallId("c"), tool, json.dumps(arguments))
        with stopwatch() as took:
            outcome = self._runner.run(self._toolbox.run(call, workspace))
        assert isinstance(outcome, Finished), outcome
        assert outcome.summary == expected, outcome.summary
        return took


@contextmanager
def _scene() -> Generator[Scene]:
    with tempfile.TemporaryDirectory(prefix="coder-bench-") as folder, asyncio.Runner() as runner:
        processes = Processes()
        yield Scene(Path(folder), processes, runner)
        runner.run(processes.close())


def measure() -> list[Line]:
    plain = ["-rnE", "needle_[0-9]+ = ", "."]
    with _scene() as scene:
        rows: list[Line] = [
            _row(f"{GREP} (floor: grep)", scene.grep, lambda: scene.program("grep", *plain)),
            _row(
                f"glob in {FILES:,} files (floor: find)",
                scene.glob,
                lambda: scene.program("find", ".", "-path", "./d10/*", "-name", "*.md"),
            ),
        ]
    return [*rows, _patch()]


def _patch() -> Row:
    before = "".join(f"line {number} of many\n" for number in range(LINES))
    after = "".join(f"line {number} of {'more' if number % 500 == 0 else 'many'}\n" for number in range(LINES))
    text = unified_diff("f", before, after)

    def ours() -> Took:
        with stopwatch() as took:
            [patch] = parse_patch(text)
            assert apply_hunks(before, patch.hunks, "f") == after
        return took

    def floor() -> Took:
        with tempfile.TemporaryDirectory(prefix="coder-bench-") as folder:
            (Path(folder) / "f").write_text(before)
            with stopwatch() as took:
                subprocess.run(["git", "apply", "-"], cwd=folder, input=text.encode(), check=True)
        return took

    return _row(f"patch with 20 changes in {LINES:,} lines (floor: git apply)", ours, floor, at_most(50, "ms"))


def _row(what: str, ours: Callable[[], Took], floor: Callable[[], Took], budget: Budget = INFORMATIONAL) -> Row:
    runs = alternate(5, ours, floor)
    return Row(what, "ms", *runs.median(lambda took: took.ms), budget)
