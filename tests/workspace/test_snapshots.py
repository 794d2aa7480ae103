"""X-15: what a tree covers, when none is taken, and how long it is kept."""

import asyncio
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from coderelay.protocol.query_results import FileChange
from coderelay.workspace.trees.git_subprocess import GitFailed
from coderelay.workspace.trees.project_repository import NoRepository
from coderelay.workspace.trees.snapshots import OmittedPath, Snapshot, SnapshotTaker
from coderelay.workspace.trees.undo import KeptFile, UndoResult, undo
from tests.workspace.repositories import Repo, refused, story, taken, trees_of, undone

TAKER = """
import asyncio, os, sys
from coderelay.workspace.trees.snapshots import SnapshotTaker
async def main():
    trees = SnapshotTaker(sys.argv[1], os.environ)
    for _ in range(int(sys.argv[3])):
        print((await trees.take(sys.argv[2])).id)
asyncio.run(main())
"""


def _plain(path: Path) -> Repo:
    repo = Repo(path / "work")
    repo.commit(tracked="one\n", other="two\n")
    return repo


class SlowGit:
    """Found before the real one, tells its pid, and does nothing."""

    def __init__(self, folder: Path, repo: Repo) -> None:
        folder.mkdir()
        self._told = folder / "told"
        os.mkfifo(self._told)
        (folder / "git").write_text(f'#!/bin/sh\necho $$ > "{self._told}"\nexec sleep 90\n')
        (folder / "git").chmod(0o755)
        self.env = {**repo.env, "PATH": f"{folder}:{repo.env['PATH']}"}

    async def pid(self) -> int:
        return int(await asyncio.to_thread(self._told.read_text))


@story
async def test_x15_the_tree_is_what_git_itself_would_write(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    repo.write("run.sh", "echo\n", 0o755)
    os.symlink("tracked", repo.root / "link")
    repo.write("deep/er/file", "x\n")
    repo.write("dropped.txt", "x\n")
    repo.write(".gitignore", "*.log\n")
    repo.write("noise.log", "x\n")
    tree = await taken(trees_of(repo), repo.root)
    repo.git("add", "-A")
    assert repo.git("write-tree").strip() == tree.id
    assert tree == Snapshot(str(repo.root), tree.id, rules=tree.rules)


@story
async def test_x15_bytes_are_kept_where_the_persons_git_converts_them(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "work")
    repo.write(".gitattributes", "*.txt text eol=crlf\n*.id ident\n*.u16 text working-tree-encoding=UTF-16LE\n")
    contents = {"a.txt": b"one\r\n", "b.id": b"$Id$ x\n", "c.u16": "hé\n".encode("utf-16-le")}
    for name, content in contents.items():
        repo.write(name, content)
    repo.commit()
    repo.git("checkout", "-q", "HEAD", "--", ".")
    trees, then = trees_of(repo), repo.files()
    before = await taken(trees, repo.root)
    assert (await trees.worktree_changes(str(repo.root))).changes == ()
    for name in contents:
        repo.write(name, b"turn\n")
    after = await taken(trees, repo.root)
    assert await undone(trees, before, after) == UndoResult(restored=("a.txt", "b.id", "c.u16"))
    assert repo.files() == then


@story
async def test_x15_a_filter_that_keeps_the_size_does_not_deceive(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "work")
    repo.git("config", "filter.turn.clean", "tr a-z b-za")
    repo.write(".gitattributes", "*.x filter=turn\n")
    repo.write("a.x", "abc\n")
    repo.commit()
    assert repo.git("cat-file", "blob", "HEAD:a.x") == "bcd\n"
    trees = trees_of(repo)
    before = await taken(trees, repo.root)
    repo.write("a.x", "turn\n")
    after = await taken(trees, repo.root)
    await undone(trees, before, after)
    assert (repo.root / "a.x").read_text() == "abc\n"


@story
async def test_x15_tracked_files_that_git_ignores_are_covered_whenever_they_came(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    repo.write(".gitignore", "*.log\n")
    repo.write("first.log", "1\n")
    repo.write("second.log", "2\n")
    repo.write("never.log", "3\n")
    repo.git("add", "-f", "first.log")
    trees = trees_of(repo)
    await taken(trees, repo.root)
    repo.git("add", "-f", "second.log")
    before = await taken(trees, repo.root)
    for name in ("first.log", "second.log", "never.log"):
        repo.write(name, "turn\n")
    after = await taken(trees, repo.root)
    assert await undone(trees, before, after) == UndoResult(restored=("first.log", "second.log"))


@story
async def test_x15_submodules_and_their_contents_are_named(tmp_path: Path) -> None:
    other = Repo(tmp_path / "other")
    other.commit(file="x\n")
    repo = _plain(tmp_path)
    repo.git("submodule", "--quiet", "add", str(other.root), "deep/sub")
    repo.commit()
    trees = trees_of(repo)
    before = await taken(trees, repo.root)
    assert before.left_out == (OmittedPath("deep/sub", "repository"),)
    assert (await taken(trees, repo.root / "deep")).left_out == (OmittedPath("sub", "repository"),)
    repo.write("deep/sub/file", "turn\n")
    repo.write("deep/beside", "turn\n")
    after = await taken(trees, repo.root)
    assert await undone(trees, before, after) == UndoResult(removed=("deep/beside",))
    sub = Repo(repo.root / "deep/sub", git=False)
    sub.commit()
    moved = await taken(trees, repo.root)
    assert await trees.changes(before, moved) == [FileChange("deep/sub", "modified", covered=False)]
    sub.git("reset", "-q", "--hard", "HEAD~1")
    assert (await taken(trees, repo.root)).id == before.id


@story
async def test_x15_more_than_can_be_kept_in_time_is_refused_at_once(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    trees = trees_of(repo, new_bytes=10_000)
    await taken(trees, repo.root)
    for number in range(20):
        repo.write(f"new/{number}", bytes(1000))
    assert await refused(trees, repo.root) == (
        "files of more than 10,000 bytes have changed that git does not ignore, too much for undo\n"
        "A .gitignore file says what need not be looked at."
    )
    repo.write(".gitignore", "new/\n")
    await taken(trees, repo.root)


@story
async def test_c29_x15_a_submodule_that_was_not_fetched_is_no_change(tmp_path: Path) -> None:
    other, above = _plain(tmp_path / "other"), _plain(tmp_path / "above")
    above.git("submodule", "--quiet", "add", str(other.root), "sub")
    above.commit()
    repo = Repo(tmp_path / "work", git=False)
    repo.git("clone", "-q", str(above.root), ".")
    trees = trees_of(repo)
    assert (await trees.worktree_changes(str(repo.root))).changes == ()
    before = await taken(trees, repo.root)
    repo.git("submodule", "--quiet", "update", "--init")
    after = await taken(trees, repo.root)
    assert (after.id, after.left_out) == (before.id, (OmittedPath("sub", "repository"),))


@story
async def test_x15_where_there_is_nothing_to_take(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    trees = trees_of(repo)
    inside = repo.root / ".git/refs"
    assert await refused(trees, inside) == f"a git repository is needed: {inside} is not in a work tree"
    empty = tmp_path / "empty"
    (empty / ".git").mkdir(parents=True)
    needed = f"a git repository is needed: {empty}/.git is not a git repository, or is damaged"
    assert await refused(trees, empty) == needed
    os.rmdir(empty / ".git")
    os.mkfifo(empty / ".git")
    assert await refused(trees, empty) == needed
    with pytest.raises(NoRepository):
        await trees.worktree_changes(str(empty))


@story
async def test_x15_without_git_it_is_refused_in_words(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    trees = SnapshotTaker(str(repo.home / ".coder"), {"PATH": str(tmp_path / "nothing")})
    assert await refused(trees, repo.root) == "git is not installed\nUndo and diff need it."
    with pytest.raises(GitFailed, match="git is not installed"):
        await trees.worktree_changes(str(repo.root))


@story
async def test_x15_a_folder_that_is_a_link_is_the_same_folder(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    os.symlink(repo.root, tmp_path / "alias")
    trees = trees_of(repo)
    assert await taken(trees, tmp_path / "alias") == await taken(trees, repo.root)


@story
async def test_x15_our_home_in_the_work_tree_is_not_covered(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    trees = SnapshotTaker(str(repo.root / "my home [1]"), repo.env)
    before = await taken(trees, repo.root)
    repo.write("my home [1]/sessions.db", "x")
    repo.write("my home 1/file", "x")
    after = await taken(trees, repo.root)
    assert [each.path for each in await trees.changes(before, after)] == ["my home 1/file"]


@story
async def test_x15_what_others_may_not_read_they_cannot_read_in_our_objects(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    await taken(trees_of(repo), repo.root)
    (place,) = (repo.home / ".coder/trees").iterdir()
    assert place.stat().st_mode & 0o077 == 0


@story
async def test_x15_files_that_cannot_be_read_are_left_out(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    repo = _plain(tmp_path)
    repo.write("secret", "x\n", 0o000)
    before = await taken(trees_of(repo), repo.root)
    assert before.left_out == (OmittedPath("secret", "unreadable"),)


@story
async def test_x15_a_fifo_and_a_file_that_became_one(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    os.mkfifo(repo.root / "pipe")
    os.unlink(repo.root / "tracked")
    os.mkfifo(repo.root / "tracked")
    tree = await taken(trees_of(repo), repo.root)
    assert tree.left_out == (OmittedPath("tracked", "special"),)


@story
async def test_x15_two_processes_and_many_tasks_take_at_the_same_time(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    for number in range(300):
        repo.write(f"many/{number}", f"{number}\n")
    home = str(repo.home / ".coder")
    argv = [sys.executable, "-c", TAKER, home, str(repo.root), "5"]
    others = [
        await asyncio.create_subprocess_exec(*argv, env=repo.env, stdout=asyncio.subprocess.PIPE) for _ in range(2)
    ]
    trees = trees_of(repo)
    ours = await asyncio.gather(*(taken(trees, repo.root) for _ in range(4)))
    theirs = [(await other.communicate())[0].decode().split() for other in others]
    repo.git("add", "-A")
    expected = repo.git("write-tree").strip()
    assert {tree.id for tree in ours} == {expected}
    assert theirs == [[expected] * 5] * 2


@story
async def test_x15_what_a_killed_process_left_does_not_stand_in_the_way(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    trees = trees_of(repo)
    before = await taken(trees, repo.root)
    (place,) = (repo.home / ".coder/trees").iterdir()
    (place / "index.lock").write_bytes(b"half")
    assert await taken(trees, repo.root) == before
    (place / "index").write_bytes(b"DIRC, but damaged")
    assert await taken(trees, repo.root) == before
    os.unlink(place / "HEAD")  # it was killed while it made the folder
    assert await taken(trees, repo.root) == before


@story
async def test_x15_a_take_that_is_cancelled_ends_its_git(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    slow = SlowGit(tmp_path / "slow", repo)
    home = str(repo.home / ".coder")
    task = asyncio.create_task(SnapshotTaker(home, slow.env).take(str(repo.root)))
    pid = await slow.pid()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert isinstance(await SnapshotTaker(home, repo.env).take(str(repo.root)), Snapshot)


@story
async def test_x15_a_take_waits_for_the_git_of_a_killed_process(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    slow = SlowGit(tmp_path / "slow", repo)
    home = str(repo.home / ".coder")
    taker = subprocess.Popen([sys.executable, "-c", TAKER, home, str(repo.root), "1"], env=slow.env)
    pid = await slow.pid()
    taker.kill()
    taker.wait()
    (place,) = (repo.home / ".coder/trees").iterdir()
    with (place / "lock").open() as lock, pytest.raises(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    waiting = asyncio.create_task(SnapshotTaker(home, repo.env).take(str(repo.root)))
    os.kill(pid, signal.SIGKILL)
    assert isinstance(await waiting, Snapshot)


@story
async def test_x15_old_trees_are_pruned_and_newer_ones_stay_whole(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    trees = trees_of(repo)
    taken_ones: list[Snapshot] = []
    for number in range(70):
        repo.write("counted", f"{number}\n")
        taken_ones.append(await taken(trees, repo.root))
    (place,) = (repo.home / ".coder/trees").iterdir()
    kept = os.listdir(place / "refs/trees")
    assert 50 <= len(kept) < 65
    assert {tree.id for tree in taken_ones[-50:]} <= set(kept)
    with pytest.raises(GitFailed):
        await trees.changes(taken_ones[0], taken_ones[-1])
    assert await undo(trees, taken_ones[-50], taken_ones[-1]) == UndoResult(restored=("counted",))
    assert (repo.root / "counted").read_text() == "20\n"


@story
async def test_x15_folders_that_nobody_uses_are_forgotten(tmp_path: Path) -> None:
    first, second = _plain(tmp_path / "first"), _plain(tmp_path / "second")
    trees = trees_of(first)
    await taken(trees, first.root)
    (place,) = (first.home / ".coder/trees").iterdir()
    long_ago = place.stat().st_mtime - 31 * 24 * 3600
    os.utime(place / "lock", (long_ago, long_ago))
    old = await taken(trees, second.root)
    (other,) = set((first.home / ".coder/trees").iterdir()) - {place}
    os.utime(other / "refs/trees" / old.id, (long_ago, long_ago))
    second.write("new", "x\n")
    new = await taken(trees, second.root)
    assert not place.exists()
    assert os.listdir(other / "refs/trees") == [new.id]


@story
async def test_x15_the_repository_is_gone_when_it_is_time_to_undo(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    trees = trees_of(repo)
    before = await taken(trees, repo.root)
    repo.write("tracked", "turn\n")
    after = await taken(trees, repo.root)
    shutil.rmtree(repo.root / ".git")
    gone = KeptFile("tracked", "its content is no longer there")
    assert await undo(trees, before, after) == UndoResult(skipped=(gone,))
    assert (repo.root / "tracked").read_text() == "turn\n"
    assert (await taken(trees, repo.root)).alone


@story
async def test_x15_two_thousand_files(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "work")
    for number in range(2_000):
        repo.write(f"d{number % 100}/s{number % 1000}/f{number}.py", f"# {number}\n")
    repo.git("add", "-A")
    trees = trees_of(repo)
    before = await taken(trees, repo.root)
    shutil.rmtree(repo.root / "d7")
    after = await taken(trees, repo.root)
    done = await undo(trees, before, after)
    assert (len(done.restored), done.removed, done.conflicts) == (20, (), ())
    assert (await taken(trees, repo.root)).id == before.id
