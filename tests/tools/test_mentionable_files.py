"""The names of a folder, for people to choose from."""

import os
import subprocess
from pathlib import Path

import pytest

from coderelay.protocol.errors import CannotRun
from coderelay.protocol.queries import ListFiles
from coderelay.protocol.query_results import FilesShown
from tests.house import house, story
from tests.model_server import script


@pytest.mark.quick
@story
async def test_files_and_folders_are_listed_without_what_git_ignores(tmp_path: Path) -> None:
    work = tmp_path / "work"
    for name in ("src/deep/a.py", "src/b.py", "made/c.py", "with space.txt", "中文.md"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("")
    subprocess.run(["git", "init", "-q", work], check=True)
    (work / ".gitignore").write_text("made\n")
    os.symlink("/etc", work / "link")
    (work / "two\nlines").write_text("")
    os.mkdir(os.fsencode(work) + b"/\xff")
    os.mknod(os.fsencode(work) + b"/\xff/file")
    async with house(tmp_path, script()) as coder:
        await coder.create()
        shown = await coder.host.get(ListFiles(coder.session))
    assert shown == FilesShown(
        (".gitignore", "link", "src/", "src/b.py", "src/deep/", "src/deep/a.py", "with space.txt", "中文.md")
    )


@story
async def test_a_folder_that_is_gone_has_no_files(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create()
        os.rename(coder.folder, tmp_path / "elsewhere")
        with pytest.raises(CannotRun, match="does not exist on this machine"):
            await coder.host.get(ListFiles(coder.session))
