"""What others would obey later stays as it is, whatever a command tries; commits go on."""

import asyncio
import os
from pathlib import Path

import pytest

from coderelay.workspace.sandbox.git_autorun_files import read_file
from coderelay.workspace.sandbox.sandbox_backend import SandboxBackend
from tests.house import story
from tests.sandbox.confined import confined, git, make_repository

NAMES = (".coder", ".mcp.json", ".vscode", ".idea", ".envrc", ".claude")
PLANTED = {
    ".coder/config.json": "{}",
    ".mcp.json": "{}",
    ".vscode/tasks.json": "[]",
    ".idea/workspace.xml": "<project/>",
    ".envrc": "true",
    ".claude/settings.json": "{}",
    ".claude/settings.local.json": "{}",
}
ATTACK = """
mkdir evil.d; echo evil > evil.d/x; echo evil > evil
for n in .coder .mcp.json .vscode .idea .envrc .claude/settings{,.local}.json .git/hooks .git/config; do
  echo evil > $n; echo evil >> $n/x; echo evil > $n/tasks.json
  mv $n moved; rm -rf $n; mkdir -p $n; ln -sfn evil.d $n; ln -f evil $n; cp -rf evil.d $n
  mv -f evil $n; mv -T evil.d $n
  ln -s $n link; echo evil > link; echo evil > link/x; rm -f link
done
git config core.fsmonitor evil
echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
echo ../evil > .git/commondir
mv .git g2 && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit && echo evil > .git/config
mv .claude c2 && mkdir -p .claude && echo evil > .claude/settings.json
true
"""


def guarded(work: Path) -> dict[str, bytes]:
    """All that is guarded, by name; folders have no content."""
    found: dict[str, bytes] = {}
    for top in (*NAMES, ".git/hooks", ".git/config", ".git/commondir"):
        path = work / top
        for each in [path, *sorted(path.rglob("*"))] if os.path.lexists(path) else []:
            found[str(each.relative_to(work))] = each.read_bytes() if each.is_file() else b""
    return found


@pytest.mark.parametrize("planted", [PLANTED, {}], ids=["there", "absent"])
@story
async def test_no_command_changes_what_is_guarded(tmp_path: Path, backend: SandboxBackend, planted: dict[str, str]):
    work = tmp_path / "work"
    make_repository(work)
    for name, text in planted.items():
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text(text)
    before = guarded(work)
    async with confined(tmp_path, backend) as inside:
        await inside.bash(ATTACK)
        await inside.bash(ATTACK)
    assert guarded(work) == before


@story
async def test_the_attack_works_where_there_is_no_sandbox(tmp_path: Path):
    """So that the test before can fail."""
    make_repository(tmp_path / "work")
    before = guarded(tmp_path / "work")
    async with confined(tmp_path, "none") as inside:
        await inside.bash(ATTACK)
    changed = guarded(tmp_path / "work")
    assert {*NAMES} <= changed.keys() - before.keys()
    assert (tmp_path / "work/g2/commondir").read_text() == "../evil\n"
    assert changed[".git/hooks/pre-commit"] == changed[".git/config"] == b"evil\n"


@story
async def test_git_commits(tmp_path: Path, backend: SandboxBackend):
    work = tmp_path / "work"
    make_repository(work)
    async with confined(tmp_path, backend) as inside:
        await inside.output("echo one > file; git add file; git commit -qm first; git checkout -qb side; git status")
    assert git(work, "log", "--format=%s %an", "side") == "first Ada"
    assert git(work, "status", "--short") == ""


@story
async def test_git_commits_in_a_folder_of_the_repository_and_in_a_work_tree(
    tmp_path: Path, bubblewrap: SandboxBackend
):
    repository = tmp_path / "repository"
    make_repository(repository)
    (repository / "inner").mkdir()
    (repository / "inner/file").write_text("one")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "first")
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "tree"))
    for work in (repository / "inner", tmp_path / "tree"):
        async with confined(tmp_path, bubblewrap, work=work) as inside:
            await inside.output(
                f"echo two >> {'file' if work.name == 'inner' else 'inner/file'}; git commit -qam second"
            )
            refused = await inside.bash(
                "cd $(git rev-parse --git-common-dir) && touch hooks/pre-commit; echo > config"
            )
            assert refused.output.count("Read-only file system") == 2
    assert git(repository, "log", "--format=%s", "side") == git(repository, "log", "--format=%s") == "second\nfirst"


@story
async def test_a_git_file_that_came_with_an_archive_opens_no_other_repository(
    tmp_path: Path, bubblewrap: SandboxBackend
):
    make_repository(tmp_path / "person")
    work = tmp_path / "work"
    work.mkdir()
    (work / ".git").write_text(f"gitdir: {tmp_path / 'person/.git'}\n")
    async with confined(tmp_path, bubblewrap) as inside:
        refused = await inside.bash("git commit --allow-empty -m evil; touch ../person/.git/x; echo > .git")
        assert refused.output.count("Read-only file system") == 3
    assert not (tmp_path / "person/.git/x").exists()


@story
async def test_what_is_made_to_be_guarded_is_gone_afterwards(tmp_path: Path, backend: SandboxBackend):
    make_repository(tmp_path / "work")
    async with confined(tmp_path, backend) as inside:
        assert {*NAMES} <= {*(await inside.output("ls -A")).split()}
        (inside.work / ".vscode/tasks.json").write_text("[]")  # the person's, from outside
        await inside.output("true")
    assert sorted(os.listdir(inside.work)) == [".git", ".vscode"]


@story
async def test_a_repository_that_is_made_meanwhile_is_guarded_from_then_on(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend) as inside:
        await inside.output("git init -q . && git config user.name Ada")
        before = guarded(inside.work)[".git/config"]
        await inside.bash("git config core.fsmonitor evil; touch .git/hooks/pre-commit")
        assert (inside.work / ".git/config").read_bytes() == before
        assert not (inside.work / ".git/hooks/pre-commit").exists()


@story
async def test_what_the_person_replaces_meanwhile_is_guarded_again(tmp_path: Path, bubblewrap: SandboxBackend):
    """Outside of the sandbox a mount keeps nobody from replacing what it lies on, and ends with it."""
    make_repository(tmp_path / "work")
    async with confined(tmp_path, bubblewrap) as inside:
        await inside.output("true")
        git(inside.work, "config", "core.editor", "ed")
        refused = await inside.bash("echo evil >> .git/config")
        assert (refused.exit_code, "ed" in (inside.work / ".git/config").read_text()) == (1, True)


@story
async def test_two_sessions_in_one_folder_take_away_nothing_from_each_other(
    tmp_path: Path, bubblewrap: SandboxBackend
):
    async with confined(tmp_path, bubblewrap) as staying:
        await staying.output("true")
        async with confined(tmp_path, bubblewrap) as leaving:
            await leaving.output("true")
        refused = await staying.bash("touch .vscode/tasks.json")
        assert "Read-only file system" in refused.output
        assert {*NAMES} <= {*os.listdir(staying.work)}
    assert os.listdir(staying.work) == []


OBEYED = {
    ".husky/pre-commit": "true",
    ".pre-commit-config.yaml": "repos: []",
    ".npmrc": "x=1",
    ".cargo/config.toml": "[build]",
    ".devcontainer/devcontainer.json": "{}",
    "my.code-workspace": "{}",
}


@story
async def test_files_that_other_programs_obey_are_not_changed_by_a_command(
    tmp_path: Path, bubblewrap: SandboxBackend
):
    make_repository(tmp_path / "work")
    for name, text in OBEYED.items():
        (tmp_path / "work" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "work" / name).write_text(text)
    async with confined(tmp_path, bubblewrap) as inside:
        for name in OBEYED:
            top = name.split("/")[0]
            await inside.bash(f"echo evil > {name}; rm -f {name}; mv {top} away; echo evil > e; mv e {name}")
        assert {name: (inside.work / name).read_text() for name in OBEYED} == OBEYED
        await inside.output("echo y > .github; echo x > .cargo/other; cat .npmrc")


@story
async def test_sandlock_puts_files_that_other_programs_obey_back(tmp_path: Path, backend: SandboxBackend):
    """Commands read them, since package managers obey them in the sandbox too."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work/.npmrc").write_text("x=1\n")
    async with confined(tmp_path, backend) as inside:
        ran = await inside.bash("cat .npmrc; echo evil > .npmrc")
        assert ran.output.startswith("x=1\n")
        assert (inside.work / ".npmrc").read_text() == "x=1\n"


@story
async def test_a_command_that_makes_what_other_programs_obey_loses_it(tmp_path: Path, backend: SandboxBackend):
    make_repository(tmp_path / "work")
    async with confined(tmp_path, backend) as inside:
        for name in OBEYED:
            made = await inside.bash(f"mkdir -p $(dirname {name}); echo evil > {name}")
            assert not (inside.work / name).exists()
            assert "Put back as it was" in made.output
        await inside.bash("mkdir .cursor; ln -s /etc .zed")
        assert not os.path.lexists(inside.work / ".zed")
        assert not (inside.work / ".cursor").exists()


@pytest.mark.parametrize(
    ("attack", "name"),
    [
        ("mkdir stuff; echo evil > stuff/config.toml; ln -s stuff .cargo", ".cargo"),
        ("ln -s stuff .config", ".config"),
        ("echo evil > x.moved-1.code-workspace", "x.moved-1.code-workspace"),
    ],
)
@story
async def test_what_other_programs_obey_is_found_behind_a_link_and_an_odd_name(
    tmp_path: Path, backend: SandboxBackend, attack: str, name: str
):
    make_repository(tmp_path / "work")
    async with confined(tmp_path, backend) as inside:
        assert name in await inside.output(attack)
    assert not os.path.lexists(inside.work / name)


@story
async def test_two_commands_at_once_leave_nothing_that_other_programs_obey(tmp_path: Path, backend: SandboxBackend):
    make_repository(tmp_path / "work")
    async with confined(tmp_path, backend) as inside:
        await asyncio.gather(inside.output("echo evil > .vimrc"), inside.output("true"))
        assert not os.path.lexists(inside.work / ".vimrc")


@story
async def test_what_a_person_or_a_tool_makes_meanwhile_stays(tmp_path: Path, backend: SandboxBackend):
    make_repository(tmp_path / "work")
    async with confined(tmp_path, backend) as inside:
        running = await inside.start("sleep 100")
        await inside.output("true")
        (inside.work / ".npmrc").write_text("x=1\n")
        await inside.output("true")
        assert (inside.work / ".npmrc").read_text() == "x=1\n"
        await running.stop()
        (inside.work / "mise.toml").write_text("x=1\n")
    assert (inside.work / "mise.toml").read_text() == "x=1\n"


def test_looking_at_a_folder_where_a_file_is_expected_left_its_descriptor_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    assert [read_file(str(tmp_path)) for _ in range(20)] == [None] * 20
    assert len(os.listdir("/proc/self/fd")) == before
