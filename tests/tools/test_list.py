"""list: what is in a folder."""

import os
import subprocess
from pathlib import Path

import pytest

from coderelay.protocol.calls import Finished
from tests.house import story
from tests.tools.toolbox_scene import lay_out, scene

pytestmark = pytest.mark.quick


@story
async def test_c36_folders_come_first_and_files_have_sizes(tmp_path: Path) -> None:
    lay_out(tmp_path, {"b/x": "", "a.txt": "y" * 999, "k": "y" * 1500, "m": "y" * 2_500_000})
    (tmp_path / "link").symlink_to("a.txt")
    os.mkfifo(tmp_path / "pipe")
    async with scene(tmp_path) as here:
        assert await here.outcome("list") == Finished(
            "b/\na.txt  999 B\nk  1.5 kB\nlink  (link)\nm  2.5 MB\npipe  (other)", "6 entries"
        )
        assert await here.outcome("list", path="b") == Finished("x  0 B", "1 entry")


@story
async def test_what_git_ignores_is_only_mentioned(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    lay_out(tmp_path, {".gitignore": "*.log\n/dist/\nsub/only\n", "a.log": "", "dist/x": "", "sub/only": "", "b": ""})
    lay_out(tmp_path, {"sub/.gitignore": "!keep.log\n", "sub/keep.log": "", "sub/other.log": ""})
    async with scene(tmp_path) as here:
        assert await here.run("list") == (
            ".git/\nsub/\n.gitignore  22 B\nb  0 B\n(ignored by git, not shown: a.log, dist)"
        )
        assert await here.run("list", path="sub") == (
            ".gitignore  10 B\nkeep.log  0 B\n(ignored by git, not shown: only, other.log)"
        )
        assert await here.run("list", path="dist") == "x  0 B"


@story
async def test_a_full_folder_is_cut_and_an_empty_one_says_so(tmp_path: Path) -> None:
    lay_out(tmp_path, {f"many/{number:03}": "" for number in range(600)})
    (tmp_path / "empty").mkdir()
    async with scene(tmp_path) as here:
        lines = (await here.run("list", path="many")).split("\n")
        assert (lines[0], lines[-2:]) == (
            "000  0 B",
            ["499  0 B", "(500 of 600 entries; glob finds the others)"],
        )
        assert await here.run("list", path="empty") == "(empty folder)"
        assert await here.refused("list", path="nowhere") == "cannot list nowhere: No such file or directory"


@story
async def test_list_of_a_file_was_taken_for_a_file_that_does_not_exist(tmp_path: Path) -> None:
    lay_out(tmp_path, {"data.txt": "x\n"})
    async with scene(tmp_path) as here:
        assert await here.refused("list", path="data.txt") == (
            "data.txt is a file, not a folder; use read, or bash to count or search in it"
        )
        assert "cannot list data.txt/below" in await here.refused("list", path="data.txt/below")
        assert "No such file" in await here.refused("list", path="missing")
