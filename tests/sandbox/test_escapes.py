"""Ways out of the sandbox that somebody has found, each tried again."""

import asyncio
import ctypes
import os
import socket
import tempfile
import time
from pathlib import Path

import pytest

from coderelay.workspace.processes.command_runner import CannotStart, ProcessesLost
from coderelay.workspace.processes.find_program import find_program, outside_path
from coderelay.workspace.sandbox.cache_folders import cache_folder
from coderelay.workspace.sandbox.sandbox_backend import SandboxBackend
from coderelay.workspace.sandbox.sandbox_profile import credential_places
from coderelay.workspace.sandbox.sandbox_state_folder import PrivateFolder
from coderelay.workspace.trees.snapshots import Snapshot, SnapshotTaker
from tests.house import story
from tests.patience import PATIENCE
from tests.sandbox.confined import confined, eventually, git, make_repository

JOIN_SESSION_KEYRING = 1
THIEF = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
taken = 0
for pid in filter(str.isdigit, os.listdir("/proc")):
    for number in range(12):
        if int(pid) != os.getpid():
            taken += libc.syscall(438, os.pidfd_open(int(pid)), number, 0) >= 0
print(taken)
"""
FLIP = """
import ctypes, os, time
for name in ("g/hooks", "g/objects", "g/refs"):
    os.makedirs(name)
open("g/config", "w").close(); open("g/HEAD", "w").write("ref: refs/heads/main\\n")
os.symlink("../person/plain", "link"); os.rename("g", ".git"); open("flips", "w").close()
while True:
    if not os.path.lexists(".git"):  # somebody has moved it aside
        os.symlink("../person/plain", ".git")
    ctypes.CDLL(None).renameat2(-100, b".git", -100, b"link", 2); time.sleep(0.004)
"""


@story
async def test_a_link_in_place_of_a_folder_of_git_opens_nothing_outside(tmp_path: Path, bubblewrap: SandboxBackend):
    toolchain = tmp_path / "person/.nvm"
    toolchain.mkdir(parents=True)
    make_repository(toolchain)
    (toolchain / "nvm.sh").write_text("original")
    make_repository(tmp_path / "work")
    async with confined(tmp_path, bubblewrap) as inside:
        await inside.output("ln -s ../../person/.nvm .git/modules")
        assert (await inside.bash("echo evil > ../person/.nvm/nvm.sh")).exit_code == 1
        await inside.output("rm .git/modules; mkdir .git/modules; ln -s ../../../person/.nvm/.git .git/modules/x")
        assert (await inside.bash("echo evil > ../person/.nvm/.git/description")).exit_code == 1
        await inside.output("mkdir .git/worktrees; ln -s ../../../person/.nvm .git/worktrees/x")
        (toolchain / "gitdir").touch()
        assert (await inside.bash("echo evil > ../person/.nvm/nvm.sh")).exit_code == 1
    assert (toolchain / "nvm.sh").read_text() == "original"


@story
async def test_a_linked_folder_of_settings_that_came_with_a_clone_opens_nothing_outside(
    tmp_path: Path, bubblewrap: SandboxBackend
):
    cargo, work = tmp_path / "person/.cargo", tmp_path / "work"
    cargo.mkdir(parents=True)
    (cargo / "env").write_text("original")
    work.mkdir()
    (work / ".claude").symlink_to("../person/.cargo")
    async with confined(tmp_path, bubblewrap) as inside:
        assert (await inside.bash("echo evil > ../person/.cargo/env")).exit_code == 1
    assert sorted(os.listdir(cargo)) == ["env"]
    assert (cargo / "env").read_text() == "original"


@story
async def test_a_link_that_comes_and_goes_while_a_sandbox_starts_opens_nothing_outside(
    tmp_path: Path, bubblewrap: SandboxBackend
):
    plain, work = tmp_path / "person/plain", tmp_path / "work"
    (plain / "hooks").mkdir(parents=True)
    (plain / "config").touch()
    work.mkdir()
    (work / "flip.py").write_text(FLIP)
    async with confined(tmp_path, bubblewrap) as inside:
        flipping = await inside.start("python3 flip.py")
        await eventually((work / "flips").exists)
        refused = 0
        was_link = set[bool]()
        for _ in range(100):
            if refused > 2:
                break
            was_link.add(os.path.islink(work / ".git"))
            try:
                await inside.bash("echo evil > ../person/plain/rc; echo evil > .git/rc")
            except CannotStart as error:
                refused += error.what == "sandbox"
        await flipping.stop()
    assert sorted(os.listdir(plain)) == ["config", "hooks"]
    assert refused or was_link == {True, False}, "the link was never in the way"


@story
async def test_no_descriptor_can_be_taken_from_those_that_run_a_command(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend) as inside:
        (inside.work / "thief.py").write_text(THIEF)
        assert await inside.output("python3 thief.py") == "0\n"


@story
async def test_a_command_that_stops_its_subreaper_is_ended(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend) as inside:
        with pytest.raises(ProcessesLost):
            await inside.bash("kill -STOP $PPID; while :; do date +%N > tick; sleep 0.05; done")
        await inside.output('touch tick; sleep 0.2; seen=$(cat tick); sleep 0.5; test "$seen" = "$(cat tick)"')


@story
async def test_a_command_that_stops_everything_it_sees_does_not_hold_the_end(
    tmp_path: Path, bubblewrap: SandboxBackend
):
    async with confined(tmp_path, bubblewrap) as inside:
        with pytest.raises(ProcessesLost):
            await inside.bash("kill -STOP 1 $PPID; sleep 60", seconds=5)
        assert await inside.output("echo next") == "next\n"
        began = time.monotonic()
        async with asyncio.timeout(PATIENCE):
            await inside.sandbox.close()
    assert time.monotonic() - began < 20


@story
async def test_a_git_that_a_command_has_written_is_not_run_outside(tmp_path: Path, bubblewrap: SandboxBackend):
    """In an environment of the workspace that the person has activated."""
    work = tmp_path / "work"
    make_repository(work)
    (work / ".venv/bin").mkdir(parents=True)
    (tmp_path / "linked").symlink_to(work / ".venv/bin")
    path = f"{tmp_path}/linked:{work}/.venv/bin:{os.environ['PATH']}"
    async with confined(tmp_path, bubblewrap, env={"PATH": path}) as inside:
        await inside.output(f'printf "#!/bin/sh\ntouch {tmp_path}/evil\n" > .venv/bin/git; chmod +x .venv/bin/git')
    assert isinstance(await SnapshotTaker(str(tmp_path / "coder"), {"PATH": path}).take(str(work)), Snapshot)
    assert not (tmp_path / "evil").exists()


def test_no_program_of_the_workspace_is_taken_for_one_of_the_machine(tmp_path: Path):
    work, system = tmp_path / "work", tmp_path / "bin"
    for folder in (work, system):
        folder.mkdir()
        (folder / "bash").touch(mode=0o755)
    (tmp_path / "linked").symlink_to(work)
    (tmp_path / "bin/rg").symlink_to(work / "bash")
    path = f".::{work}:{system}/../work:{tmp_path}/linked:{system}"
    assert find_program("bash", path, [str(work)]) == str(system / "bash")
    assert find_program("rg", path, [str(work)]) is None
    assert outside_path(path, [str(work)]) == str(system)


@pytest.mark.parametrize(
    ("prepared", "attack"),
    [
        ("own settings", "git config --file .git/config.worktree core.fsmonitor $PWD/evil.sh"),
        ("own settings, used", "git config --worktree core.fsmonitor $PWD/evil.sh"),
        ("submodule", "git config --file .git/modules/libs/foo/config core.fsmonitor $PWD/evil.sh"),
        ("nothing", "git init -q; git config core.fsmonitor $PWD/evil.sh"),
        ("nothing", "git init -q; cp evil.sh .git/hooks/post-index-change; touch file; git add file"),
        ("nothing", "git init -q sub; git -C sub config core.fsmonitor $PWD/evil.sh; echo gitdir: sub/.git > .git"),
        ("nothing", "git init -q sub; git -C sub config core.fsmonitor $PWD/evil.sh; ln -s sub/.git .git"),
    ],
    ids=["worktree", "worktree-used", "submodule", "init", "init-hooks", "git-file", "git-link"],
)
@story
async def test_the_persons_next_git_runs_nothing_that_a_command_has_named(
    tmp_path: Path, bubblewrap: SandboxBackend, prepared: str, attack: str
):
    work = tmp_path / "work"
    prepare(work, prepared)
    async with confined(tmp_path, bubblewrap) as inside:
        await inside.output(f"printf '#!/bin/sh\\ntouch {tmp_path}/evil\\n' > evil.sh; chmod +x evil.sh")
        await inside.bash(attack)
        (tmp_path / "evil").unlink(missing_ok=True)
        (work / "file").write_text("new")
        if (work / ".git").exists():
            git(work, "status")
            git(work / "libs/foo" if prepared == "submodule" else work, "status")
            git(work, "add", "file")
    assert not (tmp_path / "evil").exists()


def prepare(work: Path, prepared: str) -> None:
    if prepared == "nothing":
        work.mkdir()
        return
    make_repository(work)
    if prepared.startswith("own settings"):
        git(work, "config", "extensions.worktreeConfig", "true")
    if prepared == "own settings, used":
        git(work, "config", "--worktree", "core.sparseCheckout", "false")
    if prepared == "submodule":
        make_repository(work.parent / "foo")
        git(work.parent / "foo", "commit", "-q", "--allow-empty", "-m", "one")
        git(work, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../foo", "libs/foo")


@story
async def test_a_new_repository_keeps_what_names_no_program(tmp_path: Path, bubblewrap: SandboxBackend):
    async with confined(tmp_path, bubblewrap) as inside:
        made = "git init -q; git config user.name Ada; git config user.email a@b; git remote add origin ../other"
        assert await inside.output(f"{made}; touch file; git add .; git commit -qm one") == ""
        assert await inside.output("git log --format=%an; git remote") == "Ada\norigin\n"


@story
async def test_what_is_done_outside_after_a_command_follows_no_link_of_its(
    tmp_path: Path, bubblewrap: SandboxBackend
):
    home = tmp_path / "person"
    tree = home / "other/.git/worktrees/x"
    tree.mkdir(parents=True)
    (home / "empty/folder").mkdir(parents=True)
    (tree / "HEAD").touch()
    (tree / "commondir").touch()
    make_repository(tmp_path / "work")
    async with confined(tmp_path, bubblewrap) as inside:
        await inside.output("mkdir -p sub/x; touch sub/x/HEAD; ln -s ../sub .git/modules")
        await inside.output("rm .git/modules; ln -s ../../person/other/.git/worktrees .git/modules")
        assert sorted(os.listdir(tree)) == ["HEAD", "commondir"]
        await inside.output("rm .git/modules; mkdir -p .git/modules/y; touch .git/modules/y/HEAD")
        await inside.output("true")
    assert (home / "empty/folder").is_dir()


def test_taking_away_what_was_made_follows_no_link(tmp_path: Path):
    made, other = tmp_path / "work/made", tmp_path / "other"
    (other / "empty").mkdir(parents=True)
    (tmp_path / "coder").mkdir()
    made.parent.mkdir()
    private = PrivateFolder(str(tmp_path / "coder"))
    private.make_folders([str(made)])
    made.rmdir()
    made.symlink_to(other)
    private.remove()
    assert (other / "empty").is_dir()


def test_nothing_is_put_into_what_a_linked_cache_leads_to(tmp_path: Path):
    victim, env = tmp_path / "victim", {"HOME": str(tmp_path)}
    victim.mkdir()
    (tmp_path / ".cargo").mkdir()
    (tmp_path / ".cargo/config.toml").touch()
    cargo = Path(cache_folder(str(tmp_path / "coder"), "/work", env)) / "cargo"
    assert os.listdir(cargo) == ["config.toml"]
    (cargo / "config.toml").unlink()
    cargo.rmdir()
    cargo.symlink_to(victim)
    cache_folder(str(tmp_path / "coder"), "/work", env)
    assert os.listdir(victim) == []


@story
async def test_no_socket_can_be_reached_however_it_was_named_and_whether_it_listens(
    tmp_path: Path, bubblewrap: SandboxBackend, monkeypatch: pytest.MonkeyPatch
):
    home = Path(tempfile.mkdtemp(dir=os.path.dirname(tmp_path), prefix="h"))
    monkeypatch.chdir(home)
    with socket.socket(socket.AF_UNIX) as stream, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams:
        stream.bind("stream")
        stream.listen()
        datagrams.bind(str(home / "datagrams"))
        script = (
            "import os, socket; socket.socket(socket.AF_UNIX, socket.SOCK_{}).connect(os.environ['HOME'] + '/{}')"
        )
        async with confined(tmp_path, bubblewrap, home=home) as inside:
            for kind, name in (("STREAM", "stream"), ("DGRAM", "datagrams")):
                tried = await inside.bash(f'python3 -c "{script.format(kind, name)}"')
                assert "ConnectionRefusedError" in tried.output


@story
async def test_keys_of_the_persons_session_are_not_inherited(tmp_path: Path, bubblewrap: SandboxBackend):
    number = {"x86_64": 250, "aarch64": 219}.get(os.uname().machine)
    if number is None or ctypes.CDLL(None).syscall(number, JOIN_SESSION_KEYRING, None) < 0:
        pytest.skip("there are no keyrings here")
    script = f"import ctypes; print(ctypes.CDLL(None).syscall({number}, 0, -3, 0))"
    async with confined(tmp_path, bubblewrap) as inside, confined(tmp_path, "none") as outside:
        seen = [await each.output(f"python3 -c '{script}'") for each in (inside, outside)]
    assert len({*seen, "-1\n"}) == 3


def test_package_managers_and_clouds_keep_their_tokens(tmp_path: Path):
    places = [".config/pip/pip.conf", ".condarc", ".composer/auth.json", ".sentryclirc", ".mc/config.json"]
    for place in places:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    assert {str(tmp_path / place) for place in places} == {*credential_places(str(tmp_path))}
