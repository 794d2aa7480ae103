"""Random edits as diffs of difflib and of git give the same file; whatever fails in the middle, all or none."""

import asyncio
import difflib
import subprocess
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from coderelay.protocol.calls import Failed, Finished
from coderelay.protocol.errors import ToolFailed
from coderelay.tools.editing.apply_hunks import apply_hunks
from coderelay.tools.editing.patch_parser import parse_patch
from coderelay.workspace.files.confined_files import ConfinedFiles, FileContent
from coderelay.workspace.files.disk_or_editor_files import FilesOnDisk
from coderelay.workspace.files.line_diff import unified_diff, with_ends
from tests.tools.toolbox_scene import contents, lay_out, scene

LINE = st.sampled_from(["a\n", "b\n", "c\n", "\n", " a\n", "-- \n", "--- x\n", "+++ y\n", "@@\n", "d\r\n", "\\ e\n"])
TEXT = st.tuples(st.lists(LINE, max_size=25), st.sampled_from(["", "", "end"])).map(
    lambda each: "".join([*each[0], each[1]])
)


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, str]:
    """A text, and one that differs from it here and there."""
    before = draw(TEXT)
    lines = with_ends(before)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(lines)))
        lines[at : at + draw(st.integers(0, 3))] = draw(st.lists(LINE, max_size=3))
    after = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines[:-1]) + "".join(lines[-1:])
    return before, after


@given(edited(), st.integers(0, 3))
def test_diffs_of_difflib_give_the_same_file(texts: tuple[str, str], context: int) -> None:
    before, after = _unambiguous(texts, context)
    lines = difflib.unified_diff(with_ends(before), with_ends(after), "a/f", "b/f", n=context)
    patch = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    assert applied(before, patch) == after


@given(edited())
def test_our_own_diffs_give_the_same_file(texts: tuple[str, str]) -> None:
    before, after = texts
    assert applied(before, unified_diff("f", before, after)) == after


@settings(max_examples=40, deadline=None)
@given(edited(), st.integers(0, 3))
def test_diffs_of_git_give_the_same_file(texts: tuple[str, str], context: int) -> None:
    before, after = _unambiguous(texts, context)
    assert applied(before, git_diff(before, after, context)) == after


@given(st.sets(st.integers(0, 29), min_size=1, max_size=6), st.integers(-3, 5))
def test_a_diff_still_fits_when_lines_have_come_or_gone_elsewhere(changed: set[int], more: int) -> None:
    """Line numbers are off then; the place is found by what it says."""
    before = [f"{number}\n" for number in range(40)]
    after = [f"changed {line}" if number in changed else line for number, line in enumerate(before)]
    patch = unified_diff("f", "".join(before), "".join(after))
    for lines in (before, after):
        lines[:0] = ["more\n"] * max(more, 0)
        del lines[len(lines) - max(-more, 0) :]
    assert applied("".join(before), patch) == "".join(after)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["add", "update", "delete", "move", "both"]), min_size=1, max_size=5),
    st.integers(0, 8),
    st.booleans(),
)
def test_all_or_none_whatever_fails(kinds: list[str], fails_at: int, cancelled: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        parts: list[str] = []
        after: dict[str, bytes] = {}
        for number, kind in enumerate(kinds):
            if kind != "add":
                lay_out(root, {f"{kind}{number}": "old\n"})
            part, becomes = PARTS[kind]
            parts += [line.format(number) for line in part]
            after |= {name.format(number): data for name, data in becomes.items()}
        before = contents(root)
        patch = "\n".join(["*** Begin Patch", *parts, "*** End Patch"])
        outcome, steps = asyncio.run(run_until(root, patch, fails_at, cancelled))
        if isinstance(outcome, Finished) or (cancelled and steps > fails_at):
            assert contents(root) == after
        else:
            assert contents(root) == before


PARTS: dict[str, tuple[list[str], dict[str, bytes]]] = {
    "add": (["*** Add File: new/{}", "+new"], {"new/{}": b"new\n"}),
    "update": (["*** Update File: update{}", "-old", "+new"], {"update{}": b"new\n"}),
    "delete": (["*** Delete File: delete{}"], {}),
    "move": (["*** Update File: move{}", "*** Move to: there/{}"], {"there/{}": b"old\n"}),
    "both": (["*** Update File: both{}", "*** Move to: here/{}", "-old", "+new"], {"here/{}": b"new\n"}),
}


class Failing(FilesOnDisk):
    """Refuses the step of a given number, or has the call cancelled at it."""

    def __init__(self, disk: ConfinedFiles, fails_at: int, cancelled: bool) -> None:
        super().__init__(disk)
        self.steps = 0
        self.failed = False
        self.cancels: asyncio.Task[object] | None = None
        self._fails_at = fails_at
        self._cancelled = cancelled

    async def read(self, path: str, limit: int) -> FileContent:
        return await super().read(path, limit)

    async def write(self, path: str, data: bytes, *, expected: str | None = None) -> bool:
        self._step()
        return await super().write(path, data, expected=expected)

    async def remove(self, path: str, *, expected: str | None = None) -> None:
        self._step()
        await super().remove(path, expected=expected)

    async def move(self, path: str, to: str) -> None:
        self._step()
        await super().move(path, to)

    def _step(self) -> None:
        self.steps += 1
        if self.steps == self._fails_at + 1 and not self.failed:
            self.failed = True
            if not self._cancelled:
                raise ToolFailed("no more room")
            assert self.cancels is not None
            self.cancels.cancel()


async def run_until(root: Path, patch: str, fails_at: int, cancelled: bool) -> tuple[Finished | Failed | None, int]:
    async with scene(root) as here:
        files = Failing(here.workspace.disk, fails_at, cancelled)
        here.workspace.files = files
        files.cancels = running = asyncio.ensure_future(here.outcome("patch", patch=patch))
        await asyncio.wait([running])
        return (None if running.cancelled() else running.result()), files.steps


def _unambiguous(texts: tuple[str, str], context: int) -> tuple[str, str]:
    """Lines that come between others are given the line ends of those, unless the patch shows that it knows them."""
    before, after = texts
    return texts if context else (before.replace("\r", ""), after.replace("\r", ""))


def applied(before: str, patch: str) -> str:
    if not patch:
        return before
    [only] = parse_patch(patch)
    return apply_hunks(before, only.hunks, "f")


def git_diff(before: str, after: str, context: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        lay_out(Path(folder), {"a/f": before, "b/f": after})
        argv = ["git", "diff", "--no-index", "--no-color", f"-U{context}", "a/f", "b/f"]
        return subprocess.run(argv, cwd=folder, capture_output=True, check=False).stdout.decode()
