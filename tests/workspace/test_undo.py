"""C-30, X-15: a turn's changes are taken back, exactly, and nobody else's."""

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from coderelay.protocol.query_results import FileChange
from coderelay.workspace.trees.snapshots import OmittedPath
from coderelay.workspace.trees.undo import KeptFile, UndoResult, undo
from tests.workspace.repositories import Repo, story, taken, trees_of, undone

UNKNOWN = "git ignored it, so it is not known whether it was there before"
Act = Callable[[Repo], None]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Committed, staged, changed, untracked and ignored files, links, and a folder that is empty."""
    made = Repo(tmp_path / "work")
    made.write("run.sh", "echo\n", 0o755)
    made.write("src/a.py", "a = 1\n")
    made.write("src/deep/b.py", "b = 2\n")
    made.write("crlf.txt", b"one\r\ntwo\r\n")
    made.write("bytes.bin", bytes(range(256)))
    made.write("swap", "a file\n")
    made.write(".gitignore", "*.log\nbuild/\n")
    os.symlink("src", made.root / "to-src")
    os.symlink("/nowhere/at all", made.root / "dangling")
    made.commit()
    made.write("staged.txt", "staged\n")
    made.git("add", "staged.txt")
    made.write("src/a.py", "a = 1  # changed, not staged\n")
    made.write("untracked.txt", "untracked\n")
    made.write("noise.log", "ignored\n")
    (made.root / "empty").mkdir()
    return made


def _remove(*paths: str) -> Act:
    def act(repo: Repo) -> None:
        for path in paths:
            full = repo.root / path
            shutil.rmtree(full) if full.is_dir() and not full.is_symlink() else full.unlink()

    return act


def _write(path: str, content: bytes | str, mode: int = 0o644) -> Act:
    return lambda repo: repo.write(path, content, mode)


def _all(*acts: Act) -> Act:
    def act(repo: Repo) -> None:
        for each in acts:
            each(repo)

    return act


def _link(path: str, target: str) -> Act:
    return lambda repo: os.symlink(target, repo.root / path)


def _mode(path: str, mode: int) -> Act:
    return lambda repo: os.chmod(repo.root / path, mode)


def _move(path: str, to: str) -> Act:
    return lambda repo: os.rename(repo.root / path, repo.root / to)


def _git(*arguments: str) -> Act:
    return lambda repo: (repo.git(*arguments), None)[1]


ACTS: dict[str, Act] = {
    "nothing": _all(),
    "edit of a clean file": _write("src/deep/b.py", "b = 3\n"),
    "edit of a changed file": _write("src/a.py", "rewritten\n"),
    "edit of a staged file": _write("staged.txt", "more\n"),
    "edit of an untracked file": _write("untracked.txt", "more\n"),
    "same size": _write("src/deep/b.py", "b = 4\n"),
    "creation": _write("new.txt", "new\n"),
    "creation in new folders": _all(_write("x/y/z.txt", "z\n"), _write("x/y/w.txt", "w\n")),
    "deletion": _remove("src/a.py", "untracked.txt"),
    "deletion of folders": _remove("src", "run.sh"),
    "renaming": _all(_move("src/a.py", "src/c.py"), _move("run.sh", "go.sh")),
    "renaming by case": _move("crlf.txt", "CRLF.txt"),
    "renaming of a folder": _move("src", "lib"),
    "mode on": _mode("crlf.txt", 0o755),
    "mode off": _mode("run.sh", 0o644),
    "mode and content": _write("run.sh", "echo more\n", 0o644),
    "CRLF becomes LF": _write("crlf.txt", b"one\ntwo\n"),
    "bytes": _write("bytes.bin", bytes(range(255, -1, -1))),
    "emptied": _write("src/a.py", b""),
    "link to elsewhere": _all(_remove("to-src"), _link("to-src", "empty")),
    "link becomes a file": _all(_remove("to-src"), _write("to-src", "a file\n")),
    "file becomes a link": _all(_remove("crlf.txt"), _link("crlf.txt", "run.sh")),
    "folder becomes a link": _all(_move("src", "moved"), _link("src", "moved")),
    "link becomes a folder": _all(_remove("to-src"), _write("to-src/inside.txt", "in\n")),
    "file becomes a folder": _all(_remove("swap"), _write("swap/in/it.txt", "in\n")),
    "folder becomes a file": _all(_remove("src"), _write("src", "a file\n")),
    "staging": _all(_write("new.txt", "new\n"), _git("add", "-A")),
    "commit": _all(_write("src/a.py", "committed\n"), _git("commit", "-qam", "turn")),
    "git rm": _git("rm", "-qf", "src/deep/b.py"),
    "checkout of nothing": _git("checkout", "-q", "--", "src/a.py"),
    "ignore file": _write(".gitignore", "*.log\nbuild/\n*.txt\n"),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS.keys())
@story
async def test_c30_x15_undo_and_redo(repo: Repo, act: Act) -> None:
    trees, then = trees_of(repo), repo.files()
    before = await taken(trees, repo.root)
    act(repo)
    turned = repo.files()
    after = await taken(trees, repo.root)
    index, gits = repo.git("ls-files", "-s"), repo.gits()
    done = await undone(trees, before, after)
    assert (done.conflicts, done.skipped) == ((), ())
    assert repo.files() == then
    assert (await taken(trees, repo.root)).id == before.id
    again = await undone(trees, after, before)
    assert (again.conflicts, again.skipped) == ((), ())
    assert repo.files() == turned
    assert repo.gits() == gits
    assert repo.git("ls-files", "-s") == index


@story
async def test_c30_x15_a_turn_is_undone_and_what_was_staged_stays_staged(repo: Repo) -> None:
    trees = trees_of(repo)
    then, gits = repo.files(), repo.gits()
    before = await taken(trees, repo.root)
    _all(_write("src/a.py", "x\n"), _remove("run.sh"), _write("new/file", "new\n"))(repo)
    after = await taken(trees, repo.root)
    assert await trees.changes(before, after) == [
        FileChange("new/file", "added", added=1),
        FileChange("run.sh", "deleted", deleted=1),
        FileChange("src/a.py", "modified", added=1, deleted=1),
    ]
    assert await undone(trees, before, after) == UndoResult(restored=("run.sh", "src/a.py"), removed=("new/file",))
    assert (repo.files(), repo.gits()) == (then, gits)
    assert repo.git("diff", "--cached", "--name-only") == "staged.txt\n"
    assert await undone(trees, before, after) == UndoResult()


@pytest.mark.quick
@story
async def test_x15_what_the_person_changed_since_is_a_conflict_and_left_alone(repo: Repo) -> None:
    trees = trees_of(repo)
    before = await taken(trees, repo.root)
    _all(_write("src/a.py", "turn\n"), _write("src/deep/b.py", "turn\n"), _write("new.txt", "turn\n"))(repo)
    _all(_remove("run.sh", "crlf.txt"), _write("bytes.bin", b"turn"))(repo)
    after = await taken(trees, repo.root)
    _all(_write("src/a.py", "person\n"), _write("new.txt", "person\n"), _write("run.sh", "person\n"))(repo)
    _all(_remove("bytes.bin"), _mode("src/deep/b.py", 0o755))(repo)
    mine = repo.files()
    assert await undone(trees, before, after) == UndoResult(
        restored=("crlf.txt",),
        conflicts=(
            KeptFile("bytes.bin", "it was removed since"),
            KeptFile("new.txt", "it was changed since"),
            KeptFile("run.sh", "it was changed since"),
            KeptFile("src/a.py", "it was changed since"),
            KeptFile("src/deep/b.py", "it was changed since"),
        ),
    )
    assert repo.files() == mine | {b"crlf.txt": (stat.S_IFREG | 0o644, b"one\r\ntwo\r\n")}


@story
async def test_x15_what_the_person_undid_already_is_no_conflict(repo: Repo) -> None:
    trees, then = trees_of(repo), repo.files()
    before = await taken(trees, repo.root)
    _all(_write("src/a.py", "turn\n"), _write("run.sh", "turn\n"))(repo)
    after = await taken(trees, repo.root)
    _write("src/a.py", "a = 1  # changed, not staged\n")(repo)
    assert await undone(trees, before, after) == UndoResult(restored=("run.sh",))
    assert repo.files() == then


@story
async def test_x15_a_folder_in_which_somebody_works_is_not_replaced_by_a_file(repo: Repo) -> None:
    trees = trees_of(repo)
    before = await taken(trees, repo.root)
    _all(_remove("swap"), _write("swap/in/it.txt", "in\n"))(repo)
    after = await taken(trees, repo.root)
    _write("swap/mine.log", "ignored by git, but mine\n")(repo)
    assert await undone(trees, before, after) == UndoResult(
        removed=("swap/in/it.txt",),
        conflicts=(KeptFile("swap", "it is a folder now, and swap/mine.log is in it"),),
    )
    assert sorted(os.listdir(repo.root / "swap")) == ["mine.log"]


@story
async def test_x15_a_file_that_stays_keeps_the_folder_it_replaced_from_coming_back(repo: Repo) -> None:
    trees = trees_of(repo)
    before = await taken(trees, repo.root)
    _all(_remove("src"), _write("src", "a file\n"))(repo)
    after = await taken(trees, repo.root)
    _write("src", "mine\n")(repo)
    mine = repo.files()
    assert await undone(trees, before, after) == UndoResult(
        conflicts=(
            KeptFile("src", "it was changed since"),
            KeptFile("src/a.py", "src is no folder now"),
            KeptFile("src/deep/b.py", "src is no folder now"),
        ),
    )
    assert repo.files() == mine


@story
async def test_x15_nothing_is_written_through_a_link_that_leads_out(repo: Repo, tmp_path: Path) -> None:
    trees = trees_of(repo)
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    before = await taken(trees, repo.root)
    _remove("src/deep/b.py", "src/a.py")(repo)
    after = await taken(trees, repo.root)
    shutil.rmtree(repo.root / "src")
    os.symlink(outside, repo.root / "src")
    assert (await undone(trees, before, after)).conflicts == (
        KeptFile("src/a.py", "src is no folder now"),
        KeptFile("src/deep/b.py", "src is no folder now"),
    )
    assert [each for each in outside.rglob("*") if not each.is_dir()] == []


@story
async def test_x15_a_fifo_where_a_file_was_is_a_conflict(repo: Repo) -> None:
    trees = trees_of(repo)
    before = await taken(trees, repo.root)
    _write("run.sh", "turn\n")(repo)
    after = await taken(trees, repo.root)
    _remove("run.sh")(repo)
    os.mkfifo(repo.root / "run.sh")
    told = await undone(trees, before, after)
    assert told == UndoResult(conflicts=(KeptFile("run.sh", "it is nothing that git would keep now"),))


@story
async def test_x15_names_of_any_bytes(repo: Repo) -> None:
    trees, then = trees_of(repo), repo.files()
    names = [
        b"new\nline",
        b'"quoted"',
        b"back\\slash",
        b"\xff\xfe",
        "日本".encode(),
        b" lead",
        b"*",
        b":(top)x",
        b"-f",
    ]
    before = await taken(trees, repo.root)
    for name in names:
        repo.write(name, name)
        repo.write(b"in/" + name, name)
    turned = repo.files()
    after = await taken(trees, repo.root)
    assert len(await trees.changes(before, after)) == 2 * len(names)
    assert "+++ b/日本\n" in await trees.diff(before, after, ["日本"])
    done = await undone(trees, before, after)
    assert set(done.removed) >= {"new\nline", "\\xff\\xfe", "in/-f", "日本"}
    assert repo.files() == then
    await undone(trees, after, before)
    assert repo.files() == turned


@story
async def test_x15_large_files_and_repositories_are_left_out_and_named(repo: Repo) -> None:
    trees = trees_of(repo, file_bytes=1000)
    inner = Repo(repo.root / "inner")
    inner.commit(file="inner\n")
    Repo(repo.root / "unborn").write("file", "x\n")
    repo.write("large.bin", b"1" * 2000)
    before = await taken(trees, repo.root)
    left_out = (
        OmittedPath("inner", "repository"),
        OmittedPath("large.bin", "large"),
        OmittedPath("unborn", "repository"),
    )
    assert before.left_out == left_out
    assert (await taken(trees, repo.root)) == before
    repo.write("large.bin", b"2" * 2000)
    repo.write("grows.txt", b"3" * 2000)
    repo.write("untracked.txt", b"4" * 2000)
    inner.commit(file="changed\n")
    turned = repo.files()
    after = await taken(trees, repo.root)
    assert [(each.path, each.kind, each.covered) for each in await trees.changes(before, after)] == [
        ("grows.txt", "added", False),
        ("inner", "modified", False),
        ("large.bin", "modified", False),
        ("untracked.txt", "modified", False),
    ]
    assert await trees.diff(before, after) == ""
    why = "it is a repository of its own, or too large, or could not be read"
    skipped = tuple(KeptFile(path, why) for path in ("grows.txt", "inner", "large.bin", "untracked.txt"))
    assert await undone(trees, before, after) == UndoResult(skipped=skipped)
    assert repo.files() == turned


@story
async def test_x15_a_large_file_that_is_committed_comes_back_when_it_is_deleted(repo: Repo) -> None:
    repo.write("large.bin", b"1" * 3_000_000)
    repo.commit()
    trees, then = trees_of(repo, file_bytes=1000), repo.files()
    before = await taken(trees, repo.root)
    _remove("large.bin")(repo)
    after = await taken(trees, repo.root)
    assert await undone(trees, before, after) == UndoResult(restored=("large.bin",))
    assert repo.files() == then


@story
async def test_x15_ignored_files_are_covered_from_when_they_are_named(repo: Repo) -> None:
    trees, then = trees_of(repo), repo.files()
    before = await taken(trees, repo.root)
    assert await trees.keep(before, ["src/a.py"]) == before
    before = await trees.keep(before, ["noise.log", "build/new.txt", "../outside", str(repo.root / "noise.log")])
    assert before.named == ("noise.log", "build/new.txt")
    _all(_write("noise.log", "turn\n"), _write("build/new.txt", "turn\n"), _write("other.log", "unseen\n"))(repo)
    after = await taken(trees, repo.root)
    assert await undone(trees, before, after) == UndoResult(restored=("noise.log",), removed=("build/new.txt",))
    assert repo.files() == then | {b"other.log": (stat.S_IFREG | 0o644, b"unseen\n")}


@story
async def test_x15_an_ignored_file_that_nobody_looked_at_before_is_not_removed(repo: Repo) -> None:
    trees = trees_of(repo)
    before = await taken(trees, repo.root)
    _write("noise.log", "turn\n")(repo)
    after = await taken(trees, repo.root, also=("noise.log",))
    assert await undone(trees, before, after) == UndoResult(skipped=(KeptFile("noise.log", UNKNOWN),))
    assert (repo.root / "noise.log").read_text() == "turn\n"


@story
async def test_x15_a_file_is_not_removed_because_a_turn_stopped_ignoring_it(repo: Repo) -> None:
    trees, then = trees_of(repo), repo.files()
    repo.write("src/.gitignore", "*.tmp\n")
    repo.write("src/x.tmp", "mine\n")
    before, deep = await taken(trees, repo.root), await taken(trees, repo.root / "src")
    _all(_write(".gitignore", "build/\n"), _write("new.txt", "new\n"), _remove("src/.gitignore"))(repo)
    after, deep_after = await taken(trees, repo.root), await taken(trees, repo.root / "src")
    assert await undone(trees, deep, deep_after) == UndoResult(
        restored=(".gitignore",), skipped=(KeptFile("x.tmp", UNKNOWN),)
    )
    assert await undone(trees, before, after) == UndoResult(
        restored=(".gitignore",),
        removed=("new.txt",),
        skipped=(KeptFile("noise.log", UNKNOWN), KeptFile("src/x.tmp", UNKNOWN)),
    )
    mine = {b"src/.gitignore": (stat.S_IFREG | 0o644, b"*.tmp\n"), b"src/x.tmp": (stat.S_IFREG | 0o644, b"mine\n")}
    assert repo.files() == then | mine


@story
async def test_x15_a_file_is_not_removed_because_rules_outside_the_folder_changed(repo: Repo) -> None:
    trees = trees_of(repo)
    excludes = repo.home / ".config/git/ignore"
    excludes.parent.mkdir(parents=True)
    excludes.write_text("*.mine\n")
    (repo.root / ".git/info/exclude").write_text("*.also\n")
    repo.write("a.mine", "mine\n")
    repo.write("b.also", "mine\n")
    before = await taken(trees, repo.root)
    excludes.write_text("")
    (repo.root / ".git/info/exclude").write_text("")
    after = await taken(trees, repo.root)
    skipped = (KeptFile("a.mine", UNKNOWN), KeptFile("b.also", UNKNOWN))
    assert await undone(trees, before, after) == UndoResult(skipped=skipped)


@story
async def test_x15_files_are_not_removed_because_they_were_in_a_repository_of_their_own(repo: Repo) -> None:
    trees = trees_of(repo)
    inner = Repo(repo.root / "inner")
    inner.commit(file="inner\n")
    before = await taken(trees, repo.root)
    shutil.rmtree(inner.root / ".git")
    after = await taken(trees, repo.root)
    assert [each.path for each in (await undone(trees, before, after)).skipped] == ["inner", "inner/file"]
    assert (inner.root / "file").read_text() == "inner\n"


@story
async def test_x15_a_subfolder_is_covered_alone(repo: Repo) -> None:
    trees = trees_of(repo)
    folder = repo.root / "src"
    repo.write("src/x.log", "ignored by a rule above\n")
    before = await taken(trees, folder)
    _all(_write("src/a.py", "turn\n"), _write("run.sh", "somebody else\n"), _write("src/new/c.py", "c\n"))(repo)
    after = await taken(trees, folder)
    assert await trees.changes(before, after) == [
        FileChange("a.py", "modified", added=1, deleted=1),
        FileChange("new/c.py", "added", added=1),
    ]
    assert await undone(trees, before, after) == UndoResult(restored=("a.py",), removed=("new/c.py",))
    assert (repo.root / "run.sh").read_text() == "somebody else\n"
    assert (repo.root / "src/a.py").read_text() == "a = 1  # changed, not staged\n"
    assert not (folder / "new").exists()


@story
async def test_x15_an_empty_subfolder(repo: Repo) -> None:
    trees = trees_of(repo)
    before = await taken(trees, repo.root / "empty")
    _write("empty/new.txt", "turn\n")(repo)
    after = await taken(trees, repo.root / "empty")
    assert await undone(trees, before, after) == UndoResult(removed=("new.txt",))


@story
async def test_x15_an_undo_that_was_cut_off_is_repeated(repo: Repo) -> None:
    """Half of it is done, and a file is left that a killed process was writing."""
    trees, then = trees_of(repo), repo.files()
    before = await taken(trees, repo.root)
    _all(_remove("src", "swap"), _write("src", "a file\n"), _write("swap/in/it.txt", "in\n"))(repo)
    _all(_write("new.txt", "new\n"), _write("run.sh", "turn\n", 0o755))(repo)
    after = await taken(trees, repo.root)
    _all(_remove("src", "new.txt"), _write("src/a.py", "a = 1  # changed, not staged\n"))(repo)
    assert (await undone(trees, before, after)).conflicts == ()
    assert repo.files() == then


@story
async def test_x15_content_that_git_has_cleaned_up_is_told(repo: Repo) -> None:
    trees = trees_of(repo)
    repo.write("gone.txt", "only in a commit that is dropped\n")
    repo.commit()
    before = await taken(trees, repo.root)
    repo.git("reset", "-q", "--hard", "HEAD~1")
    after = await taken(trees, repo.root)
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    done = await undo(trees, before, after)
    assert KeptFile("gone.txt", "its content is no longer there") in done.skipped
    assert not (repo.root / "gone.txt").exists()


@story
async def test_x15_a_folder_that_cannot_be_written_is_told_and_the_rest_is_done(repo: Repo) -> None:
    trees = trees_of(repo)
    before = await taken(trees, repo.root)
    _all(_write("src/a.py", "turn\n"), _write("run.sh", "turn\n"))(repo)
    after = await taken(trees, repo.root)
    os.chmod(repo.root / "src", 0o555)
    done = await undo(trees, before, after)
    os.chmod(repo.root / "src", 0o755)
    if os.geteuid() == 0:
        assert done == UndoResult(restored=("run.sh", "src/a.py"))
    else:
        conflict = KeptFile("src/a.py", "it cannot be written: Permission denied")
        assert done == UndoResult(restored=("run.sh",), conflicts=(conflict,))
