"""X-15 and facts on git: nothing a repository, a person's settings or the environment name is ever run by us."""

import asyncio
import os
import stat
from contextlib import suppress
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from coderelay.workspace.trees.snapshots import NoSnapshot, Snapshot
from tests.patience import PATIENCE
from tests.workspace.repositories import Repo, story, taken, trees_of, undone

HOOKS = (
    "pre-commit",
    "post-checkout",
    "post-index-change",
    "fsmonitor-watchman",
    "reference-transaction",
    "pre-auto-gc",
)
SETTINGS = (
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshCommand",
    "core.askPass",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "credential.helper",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "merge.evil.driver",
    "gpg.program",
    "uploadpack.packObjectsHook",
    "remote.evil.uploadpack",
    "alias.ls-files",
    "alias.diff-tree",
)


class Trap:
    """Scripts that leave a file behind when they run."""

    def __init__(self, folder: Path) -> None:
        self._sprung = folder / "sprung"
        self._scripts = folder / "scripts"
        self._sprung.mkdir(parents=True)
        self._scripts.mkdir()

    def script(self, name: str) -> str:
        path = self._scripts / name.replace(" ", "_")
        path.write_text(f'#!/bin/sh\n: > "{self._sprung}/{name}"\ncat\n')
        path.chmod(0o755)
        return str(path)

    def set_in(self, repo: Repo, *where: str) -> None:
        for name in SETTINGS:
            value = self.script(name)
            repo.git("config", *where, name, f"!{value}" if name.startswith("alias") else value)
        repo.git("config", *where, "filter.evil.required", "true")
        repo.git("config", *where, "core.hooksPath", str(self._scripts / "hooks"))

    def hook_in(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in HOOKS:
            os.symlink(self.script(f"hook {name}"), folder / name)

    def sprung(self) -> list[str]:
        return sorted(os.listdir(self._sprung))

    def reset(self) -> None:
        for each in self._sprung.iterdir():
            each.unlink()


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path / "trap")


@pytest.fixture
def repo(tmp_path: Path, trap: Trap) -> Repo:
    made = Repo(tmp_path / "work")
    made.commit(tracked="one\n", other="two\n")
    made.write(".gitattributes", "* filter=evil diff=evil merge=evil text=auto eol=crlf ident\n")
    trap.set_in(made)
    trap.hook_in(made.root / ".git/hooks")
    trap.hook_in(tmp_path / "trap/scripts/hooks")
    return made


async def _whole_turn(repo: Repo) -> None:
    """Every way in which we run git."""
    trees, then = trees_of(repo), repo.files()
    repo.write("tracked", "dirty\n")
    before = await taken(trees, repo.root)
    before = await trees.keep(before, ["new.txt"])
    repo.write("tracked", "turn\r\n$Id$\n")
    repo.write("new.txt", "turn\n")
    os.unlink(repo.root / "other")
    after = await taken(trees, repo.root)
    assert [each.path for each in await trees.changes(before, after)] == ["new.txt", "other", "tracked"]
    assert "turn" in await trees.diff(before, after)
    assert "turn" in (await trees.worktree_changes(str(repo.root))).diff
    await undone(trees, before, after)
    assert repo.files() == then | {b"tracked": (stat.S_IFREG | 0o644, b"dirty\n")}


def _spring(repo: Repo) -> None:
    with suppress(CalledProcessError):  # no filter answers like that
        repo.git("status")


@story
async def test_x15_nothing_that_a_repository_names_is_run(repo: Repo, trap: Trap) -> None:
    gits = repo.gits()
    await _whole_turn(repo)
    assert trap.sprung() == []
    assert repo.gits() == gits
    _spring(repo)  # these are traps indeed
    assert {"core.fsmonitor", "filter.evil.process"} <= set(trap.sprung())


@story
async def test_x15_nothing_that_the_person_set_up_for_git_is_run(tmp_path: Path, trap: Trap) -> None:
    repo = Repo(tmp_path / "work")
    repo.commit(tracked="one\n", other="two\n")
    repo.write(".gitattributes", "* filter=evil diff=evil\n")
    trap.set_in(repo, "--global")
    await _whole_turn(repo)
    assert trap.sprung() == []
    _spring(repo)
    assert "core.fsmonitor" in trap.sprung()


@story
async def test_x15_nothing_that_the_environment_names_is_run(tmp_path: Path, trap: Trap) -> None:
    repo = Repo(tmp_path / "work")
    repo.commit(tracked="one\n", other="two\n")
    bait = tmp_path / "bait.config"
    bait.write_text(f"[core]\n\tfsmonitor = {trap.script('bait')}\n")
    hostile = {
        "GIT_EXTERNAL_DIFF": trap.script("external diff"),
        "GIT_PAGER": trap.script("pager"),
        "PAGER": trap.script("pager"),
        "GIT_CONFIG_GLOBAL": str(bait),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": trap.script("counted"),
        "GIT_DIR": str(tmp_path / "elsewhere"),
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "objects"),
        "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_EXEC_PATH": str(tmp_path),
        "LD_PRELOAD": str(tmp_path / "nothing.so"),
    }
    plain, repo.env = repo.env, repo.env | hostile
    trees = trees_of(repo)
    repo.env = plain
    before = await taken(trees, repo.root)
    repo.write("tracked", "turn\n")
    after = await taken(trees, repo.root)
    await undone(trees, before, after)
    assert trap.sprung() == []
    assert sorted(os.listdir(tmp_path)) == ["bait.config", "home", "trap", "work"]


@story
async def test_x15_a_git_in_the_work_tree_is_not_run(repo: Repo, trap: Trap) -> None:
    os.symlink(trap.script("git"), repo.root / "git")
    repo.git("config", "--unset", "core.fsmonitor")
    repo.env["PATH"] = f".:{repo.root.name}::{repo.env['PATH']}"
    trees = trees_of(repo)
    assert isinstance(await trees.take(str(repo.root)), Snapshot)
    assert trap.sprung() == []


@story
async def test_x15_nothing_that_a_submodule_names_is_run(tmp_path: Path, trap: Trap) -> None:
    other = Repo(tmp_path / "other")
    other.commit(file="x\n")
    repo = Repo(tmp_path / "work")
    repo.commit(tracked="one\n", other="two\n")
    repo.git("submodule", "--quiet", "add", str(other.root), "sub")
    repo.commit()
    sub = Repo(repo.root / "sub", git=False)
    sub.env |= {"HOME": str(repo.home)}
    trap.set_in(sub)
    nested = Repo(repo.root / "nested")
    nested.commit(file="x\n")
    trap.set_in(nested)
    repo.write("sub/file", "changed\n")
    trap.reset()
    await _whole_turn(repo)
    assert trap.sprung() == []
    _spring(repo)
    assert "core.fsmonitor" in trap.sprung()


@story
async def test_x15_missing_objects_are_not_fetched(tmp_path: Path, trap: Trap) -> None:
    """A partial clone names where the rest is, and that can be a program."""
    other = Repo(tmp_path / "other")
    other.commit(tracked="one\n", other="two\n")
    other.git("config", "uploadpack.allowFilter", "true")
    clone = Repo(tmp_path / "work", git=False)
    clone.git("clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{other.root}", ".")
    clone.git("config", "protocol.ext.allow", "always")
    clone.git("config", "remote.origin.url", f"ext::{trap.script('remote')}")
    clone.git("read-tree", "HEAD")
    clone.write("tracked", "here\n")
    trees = trees_of(clone)
    before = await taken(trees, clone.root)
    os.unlink(clone.root / "tracked")
    after = await taken(trees, clone.root)
    await undone(trees, before, after)
    assert (clone.root / "tracked").read_text() == "here\n"
    with pytest.raises(Exception, match="failed"):
        await trees.worktree_changes(str(clone.root))
    assert trap.sprung() == []


@story
async def test_x15_settings_that_include_others_or_move_the_work_tree(tmp_path: Path, trap: Trap) -> None:
    repo = Repo(tmp_path / "work")
    repo.commit(tracked="one\n", other="two\n")
    evil = tmp_path / "evil.config"
    evil.write_text(f"[core]\n\tfsmonitor = {trap.script('included')}\n")
    repo.git("config", "include.path", str(evil))
    repo.git("config", "includeIf.gitdir:/.path", str(evil))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    repo.git("config", "core.worktree", str(elsewhere))
    await _whole_turn(repo)
    assert trap.sprung() == []
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("name", [".gitignore", "inner/.gitignore", ".gitattributes", ".git/objects/info/alternates"])
@story
async def test_a_fifo_where_git_reads_does_not_stop_undo(tmp_path: Path, name: str):
    """Symptom: a .gitignore that a command had made a FIFO held our git for minutes at every look."""
    repo = Repo(tmp_path / "repo")
    repo.write("inner/a", "one\n")
    repo.commit()
    os.mkfifo(repo.root / name)
    trees = trees_of(repo)
    async with asyncio.timeout(PATIENCE):
        before = await taken(trees, repo.root)
        repo.write("inner/a", "two\n")
        after = await taken(trees, repo.root)
        assert [change.path for change in await trees.changes(before, after)] == ["inner/a"]
        assert (await trees.worktree_changes(str(repo.root))).changes != ()


@story
async def test_rules_without_end_do_not_take_all_memory(tmp_path: Path):
    repo = Repo(tmp_path / "repo")
    repo.write(".gitignore", "")
    os.truncate(repo.root / ".gitignore", 20 << 30)  # takes no room on disk
    async with asyncio.timeout(PATIENCE):
        result = await trees_of(repo).take(str(repo.root))
    assert isinstance(result, NoSnapshot | Snapshot)
