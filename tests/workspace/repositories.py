"""Real repositories made with real git, and what is in them to the byte."""

import asyncio
import os
import stat
import subprocess
from collections.abc import Callable, Coroutine
from functools import wraps
from pathlib import Path

from coderelay.workspace.trees.snapshots import NoSnapshot, Snapshot, SnapshotTaker
from coderelay.workspace.trees.tree_writer import TreeLimits
from coderelay.workspace.trees.undo import UndoResult, undo

Kept = dict[bytes, tuple[int, bytes]]


def story(test: Callable[..., Coroutine[None, None, None]]) -> Callable[..., None]:
    @wraps(test)
    def tell(*args: object, **kwargs: object) -> None:
        asyncio.run(test(*args, **kwargs))

    return tell


class Repo:
    """A work tree and the home of whoever works in it. With `git=False` it is only a folder."""

    def __init__(self, root: Path, *options: str, git: bool = True) -> None:
        self.root = root
        self.home = root.parent / "home"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ann",
            "GIT_AUTHOR_EMAIL": "ann@example.org",
            "GIT_COMMITTER_NAME": "Ann",
            "GIT_COMMITTER_EMAIL": "ann@example.org",
        }
        self.home.mkdir(parents=True, exist_ok=True)
        root.mkdir(parents=True, exist_ok=True)
        if git:
            self.git("init", "-q", "-b", "main", *options)

    def git(self, *arguments: str, given: bytes = b"") -> str:
        allow = ("-c", "protocol.file.allow=always")
        return subprocess.run(
            ["git", *allow, *arguments], cwd=self.root, env=self.env, input=given, check=True, capture_output=True
        ).stdout.decode(errors="replace")

    def write(self, path: str | bytes, content: bytes | str, mode: int = 0o644) -> None:
        full = os.path.join(os.fsencode(self.root), os.fsencode(path))
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        os.chmod(full, mode)

    def commit(self, **files: str) -> None:
        for name, content in files.items():
            self.write(name, content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "work")

    def files(self) -> Kept:
        """All that is there but git's own: kind, mode and content; empty folders too."""
        return kept(self.root, without=b".git")

    def gits(self) -> dict[bytes, tuple[int, int, bytes]]:
        """Git's own, with times."""
        inner = kept(self.root / ".git")
        top = os.fsencode(self.root / ".git")
        return {name: (mode, os.lstat(os.path.join(top, name)).st_mtime_ns, c) for name, (mode, c) in inner.items()}


def kept(top: Path, without: bytes = b"") -> Kept:
    found: Kept = {}
    for folder, folders, names in os.walk(os.fsencode(top)):
        folders[:] = [name for name in folders if name != without]
        for name in [*names, *folders]:
            full = os.path.join(folder, name)
            mode = os.lstat(full).st_mode
            content = b""
            if stat.S_ISLNK(mode):
                content, mode = os.readlink(full), stat.S_IFLNK
            elif stat.S_ISREG(mode):
                content = Path(os.fsdecode(full)).read_bytes()
            if name != without:
                found[os.path.relpath(full, os.fsencode(top))] = mode, content
    return found


def trees_of(repo: Repo, **limits: int) -> SnapshotTaker:
    return SnapshotTaker(str(repo.home / ".coder"), repo.env, TreeLimits(**limits))


async def taken(trees: SnapshotTaker, folder: Path, also: tuple[str, ...] = ()) -> Snapshot:
    tree = await trees.take(str(folder), also)
    assert not isinstance(tree, NoSnapshot), tree.reason
    return tree


async def refused(trees: SnapshotTaker, folder: Path) -> str:
    tree = await trees.take(str(folder))
    assert isinstance(tree, NoSnapshot)
    return tree.reason


async def undone(trees: SnapshotTaker, before: Snapshot, after: Snapshot) -> UndoResult:
    """And a rehearsal says the same."""
    told = await undo(trees, before, after, dry_run=True)
    done = await undo(trees, before, after)
    assert done == told
    return done
