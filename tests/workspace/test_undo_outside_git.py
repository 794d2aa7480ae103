"""C-30, X-15: undo keeps the same promises in a folder that is in no repository, or that its repository ignores."""

import os
from pathlib import Path

import pytest

from coderelay.workspace.trees.project_repository import NoRepository
from coderelay.workspace.trees.snapshots import Snapshot
from coderelay.workspace.trees.undo import KeptFile, UndoResult
from tests.workspace.repositories import Repo, refused, story, taken, trees_of, undone
from tests.workspace.test_undo import ACTS, Act

BY_GIT = ("staging", "commit", "git rm", "checkout of nothing")
PLAIN_ACTS = {name: act for name, act in ACTS.items() if name not in BY_GIT}


@pytest.fixture
def folder(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "work", git=False)
    made.write("run.sh", "echo\n", 0o755)
    made.write("src/a.py", "a = 1\n")
    made.write("src/deep/b.py", "b = 2\n")
    made.write("crlf.txt", b"one\r\ntwo\r\n")
    made.write("bytes.bin", bytes(range(256)))
    made.write("swap", "a file\n")
    made.write("staged.txt", "text\n")
    made.write("untracked.txt", "text\n")
    made.write(".gitignore", "*.log\nbuild/\n")
    made.write("noise.log", "ignored\n")
    os.symlink("src", made.root / "to-src")
    (made.root / "empty").mkdir()
    return made


@pytest.mark.parametrize("act", PLAIN_ACTS.values(), ids=PLAIN_ACTS.keys())
@story
async def test_c30_x15_undo_and_redo_outside_git(folder: Repo, act: Act) -> None:
    trees, then = trees_of(folder), folder.files()
    before = await taken(trees, folder.root)
    act(folder)
    turned = folder.files()
    after = await taken(trees, folder.root)
    done = await undone(trees, before, after)
    assert (done.conflicts, done.skipped) == ((), ())
    assert folder.files() == then
    assert (await taken(trees, folder.root)).id == before.id
    again = await undone(trees, after, before)
    assert (again.conflicts, again.skipped) == ((), ())
    assert folder.files() == turned
    assert not (folder.root / ".git").exists()


@pytest.mark.quick
@story
async def test_c30_x15_outside_git_what_the_person_changed_since_is_left_alone(folder: Repo) -> None:
    trees = trees_of(folder)
    before = await taken(trees, folder.root)
    folder.write("src/a.py", "turn\n")
    folder.write("run.sh", "turn\n")
    after = await taken(trees, folder.root)
    folder.write("src/a.py", "person\n")
    conflict = KeptFile("src/a.py", "it was changed since")
    assert await undone(trees, before, after) == UndoResult(restored=("run.sh",), conflicts=(conflict,))


@story
async def test_x15_ignored_files_outside_git_are_covered_once_they_are_named(folder: Repo) -> None:
    trees, then = trees_of(folder), folder.files()
    before = await trees.keep(await taken(trees, folder.root), ["noise.log"])
    folder.write("noise.log", "turn\n")
    after = await taken(trees, folder.root)
    assert await undone(trees, before, after) == UndoResult(restored=("noise.log",))
    assert folder.files() == then


@pytest.mark.parametrize("above", [False, True])
@story
async def test_x15_a_turn_that_creates_a_repository_is_undone(folder: Repo, above: bool) -> None:
    """What git keeps in its own folder stays; a turn after that one is undone as in any repository."""
    trees, then = trees_of(folder), folder.files()
    before = await taken(trees, folder.root)
    Repo(folder.root.parent if above else folder.root)
    folder.write("new.txt", "turn\n")
    folder.write("src/a.py", "turn\n")
    folder.git("add", "new.txt")
    after = await trees.take(str(folder.root), like=before)
    assert isinstance(after, Snapshot)
    assert await undone(trees, before, after) == UndoResult(restored=("src/a.py",), removed=("new.txt",))
    assert folder.files() == then

    next_before = await taken(trees, folder.root)
    assert (before.alone, next_before.alone) == (True, False)
    folder.write("src/a.py", "the next turn\n")
    next_after = await trees.take(str(folder.root), like=next_before)
    assert isinstance(next_after, Snapshot)
    assert await undone(trees, next_before, next_after) == UndoResult(restored=("src/a.py",))
    assert folder.files() == then
    assert await undone(trees, before, after) == UndoResult()


@story
async def test_x15_a_folder_that_its_repository_ignores_is_covered(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "work")
    repo.write(".gitignore", "build/\n")
    repo.commit()
    repo.write("build/a.txt", "a\n")
    trees, then, gits = trees_of(repo), repo.files(), repo.gits()
    before = await taken(trees, repo.root / "build")
    repo.write("build/a.txt", "turn\n")
    repo.write("build/new/b.txt", "turn\n")
    after = await taken(trees, repo.root / "build")
    assert (before.alone, after.alone) == (True, True)
    assert await undone(trees, before, after) == UndoResult(restored=("a.txt",), removed=("new/b.txt",))
    assert (repo.files(), repo.gits()) == (then, gits)


@story
async def test_x15_what_package_managers_fetched_is_not_stored(folder: Repo) -> None:
    trees = trees_of(folder)
    folder.write("node_modules/left/index.js", "x\n")
    before = await taken(trees, folder.root)
    folder.write("node_modules/left/index.js", "y\n")
    folder.write(".venv/bin/python", "z\n")
    assert (await taken(trees, folder.root)).id == before.id


@story
async def test_x15_nobody_takes_a_whole_home_and_there_is_no_commit_to_compare_with(folder: Repo) -> None:
    trees = trees_of(folder)
    for large in (folder.home, folder.home.parent, Path("/")):
        told = await refused(trees, large)
        too_large = f"{large} is too large for snapshots; start in a project's folder"
        assert told == f"a git repository is needed: {too_large}"
    with pytest.raises(NoRepository, match=f"a git repository is needed: {folder.root} is not in a git repository"):
        await trees.worktree_changes(str(folder.root))
