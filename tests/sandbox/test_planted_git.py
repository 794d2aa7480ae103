"""A command leaves something in the workspace that git would obey outside of the sandbox: it never runs there."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coderelay.workspace.sandbox.sandbox_backend import SandboxBackend
from coderelay.workspace.sandbox.sandbox_state_folder import recover
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.house import story
from tests.model_server import bash, proposes, says, script
from tests.sandbox.confined import confined, eventually, git, make_repository
from tests.sandbox.test_lifetime import OWNER, processes_with

GITLINK = """
git init -q nested; git -C nested -c user.name=a -c user.email=a commit -q --allow-empty -m one
git -c advice.addEmbeddedRepo=false add nested; git -C nested config core.fsmonitor $PWD/evil.sh
"""
BARE = """
mkdir -p src/hooks; cd src; mkdir objects refs; echo ref: refs/heads/main > HEAD
printf '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\n' > config
"""
PLANTS = {
    "gitlink": GITLINK,
    "gitlink-hook": GITLINK.replace("git -C nested config", "cp evil.sh nested/.git/hooks/post-index-change; #"),
    "gitlink-in-objects": "mkdir -p odd/objects odd/refs; echo ref: refs/heads/main > odd/HEAD;"
    + GITLINK.replace("nested", "odd/objects/nested"),
    "bare": f"{BARE} echo 'fsmonitor = {{evil}}' >> config",
    "bare-with-hooks": f"{BARE} cp {{evil}} hooks/post-index-change; echo one > hooks/use.ts",
    "bare-by-commondir": "git init -q nested; git -C nested config core.fsmonitor {evil}; git -C nested config "
    "core.worktree $PWD/nested; mkdir src; cp nested/.git/HEAD src; echo ../nested/.git > src/commondir",
    "commondir": "cp -r .git nested; git config --file nested/config core.fsmonitor {evil}; "
    "echo ../nested > .git/commondir",
    "cache": "git init -q $PIP_CACHE_DIR/r; git -C $PIP_CACHE_DIR/r config core.fsmonitor {evil}; "
    "mkdir src; echo gitdir: $PIP_CACHE_DIR/r/.git > src/.git",
    "named-otherwise": "git init -q nested; mv nested/.git nested/.other; mkdir src; "
    "echo gitdir: ../nested/.other > src/.git; git config --file nested/.other/config core.fsmonitor {evil}",
    "known-nested": "git -C vendored config core.fsmonitor {evil}",
    "known-nested-hook": "cp evil.sh vendored/.git/hooks/post-index-change",
    "odd-config": r"""git init -q src; printf '[core]\nbare=0\n[core] fsmonitor = "{evil}"\n' > src/.git/config""",
    "nul": "git init -q $PIP_CACHE_DIR/r; git -C $PIP_CACHE_DIR/r config core.fsmonitor {evil}; "
    r"mkdir src; printf 'gitdir: %s/r/.git\0x' $PIP_CACHE_DIR > src/.git",
    "capitals": "git init -q $PIP_CACHE_DIR/r; git -C $PIP_CACHE_DIR/r config core.fsmonitor {evil}; "
    "mkdir -p src/.GIT src/.Git src/.gIT src/.giT; echo gitdir: $PIP_CACHE_DIR/r/.git > src/.git",
    "shared-without-head": "mkdir -p nested/objects nested/refs nested/worktrees/x src; "
    "echo ref: refs/heads/main > nested/worktrees/x/HEAD; echo ../.. > nested/worktrees/x/commondir; "
    "git config --file nested/config core.fsmonitor {evil}; echo gitdir: ../nested/worktrees/x > src/.git",
    "linked": "git init -q $PIP_CACHE_DIR/r; git -C $PIP_CACHE_DIR/r config core.fsmonitor {evil}; "
    "ln -s $PIP_CACHE_DIR/r src",
    "linked-over-links": "git init -q $PIP_CACHE_DIR/a/r; git -C $PIP_CACHE_DIR/a/r config core.fsmonitor {evil}; "
    "mkdir $PIP_CACHE_DIR/b; ln -s ../a $PIP_CACHE_DIR/b/c; ln -s $PIP_CACHE_DIR/b nested; ln -s nested/c/r src",
    "linked-to-objects": "git init -q .git/objects/r; git -C .git/objects/r config core.fsmonitor {evil}; "
    "ln -s .git/objects/r src",
    "included": "git init -q src; git config --file i core.fsmonitor {evil}; git -C src config include.path $PWD/i",
}
FOLDERS = (".", "src", "nested", "vendored", "odd/objects/nested")


def prepare(root: Path, plant: str) -> str:
    """A repository with another one in it. Returns a command that makes git run a program, which touches a canary."""
    work = root / "work"
    make_repository(work)
    make_repository(work / "vendored")
    evil = work / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {root}/canary\n")
    evil.chmod(0o755)
    return PLANTS[plant].replace("{evil}", str(evil))


def git_runs_it(root: Path) -> bool:
    """Whether the canary is touched when a person uses git wherever something may have been planted."""
    (root / "canary").unlink(missing_ok=True)
    env = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for folder in (root / "work" / name for name in FOLDERS):
        if folder.is_dir():
            (folder / "new").touch()
            for command in (["status"], ["add", "new"], ["status"]):
                subprocess.run(["git", *command], cwd=folder, env=env, capture_output=True, check=False, timeout=60)
    return (root / "canary").exists()


@pytest.mark.parametrize("plant", PLANTS)
@story
async def test_the_persons_git_runs_nothing_that_a_command_has_planted(
    tmp_path: Path, backend: SandboxBackend, plant: str
):
    attack = prepare(tmp_path, plant)
    async with confined(tmp_path, backend) as inside:
        finished = await inside.bash(attack)
        assert "moved aside" in finished.output
        assert not git_runs_it(tmp_path)
    assert not git_runs_it(tmp_path)


@pytest.mark.parametrize("plant", PLANTS)
@story
async def test_what_is_planted_would_run(tmp_path: Path, plant: str):
    """So that the test before can fail."""
    attack = prepare(tmp_path, plant)
    async with confined(tmp_path, "none", env={"PIP_CACHE_DIR": str(tmp_path / "cache")}) as inside:
        await inside.bash(attack)
    assert git_runs_it(tmp_path)


@pytest.mark.parametrize("plant", ["gitlink", "bare", "commondir"])
@story
async def test_what_a_background_command_plants_is_moved_aside_while_it_runs(
    tmp_path: Path, backend: SandboxBackend, plant: str
):
    attack = prepare(tmp_path, plant)
    async with confined(tmp_path, backend) as inside:
        running = await inside.start(f"({attack}) 2>/dev/null; touch planted; exec sleep 900")
        await eventually(lambda: (inside.work / "planted").exists() and moved_aside(inside.work) != [])
        assert not git_runs_it(tmp_path)
        assert not running.is_over
        assert "moved aside" in await inside.output("true")  # the next command tells
        await running.stop()


@pytest.mark.parametrize("plant", ["gitlink", "bare", "commondir"])
@story
async def test_what_was_planted_before_the_owner_was_killed_is_moved_aside_at_the_next_start(
    tmp_path: Path, backend: SandboxBackend, plant: str
):
    attack = prepare(tmp_path, plant)
    argv = [
        sys.executable,
        "-c",
        OWNER,
        str(tmp_path),
        backend,
        f"({attack}) 2>/dev/null; touch planted; exec sleep 900",
    ]
    owner = await asyncio.create_subprocess_exec(*argv)
    try:
        await eventually(lambda: (tmp_path / "work/planted").exists())
    finally:
        owner.kill()
        await owner.wait()
    await eventually(lambda: processes_with(str(tmp_path)) == [])
    restored = recover(str(tmp_path / "coder"))
    assert not git_runs_it(tmp_path)
    assert restored != []
    assert recover(str(tmp_path / "coder")) == []
    assert os.listdir(tmp_path / "coder/sandboxes") == [".lock"]


@story
async def test_what_the_person_did_long_after_the_owner_was_killed_stays(tmp_path: Path, backend: SandboxBackend):
    work = tmp_path / "work"
    make_repository(work)
    make_repository(work / "nested")
    argv = [sys.executable, "-c", OWNER, str(tmp_path), backend, "touch planted; exec sleep 900"]
    owner = await asyncio.create_subprocess_exec(*argv)
    try:
        await eventually(lambda: (work / "planted").exists())
    finally:
        owner.kill()
        await owner.wait()
    await eventually(lambda: processes_with(str(tmp_path)) == [])
    (written,) = (tmp_path / "coder/sandboxes").glob("*/before.json")
    an_hour_ago = time.time() - 3600
    os.utime(written, (an_hour_ago, an_hour_ago))
    git(work, "remote", "add", "origin", "https://example.org/r.git")
    git(work / "nested", "config", "alias.st", "status")
    (work / "nested/.git/hooks/pre-commit").write_text("#!/bin/sh\n")
    assert recover(str(tmp_path / "coder")) == []
    assert git(work, "remote") == "origin"
    assert git(work / "nested", "config", "alias.st") == "status"
    assert moved_aside(work) == []


@story
async def test_coder_that_was_killed_while_a_command_ran_mends_and_tells_at_its_next_start(
    tmp_path: Path, bubblewrap: SandboxBackend, serve: Serve
):
    attack = prepare(tmp_path, "commondir")
    (tmp_path / "work/plant.sh").write_text(f"({attack}) 2>/dev/null; touch planted; exec sleep 900\n")
    (tmp_path / "work/Makefile").write_text("test:\n\tbash plant.sh\n")
    server = serve(script(proposes(bash("make test")), says("done"), says("done")))
    coder = Coder(tmp_path / "home", tmp_path / "work", server.base_url)
    started = coder.start("-p", "go", "--mode", "auto-edit")
    try:
        await eventually(lambda: (tmp_path / "work/planted").exists())
    finally:
        started.kill()
    await eventually(lambda: processes_with(str(tmp_path / "work")) == [])
    ran = coder.run("-p", "hello")
    assert not git_runs_it(tmp_path)
    assert "moved aside" in ran.err
    assert str(tmp_path / "work" / ".git" / "commondir") in ran.err
    assert "moved aside" not in coder.run("-p", "hello").err


@story
async def test_repositories_made_by_commands_keep_working(tmp_path: Path, backend: SandboxBackend):
    make_repository(tmp_path / "work")
    git(tmp_path / "work", "commit", "-q", "--allow-empty", "-m", "one")
    person = "-c user.name=Ada -c user.email=ada@example.org"
    async with confined(tmp_path, backend) as inside:
        made = await inside.output(
            f"set -e; git init -q one; cd one; git config user.name Ada; git {person} commit -q --allow-empty -m one"
            "; cd ..; git clone -q one two; git init -q --bare three.git; git -C two remote add three ../three.git"
            "; mkdir -p node_modules/dep; git clone -q one node_modules/dep/src; git worktree add -q tree"
            f"; cd one; git {person} -c protocol.file.allow=always submodule --quiet add ../two sub; cd .."
            f"; git clone -q --filter=blob:none file://$PWD/one four; git -C two sparse-checkout init --cone"
        )
        assert "moved aside" not in made
        again = await inside.output("set -e; for f in one two tree four one/sub; do git -C $f status --short; done")
        assert "moved aside" not in again
    assert moved_aside(inside.work) == []
    assert git(inside.work / "tree", "log", "--format=%s") == "one"


@story
async def test_a_known_repository_keeps_its_settings_and_gets_back_what_was_replaced(
    tmp_path: Path, backend: SandboxBackend
):
    make_repository(tmp_path / "work")
    nested = tmp_path / "work/nested"
    make_repository(nested)
    git(nested, "config", "filter.lfs.clean", "git-lfs clean -- %f")
    hook = nested / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    async with confined(tmp_path, backend) as inside:
        allowed = await inside.output("cd nested; git config user.name Eve; git commit -q --allow-empty -m one")
        assert "moved aside" not in allowed
        await inside.bash("cd nested; git config filter.lfs.clean evil; echo evil > .git/hooks/pre-commit")
    assert git(nested, "config", "filter.lfs.clean") == "git-lfs clean -- %f"
    assert git(nested, "config", "user.name") == "Eve"
    assert (hook.read_text(), os.access(hook, os.X_OK)) == ("#!/bin/sh\nexit 0\n", True)


@pytest.mark.parametrize("attack", ["git config --file config core.fsmonitor evil", "echo evil > hooks/update"])
@pytest.mark.parametrize("name", ["nested/.git", ".bare", "repository.git"])
@story
async def test_a_repository_that_was_there_works_on_after_something_was_planted_in_it(
    tmp_path: Path, backend: SandboxBackend, name: str, attack: str
):
    make_repository(tmp_path / "work")
    known = tmp_path / "work" / name
    git(tmp_path, "init", "-q", "--bare", str(known))
    git(known, "remote", "add", "origin", "https://example.org/r.git")
    async with confined(tmp_path, backend) as inside:
        assert "moved aside" in await inside.output(f"cd {name}; {attack}")
    assert git(known, "--git-dir=.", "remote", "get-url", "origin") == "https://example.org/r.git"
    assert "evil" not in (known / "config").read_text()
    assert not (known / "hooks/update").exists()


@story
async def test_settings_that_other_programs_add_to_nested_repositories_stay(tmp_path: Path, backend: SandboxBackend):
    make_repository(tmp_path / "work")
    make_repository(tmp_path / "work/one")
    git(tmp_path / "work/one", "commit", "-q", "--allow-empty", "-m", "one")
    async with confined(tmp_path, backend) as inside:
        made = await inside.output(
            "set -e; git clone -q --mirror one two.git; cd one; git config branch.main.vscode-merge-base origin/main"
            "; git config remote.origin.gh-resolved base; git config commit.gpgsign false"
            "; git config receive.denyCurrentBranch ignore"
        )
        assert "moved aside" not in made
    assert moved_aside(inside.work) == []


@story
async def test_a_background_command_plants_nothing_in_a_configuration_that_the_person_has_replaced(
    tmp_path: Path, bubblewrap: SandboxBackend
):
    """Git replaces the file, and the mount that guards it ends with the old one."""
    work = tmp_path / "work"
    make_repository(work)
    plant = f"git config core.fsmonitor 'touch {tmp_path}/canary; :'"
    async with confined(tmp_path, bubblewrap) as inside:
        running = await inside.start(
            f"until {plant} 2>/dev/null; do touch tried; sleep 0.02; done; touch planted; sleep 900"
        )
        await eventually(lambda: (work / "tried").exists())
        git(work, "config", "branch.main.remote", "origin")
        await eventually(lambda: (work / "planted").exists() and moved_aside(work) != [])
        assert not git_runs_it(tmp_path)
        assert not running.is_over
        await running.stop()
    assert not git_runs_it(tmp_path)


@story
async def test_the_person_configures_the_repository_and_adds_hooks_while_a_command_runs(
    tmp_path: Path, bubblewrap: SandboxBackend
):
    work = tmp_path / "work"
    make_repository(work)
    async with confined(tmp_path, bubblewrap) as inside:
        running = await inside.start("sleep 900")
        git(work, "config", "branch.main.remote", "origin")
        (work / ".git/hooks/pre-commit").write_text("#!/bin/sh\n")
        assert "moved aside" not in await inside.output("true")
        await running.stop()
    assert (git(work, "config", "branch.main.remote"), moved_aside(work)) == ("origin", [])


@story
async def test_a_rebase_that_a_command_has_left_starts_no_program(tmp_path: Path, backend: SandboxBackend):
    work = tmp_path / "work"
    make_repository(work)
    git(work, "commit", "-q", "--allow-empty", "-m", "one")
    git(work, "commit", "-q", "--allow-empty", "-m", "two")
    todo = rf"break\n x touch {tmp_path}/canary\n"
    async with confined(tmp_path, backend) as inside:
        left = await inside.output(f"GIT_SEQUENCE_EDITOR=\"printf '{todo}' >\" git rebase -i HEAD~1 2>&1")
        assert "rebase-merge/git-rebase-todo" in left
    with pytest.raises(subprocess.CalledProcessError):
        git(work, "rebase", "--continue")
    assert not (tmp_path / "canary").exists()
    git(work, "rebase", "--abort")


@story
async def test_a_folder_of_hooks_that_is_a_link_into_the_workspace_is_guarded(
    tmp_path: Path, backend: SandboxBackend
):
    work = tmp_path / "work"
    make_repository(work)
    for hook in (work / ".git/hooks").iterdir():
        hook.unlink()
    (work / ".git/hooks").rmdir()
    (work / "githooks").mkdir()
    (work / ".git/hooks").symlink_to("../githooks")
    async with confined(tmp_path, backend) as inside:
        assert (await inside.bash("echo evil > githooks/post-index-change")).exit_code == 1
    assert os.listdir(work / "githooks") == []


def moved_aside(work: Path) -> list[str]:
    return sorted(name for _, folders, files in os.walk(work) for name in (*folders, *files) if ".moved-" in name)


@pytest.mark.parametrize(
    ("setting", "place"),
    [
        ("include.path=../settings/git", "settings/git"),
        ("core.hooksPath=.husky/_", ".husky/_/post-index-change"),
        ("core.hooksPath=.husky/_", ".husky/post-index-change"),
        ("core.hooksPath=hooks", "hooks/post-index-change"),
        ("core.fsmonitor=./tools/monitor.sh", "tools/monitor.sh"),
        ("filter.x.clean=sh tools/clean.sh %f", "tools/clean.sh"),
    ],
)
@pytest.mark.parametrize("exists", [True, False], ids=["there", "absent"])
@pytest.mark.parametrize("whose", ["repository", "person"])
@story
async def test_what_gits_configuration_names_in_the_workspace_is_guarded(
    tmp_path: Path, backend: SandboxBackend, setting: str, place: str, exists: bool, whose: str
):
    work, named = tmp_path / "work", tmp_path / "work" / place
    make_repository(work)
    key, _, value = setting.partition("=")
    if whose == "repository":
        git(work, "config", key, value)
    else:
        (tmp_path / "person").mkdir()
        value = str(work / "settings/git") if key == "include.path" else value
        git(work, "config", "--file", str(tmp_path / "person/.gitconfig"), key, value)
    if exists:
        named.parent.mkdir(parents=True)
        named.write_text("")
    async with confined(tmp_path, backend) as inside:
        await inside.bash(f"mkdir -p {named.parent}; echo evil > {place}; rm {place}; echo evil > {place}")
        assert await inside.output("git status >/dev/null 2>&1 && echo works") == "works\n"
    assert (named.read_text() if named.exists() else None) == ("" if exists else None)
