"""What git has, read from its index without git."""

import os
import subprocess
from pathlib import Path

import pytest

from coderelay.workspace.trees.git_index_parser import UnreadableIndex, indexed_paths

pytestmark = pytest.mark.timeout(60)

HEADER = b"DIRC\0\0\0"


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def names(folder: Path) -> list[str]:
    found = indexed_paths(str(folder), lambda name: True)
    return sorted(os.path.relpath(path, folder) for path in found if not path.endswith("/"))


@pytest.mark.parametrize("version", ["2", "3", "4"])
@pytest.mark.parametrize("hash_name", ["sha1", "sha256"])
def test_every_path_is_found_in_every_form_of_an_index(version: str, hash_name: str, tmp_path: Path) -> None:
    """Of version 4, `.env` behind `.editorconfig` was not seen."""
    git(tmp_path, "init", "-q", f"--object-format={hash_name}")
    paths = [".editorconfig", ".env", "a/b.py", "a/b.txt", "a" * 200, "secret/.env.local"]
    for path in paths:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("x\n")
    git(tmp_path, "add", "-f", ".")
    (tmp_path / "later").write_text("x\n")
    git(tmp_path, "add", "-N", "later")
    git(tmp_path, "update-index", f"--index-version={version}")
    assert names(tmp_path) == sorted([*paths, "later"])


def test_the_shared_part_of_a_split_index_was_not_seen(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".env").write_text("x\n")
    git(tmp_path, "add", "-f", ".env")
    git(tmp_path, "update-index", "--split-index")
    (tmp_path / "b").write_text("x\n")
    git(tmp_path, "add", "b")
    assert names(tmp_path) == [".env", "b"]


def test_without_an_index_git_has_nothing(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert names(tmp_path) == []


@pytest.mark.parametrize("kind", ["fifo", "endless", "text", "names", "huge", "short", "count"])
def test_a_planted_index_held_the_judge_up_for_ever(kind: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    index = tmp_path / ".git" / "index"
    match kind:
        case "fifo":
            os.mkfifo(index)
        case "endless":
            index.symlink_to("/dev/zero")
        case "text":
            index.write_bytes(HEADER + b"\4" + b"a" * 1_000_000)
        case "names":
            index.write_bytes(HEADER + b"\4" + b"\xff\xff\xff\xff" + b".\0" * 500_000)
        case "huge":
            with open(index, "wb") as file:
                file.truncate(1 << 40)
        case "short":
            index.write_bytes(b"DIRC")
        case _:
            index.write_bytes(HEADER + b"\2" + b"\xff\xff\xff\xff" + bytes(1_000_000))
    with pytest.raises(UnreadableIndex):
        names(tmp_path)
