"""Git's configuration names files by relative paths, and unfinished work of git names programs: a command leaves such
a file in another work tree, or such a name, and the person's git does not run it."""

import os
import subprocess
from pathlib import Path

import pytest
from msgspec import Struct

from coderelay.workspace.sandbox.sandbox_backend import SandboxBackend
from tests.house import story
from tests.sandbox.confined import confined, git, make_repository
from tests.sandbox.test_planted_git import moved_aside


class Plant(Struct, frozen=True):
    """What the person has set up, what a command does, and what the person does then."""

    command: str
    person: str = "cd other; touch new; git add new; git status"
    set_up: str = "git commit -q --allow-empty -m one"
    setting: str = ""


HUSKY = "git config core.hooksPath .husky/_; git commit -q --allow-empty -m one"
STRATEGY = "mkdir git-merge-x; cp evil.sh git-merge-x/evil;"
SIDE = """
commit() { echo $2 > $1; git add $1; git commit -q -m $2; }
commit a one; git checkout -q -b side; commit b two; commit c three; git checkout -q main; commit b four
"""
PLANTS = {
    "hooks-of-another-work-tree": Plant(
        "git worktree add -q other; mkdir -p other/.husky/_; cp evil.sh other/.husky/_/post-index-change",
        set_up=HUSKY,
    ),
    "from-the-top": Plant(
        "git worktree add -q other; mkdir -p other/.husky/_; cp evil.sh other/.husky/_/post-index-change; "
        "touch other/new; git -C other add new; git add other; touch other/new",
        person="git status",
        set_up=HUSKY,
    ),
    "hooks-by-a-link": Plant(
        "git worktree add -q other; mkdir -p evils/_; ln -s ../evils other/.husky; "
        "cp evil.sh evils/_/post-index-change",
        set_up=HUSKY,
    ),
    "hooks-by-a-link-to-the-cache": Plant(
        "git worktree add -q other; mkdir -p $PIP_CACHE_DIR/_ other/.husky; ln -s $PIP_CACHE_DIR/_ other/.husky/_; "
        "cp evil.sh $PIP_CACHE_DIR/_/post-index-change",
        set_up=HUSKY,
    ),
    "filter-of-another-work-tree": Plant(
        "git worktree add -q other; mkdir other/tools; cp evil.sh other/tools/clean.sh; "
        "echo '* filter=x' > other/.gitattributes",
        set_up="git config filter.x.clean 'sh tools/clean.sh'; git commit -q --allow-empty -m one",
    ),
    "hooks-of-the-person": Plant(
        "git init -q other; mkdir other/.githooks; cp evil.sh other/.githooks/post-index-change",
        setting="core.hooksPath=.githooks",
    ),
    "separate-git-folder": Plant(
        "git init -q --separate-git-dir $PWD/o.git other; mkdir other/.githooks; "
        "cp evil.sh other/.githooks/post-index-change",
        setting="core.hooksPath=.githooks",
    ),
    "configured-work-tree": Plant(
        "git init -q other; git -C other config core.worktree ../../third; mkdir -p third/.githooks; "
        "cp evil.sh third/.githooks/post-index-change; touch third/new",
        person="cd other; git add -A; git status",
        setting="core.hooksPath=.githooks",
    ),
    "filter-of-the-person": Plant(
        "git init -q other; mkdir other/tools; cp evil.sh other/tools/clean.sh; "
        "echo '* filter=x' > other/.gitattributes",
        setting="filter.x.clean=./tools/clean.sh",
    ),
    "strategy-of-rebase": Plant(
        f"{STRATEGY} GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -f -i HEAD~1; "
        "echo x/evil > .git/rebase-merge/strategy; git commit -q --allow-empty -m moved",
        person="git rebase --continue; git rebase --abort",
        set_up=SIDE,
    ),
    "strategy-of-cherry-pick": Plant(
        f"{STRATEGY} git cherry-pick side~1 side; git config --file .git/sequencer/opts options.strategy x/evil; "
        "echo two > b; git add b",
        person="git -c core.editor=true cherry-pick --continue",
        set_up=SIDE,
    ),
    "lazygit": Plant("echo 'git: {paging: {pager: evil}}' > .git/lazygit.yml", person="sh .git/lazygit.yml"),
}


def prepare(root: Path, plant: Plant) -> None:
    (root / "person").mkdir()
    config = "[user]\nname = Ada\nemail = ada@example.org\n"
    (root / "person/.gitconfig").write_text(config)
    if plant.setting:
        key, _, value = plant.setting.partition("=")
        git(root, "config", "--file", str(root / "person/.gitconfig"), key, value)
    make_repository(root / "work")
    as_the_person(root, plant.set_up, check=True)
    evil = root / "work/evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {root}/canary\nexit 1\n")
    evil.chmod(0o755)


def as_the_person(root: Path, script: str, *, check: bool = False) -> None:
    env = os.environ | {"HOME": str(root / "person"), "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["bash", "-c", script], cwd=root / "work", env=env, capture_output=True, check=check, timeout=60)


@pytest.mark.parametrize("name", PLANTS)
@story
async def test_the_persons_git_runs_nothing_that_a_command_has_given_a_name_of_its_configuration(
    tmp_path: Path, backend: SandboxBackend, name: str
):
    prepare(tmp_path, PLANTS[name])
    async with confined(tmp_path, backend) as inside:
        assert "moved aside" in (await inside.bash(PLANTS[name].command)).output
        (tmp_path / "canary").unlink(missing_ok=True)
        as_the_person(tmp_path, PLANTS[name].person)
        assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("name", [name for name in PLANTS if name != "lazygit"])
@story
async def test_what_has_such_a_name_would_run(tmp_path: Path, name: str):
    """So that the test before can fail."""
    prepare(tmp_path, PLANTS[name])
    async with confined(tmp_path, "none", env={"PIP_CACHE_DIR": str(tmp_path / "cache")}) as inside:
        await inside.bash(PLANTS[name].command)
    (tmp_path / "canary").unlink(missing_ok=True)
    as_the_person(tmp_path, PLANTS[name].person)
    assert (tmp_path / "canary").exists()


@story
async def test_work_trees_of_a_project_with_hooks_keep_them(tmp_path: Path, backend: SandboxBackend):
    """With the same hooks as in the first work tree, and while the person changes those."""
    work = tmp_path / "work"
    make_repository(work)
    (work / ".husky/_").mkdir(parents=True)
    (work / ".husky/_/pre-commit").write_text("#!/bin/sh\n. .husky/pre-commit\n")
    (work / ".husky/pre-commit").write_text("#!/bin/sh\nexit 0\n")
    git(work, "add", ".husky/pre-commit")
    git(work, "commit", "-q", "-m", "one")
    git(work, "config", "core.hooksPath", ".husky/_")
    async with confined(tmp_path, backend) as inside:
        install = r"mkdir one/.husky/_; printf '#!/bin/sh\n. .husky/pre-commit\n' > one/.husky/_/pre-commit"
        made = await inside.output(f"git worktree add -q one; {install}")
        assert "moved aside" not in made
        running = await inside.start("sleep 900")
        if backend == "bubblewrap":  # the other one puts it back
            (work / ".husky/pre-commit").write_text("#!/bin/sh\nexit 2\n")
        again = await inside.output("git worktree add -q two; git worktree remove --force one; git worktree list")
        assert "moved aside" not in again
        await running.stop()
    assert moved_aside(work) == []
    assert (work / "two/.husky/pre-commit").exists()


@story
async def test_a_hook_that_is_put_back_can_be_run(tmp_path: Path, backend: SandboxBackend):
    work = tmp_path / "work"
    make_repository(work)
    git(work, "commit", "-q", "--allow-empty", "-m", "one")
    git(work, "config", "core.hooksPath", "tools")
    git(work, "worktree", "add", "-q", "other")
    hook = work / "other/tools/pre-commit"
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    async with confined(tmp_path, backend) as inside:
        assert "moved aside" in await inside.output("echo evil > other/tools/pre-commit")
    assert (hook.read_text(), os.access(hook, os.X_OK)) == ("#!/bin/sh\nexit 0\n", True)


@story
async def test_files_in_folders_that_other_programs_obey_stay_as_they_were(tmp_path: Path, backend: SandboxBackend):
    work = tmp_path / "work"
    make_repository(work)
    for name in (".devcontainer", ".husky", ".zed"):
        (work / name).mkdir()
        (work / name / "file").write_text("good")
    async with confined(tmp_path, backend) as inside:
        await inside.bash(
            "echo evil > .devcontainer/file; echo evil > .husky/new; ln -s ../evil .husky/_; mkdir .husky/in"
            "; echo evil > .husky/in/new; mv .zed other; mkdir .zed; echo evil > .zed/file"
        )
        assert await inside.output("cat .husky/file") == "good"
    for name in (".devcontainer", ".husky", ".zed"):
        files = {path for path in (work / name).rglob("*") if not path.is_dir() and ".moved-" not in path.name}
        assert files == {work / name / "file"}
        assert (work / name / "file").read_text() == "good"
