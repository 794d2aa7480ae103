"""C-29, C-30, X-15: undo and diff in every kind of repository; the person's own git folder stays as it was."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from coderelay.protocol.query_results import FileChange
from tests.workspace.repositories import Repo, story, taken, trees_of, undone

Made = Callable[[Path], Repo]


def _plain(path: Path) -> Repo:
    repo = Repo(path / "work")
    repo.commit(tracked="one\n", other="two\n")
    return repo


def _unborn(path: Path) -> Repo:
    repo = Repo(path / "work")
    repo.write("tracked", "one\n")
    repo.write("other", "two\n")
    repo.git("add", "tracked")
    return repo


def _detached(path: Path) -> Repo:
    repo = _plain(path)
    repo.git("checkout", "-q", "--detach")
    return repo


def _packed(path: Path) -> Repo:
    repo = _plain(path)
    repo.git("pack-refs", "--all")
    repo.git("gc", "-q")
    return repo


def _merging(path: Path) -> Repo:
    repo = _plain(path)
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(tracked="side\n")
    repo.git("checkout", "-q", "main")
    repo.commit(tracked="main\n")
    subprocess.run(["git", "merge", "-q", "side"], cwd=repo.root, env=repo.env, capture_output=True, check=False)
    assert (repo.root / ".git/MERGE_HEAD").exists()
    return repo


def _worktree(path: Path) -> Repo:
    main = Repo(path / "main")
    main.commit(tracked="one\n", other="two\n")
    main.git("worktree", "add", "-q", "-b", "side", str(path / "work"))
    return Repo(path / "work", git=False)


def _submodule(path: Path) -> Repo:
    other = Repo(path / "other")
    other.commit(tracked="one\n", other="two\n")
    above = Repo(path / "above")
    above.git("submodule", "--quiet", "add", str(other.root), "sub")
    return Repo(path / "above/sub", git=False)


def _shallow(path: Path) -> Repo:
    other = Repo(path / "other")
    other.commit(tracked="one\n")
    other.commit(other="two\n")
    clone = Repo(path / "work", git=False)
    clone.git("clone", "-q", "--depth=1", f"file://{other.root}", ".")
    return clone


def _sha256(path: Path) -> Repo:
    repo = Repo(path / "work", "--object-format=sha256")
    repo.commit(tracked="one\n", other="two\n")
    return repo


def _split_index(path: Path) -> Repo:
    repo = _plain(path)
    repo.git("update-index", "--split-index")
    repo.git("config", "core.splitIndex", "true")
    repo.write("more", "more\n")
    repo.git("add", "more")
    return repo


def _index_version(number: int) -> Made:
    def make(path: Path) -> Repo:
        repo = _plain(path)
        repo.git("update-index", f"--index-version={number}")
        return repo

    return make


def _old_index(path: Path) -> Repo:
    """Times in it are long past, and none is that of a file."""
    repo = _plain(path)
    for name in ("tracked", "other", ".git/index"):
        os.utime(repo.root / name, (10**9, 10**9))
    return repo


def _damaged_index(path: Path) -> Repo:
    repo = _plain(path)
    (repo.root / ".git/index").write_bytes(b"DIRC" + bytes(40))
    return repo


def _no_index(path: Path) -> Repo:
    repo = _plain(path)
    os.unlink(repo.root / ".git/index")
    return repo


def _autocrlf(path: Path) -> Repo:
    repo = Repo(path / "work")
    repo.git("config", "core.autocrlf", "true")
    repo.write("tracked", b"one\r\n")
    repo.write("other", b"two\r\n")
    repo.commit()
    return repo


def _assumed_unchanged(path: Path) -> Repo:
    repo = _plain(path)
    repo.git("update-index", "--assume-unchanged", "tracked")
    repo.git("update-index", "--skip-worktree", "other")
    return repo


def _sparse(path: Path) -> Repo:
    repo = _plain(path)
    repo.write("in/file", "in\n")
    repo.write("out/file", "out\n")
    repo.commit()
    repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    assert not (repo.root / "out").exists()
    return repo


def _intent_to_add(path: Path) -> Repo:
    repo = _plain(path)
    repo.write("empty", "")
    repo.write("full", "full\n")
    repo.git("add", "-N", "empty", "full")
    return repo


def _reused(path: Path) -> Repo:
    """With an alternate of its own."""
    _plain(path / "first")
    clone = Repo(path / "work", git=False)
    clone.git("clone", "-q", "--shared", str(path / "first/work"), ".")
    return clone


KINDS: dict[str, Made] = {
    "plain": _plain,
    "unborn HEAD": _unborn,
    "detached HEAD": _detached,
    "packed": _packed,
    "merge in progress": _merging,
    "further work tree": _worktree,
    "submodule": _submodule,
    "shallow clone": _shallow,
    "sha256": _sha256,
    "split index": _split_index,
    "index 2": _index_version(2),
    "index 4": _index_version(4),
    "old index": _old_index,
    "damaged index": _damaged_index,
    "no index": _no_index,
    "autocrlf": _autocrlf,
    "assumed unchanged": _assumed_unchanged,
    "sparse": _sparse,
    "intent to add": _intent_to_add,
    "alternate": _reused,
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())
@story
async def test_c30_x15_every_kind_of_repository(tmp_path: Path, make: Made) -> None:
    repo = make(tmp_path)
    theirs = _git_folder(repo)
    trees, then, gits = trees_of(repo), repo.files(), _everything(theirs)
    before = await taken(trees, repo.root)
    repo.write("tracked", b"turn\n")
    repo.write("out/file", "somewhere sparse\n")
    os.unlink(repo.root / "other")
    repo.write("empty", "now full\n")
    turned = repo.files()
    after = await taken(trees, repo.root)
    done = await undone(trees, before, after)
    assert (done.conflicts, done.skipped) == ((), ())
    assert repo.files() == then
    await undone(trees, after, before)
    assert repo.files() == turned
    await trees.worktree_changes(str(repo.root))
    assert _everything(theirs) == gits


def _git_folder(repo: Repo) -> Path:
    """Of the whole repository, wherever it is."""
    beside = repo.root / ".git"
    common = ("rev-parse", "--path-format=absolute", "--git-common-dir")
    return beside if beside.is_dir() else Path(repo.git(*common).strip())


def _everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.quick
@story
async def test_c29_diff_against_what_is_checked_out(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    repo.commit(moved="".join(f"line {number}\n" for number in range(20)))
    gits = repo.gits()
    repo.write("tracked", "one\nmore\n")
    repo.git("add", "tracked")
    repo.write("tracked", "one\nmore\nand more\n")
    repo.write("日本.txt", "new\n")
    repo.write("bytes.bin", bytes(100))
    os.unlink(repo.root / "other")
    os.rename(repo.root / "moved", repo.root / "to")
    gits = repo.gits()
    found = await trees_of(repo).worktree_changes(str(repo.root))
    assert found.changes == (
        FileChange("bytes.bin", "added", binary=True),
        FileChange("other", "deleted", deleted=1),
        FileChange("to", "renamed", was="moved"),
        FileChange("tracked", "modified", added=2),
        FileChange("日本.txt", "added", added=1),
    )
    assert "--- a/tracked\n+++ b/tracked\n@@ -1 +1,3 @@\n one\n+more\n+and more\n" in found.diff
    assert "--- /dev/null\n+++ b/日本.txt\n@@ -0,0 +1 @@\n+new\n" in found.diff
    assert "rename from moved\nrename to to\n" in found.diff
    assert repo.gits() == gits
    assert os.listdir(repo.home / ".coder/trees") == []


@pytest.mark.parametrize(
    "kind", ["unborn HEAD", "damaged index", "sparse", "autocrlf", "assumed unchanged", "sha256"]
)
@story
async def test_c29_diff_in_every_kind_of_repository(tmp_path: Path, kind: str) -> None:
    repo = KINDS[kind](tmp_path)
    repo.write("new", "x\n")
    told = (await trees_of(repo).worktree_changes(str(repo.root))).changes
    new = FileChange("new", "added", added=1)
    unborn = (new, FileChange("other", "added", added=1), FileChange("tracked", "added", added=1))
    assert told == (unborn if kind == "unborn HEAD" else (new,))


@story
async def test_c29_diff_of_a_subfolder_and_of_one_that_is_not_committed(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    repo.write("sub/a", "1\n")
    repo.commit()
    repo.write("sub/a", "2\n")
    repo.write("tracked", "elsewhere\n")
    repo.write("new/b", "3\n")
    trees = trees_of(repo)
    changed = FileChange("a", "modified", added=1, deleted=1)
    assert (await trees.worktree_changes(str(repo.root / "sub"))).changes == (changed,)
    assert (await trees.worktree_changes(str(repo.root / "new"))).changes == (FileChange("b", "added", added=1),)


@story
async def test_c29_a_diff_that_is_too_long_is_cut_after_a_line_and_says_so(tmp_path: Path) -> None:
    repo = _plain(tmp_path)
    trees = trees_of(repo)
    before = await taken(trees, repo.root)
    repo.write("long", "a line of text\n" * 200_000)
    after = await taken(trees, repo.root)
    told = await trees.diff(before, after)
    assert len(told) < 1_100_000
    assert told.endswith("\n+a line of text\n[the diff is longer than 1048576 bytes and was cut here]\n")
    assert await trees.diff(before, after, ["tracked"]) == ""
