"""What is allowed without a question is really run, and must leave everything as it was."""

import shutil
import subprocess
from pathlib import Path

import pytest

from coderelay.policy.shell.command_verdict import judge_command
from tests.policy.test_command_verdicts import EVERYDAY
from tests.policy.test_recorded_commands import CORPUS

BASH = shutil.which("bash") or "/bin/bash"
NAMES = (
    "a",
    "b",
    "x",
    "x.csv",
    "README.md",
    "package.json",
    "names.txt",
    "src/app.py",
    "src/a.py",
    "src/b.py",
    "evil",
)
# What a pattern may become: names that are options somewhere.
ODD_NAMES = (
    "-delete",
    "-exec",
    "-i",
    "-oout",
    "--output=out",
    "--in-place",
    "--pre=.evil",
    "--compress-program=.evil",
    "--checkpoint-action=exec=.evil",
    "--files0-from=names.txt",
    "-froot.txt",
    "@args",
    "-v.py",
    "-o.txt",
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / "src").mkdir(parents=True)
    for name in (*NAMES, *ODD_NAMES):
        (folder / name).write_text("#!/bin/sh\ntouch out\n")
        (folder / name).chmod(0o755)
    run("git init -q && git add -A && git -c user.name=a -c user.email=a commit -qm a && echo >>a", folder)
    return folder


def run(command: str, folder: Path) -> None:
    subprocess.run(
        [BASH, "--noprofile", "--norc", "-c", command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


def is_allowed(command: str, folder: Path) -> bool:
    return judge_command(command, "default", (str(folder),), sandboxed=True).verdict == "allow"


def contents(folder: Path) -> dict[str, bytes]:
    """Without git's index, where `git status` keeps what it knows of times."""
    files = (each for each in folder.rglob("*") if each.is_file() and each.name != "index")
    return {str(each.relative_to(folder)): each.read_bytes() for each in files}


@pytest.mark.timeout(600)
def test_c07_what_is_allowed_changes_nothing(workspace: Path) -> None:
    before = contents(workspace)
    everyday = [command.replace("/ws", str(workspace)) for verdict, command in EVERYDAY if verdict == "allow"]
    recorded = [each.command.replace("/workspace", str(workspace)) for each in CORPUS]
    for command in everyday:
        assert is_allowed(command, workspace)
    allowed = [each for each in recorded if is_allowed(each, workspace)]
    for command in (*everyday, *allowed):
        if not command.startswith("sleep"):
            run(command, workspace)
        assert contents(workspace) == before, command
    assert len(everyday) > 250
    assert len(allowed) > 150
