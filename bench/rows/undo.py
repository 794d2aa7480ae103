"""Snapshots and undo in a repository of 20,000 files, beside what git itself takes to look at it or to stash it.

The floors write into the person's own index and objects, and run whatever the repository says.
"""

import asyncio
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.compare import alternate
from bench.stopwatch import Took
from bench.table import INFORMATIONAL, Budget, Row, at_most
from coderelay.workspace.trees.snapshots import Snapshot, SnapshotTaker
from coderelay.workspace.trees.undo import undo

FILES, FOLDERS, CHANGED = 20_000, 1_000, 100
TEXT = "# the quick brown fox jumps over the lazy dog\n" * 30
AUTHOR = {f"GIT_{who}_{what}": "bench" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


class Scene:
    def __init__(self, place: Path, runner: asyncio.Runner) -> None:
        self._root, self._home = place / "work", place / "home"
        self._env = {"PATH": os.environ["PATH"], "HOME": str(place), **AUTHOR}
        self._runner = runner
        self._trees = SnapshotTaker(str(self._home), self._env)
        for number in range(FILES):
            path = self._root / f"d{number % 50}/s{number % FOLDERS}/f{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {number}\n{TEXT}")
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "all")
        self.git("repack", "-a", "-d", "-q")
        self.git("status")

    def git(self, *arguments: str) -> Took:
        def run() -> None:
            subprocess.run(["git", *arguments], cwd=self._root, env=self._env, check=True, stdout=subprocess.DEVNULL)

        return _timed(run)

    def take(self) -> Took:
        return _timed(lambda: self._runner.run(self._taken()))

    def take_changed(self) -> Took:
        self.change("changed")
        return self.take()

    def status(self) -> Took:
        return self.git("status", "--porcelain")

    def stash(self) -> Took:
        self.change("changed")
        return self.git("stash", "create")

    def take_first(self) -> Took:
        shutil.rmtree(self._home)
        return self.take()

    def undo(self) -> Took:
        before = self._runner.run(self._taken())
        self.change("turn")
        after = self._runner.run(self._taken())

        async def act() -> None:
            assert len((await undo(self._trees, before, after)).restored) == CHANGED

        return _timed(lambda: self._runner.run(act()))

    def diff(self) -> Took:
        return _timed(lambda: self._runner.run(self._trees.worktree_changes(str(self._root))))

    def plain_diff(self) -> Took:
        return self.git("diff")

    def checkout(self) -> Took:
        self.change("turn")
        return self.git("checkout", "-q", "--", ".")

    def change(self, text: str) -> None:
        for number in range(CHANGED):
            (self._root / f"d{number % 50}/s{number % FOLDERS}/f{number}.py").write_text(f"{text} {time.time_ns()}\n")

    async def _taken(self) -> Snapshot:
        tree = await self._trees.take(str(self._root))
        assert isinstance(tree, Snapshot)
        return tree


def measure() -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="coder-bench-") as folder, asyncio.Runner() as runner:
        scene = Scene(Path(folder), runner)
        scene.take()
        status, stash = scene.status, scene.stash
        return [
            _row("snapshot of 20,000 files (floor: git status)", 15, scene.take, status, at_most(150, "ms")),
            _row("first snapshot (floor: git stash create)", 5, scene.take_first, stash, at_most(1000, "ms")),
            _row("snapshot, 100 changed (floor: git stash create)", 7, scene.take_changed, stash, INFORMATIONAL),
            _row("undo of 100 files (floor: git checkout)", 7, scene.undo, scene.checkout, INFORMATIONAL),
            _row("diff against HEAD (floor: git diff)", 7, scene.diff, scene.plain_diff, INFORMATIONAL),
        ]


def _row(what: str, times: int, ours: Callable[[], Took], floor: Callable[[], Took], budget: Budget) -> Row:
    runs = alternate(times, ours, floor)
    return Row(what, "ms", *runs.median(lambda took: took.ms), budget, runs.median(lambda took: took.cpu))


def _timed(act: Callable[[], object]) -> Took:
    """With what the processes used that were waited for."""
    cpu, began = _cpu(), time.perf_counter()
    act()
    return Took((time.perf_counter() - began) * 1000, _cpu() - cpu)


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
