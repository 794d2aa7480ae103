"""Locates the git folder, index, objects and HEAD commit of a person's repository without running git.

A folder that no repository contains counts as a work tree without a git folder (`folder_alone`).
"""

import os
import re
import stat

from msgspec import Struct

from coderelay.protocol.errors import Refusal
from coderelay.protocol.translatable import say
from coderelay.workspace.trees.repository_root_and_branch import root_of

_MOST_CONFIG = 1 << 20
_MOST_REFS = 1 << 26
_SHA256 = re.compile(rb"^\s*objectformat\s*=\s*\"?sha256\b", re.IGNORECASE | re.MULTILINE)
_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class NoRepository(Refusal):
    def __init__(self, why: str) -> None:
        super().__init__(say("a git repository is needed: {problem}", problem=why))


class ProjectRepository(Struct, frozen=True):
    """`git_folder` has the HEAD and index of this work tree; `common` has what all work trees share. If the folder is
    `alone`, there is neither, and only the ignore rules in the folder itself count."""

    root: str
    git_folder: str
    common: str
    alone: bool = False

    @property
    def objects(self) -> str:
        return os.path.join(self.common, "objects")

    @property
    def index(self) -> str:
        return os.path.join(self.git_folder, "index")

    def hash_name(self) -> str:
        config = read_regular(os.path.join(self.common, "config"), _MOST_CONFIG) or b""
        return "sha256" if _SHA256.search(config) else "sha1"

    def head(self) -> str | None:
        """The checked-out commit, or None if there is none yet. Raises NoRepository if HEAD cannot be read."""
        if self.alone:
            return None
        name = "HEAD"
        for _ in range(5):
            line = self._ref(name)
            if line is None and name != "HEAD":
                return None
            if line is None or line == b"ref: refs/heads/.invalid":  # git's placeholder where refs are not files
                break
            if _COMMIT.fullmatch(line):
                return line.decode()
            name = os.fsdecode(line.removeprefix(b"ref:").strip())
        raise NoRepository(say("what is checked out in {folder} cannot be read", folder=self.root))

    def _ref(self, name: str) -> bytes | None:
        for folder in (self.git_folder, self.common):
            found = read_regular(os.path.join(folder, name), _MOST_CONFIG)
            if found is not None:
                return found.partition(b"\n")[0].strip()
        packed = read_regular(os.path.join(self.common, "packed-refs"), _MOST_REFS) or b""
        found = re.search(rb"^([0-9a-f]+) " + re.escape(os.fsencode(name)) + rb"$", packed, re.MULTILINE)
        return found[1] if found else None


def repository_of(folder: str) -> ProjectRepository:
    """The repository of the work tree that contains a folder. Raises NoRepository."""
    root = root_of(folder)
    if root is None:
        raise NoRepository(say("{folder} is not in a git repository", folder=folder))
    repository = repository_at(root)
    if repository is None:
        raise NoRepository(say("{path} is not a git repository, or is damaged", path=os.path.join(root, ".git")))
    if (folder + os.sep).startswith(os.path.join(root, ".git") + os.sep):
        raise NoRepository(say("{folder} is not in a work tree", folder=folder))
    return repository


def folder_alone(folder: str, home: str) -> ProjectRepository:
    """A work tree without a git folder. Raises NoRepository for a folder that contains the person's home: snapshots
    of all that a person has would take too long."""
    if (os.path.realpath(home) + os.sep).startswith(os.path.join(folder, "")):
        raise NoRepository(say("{folder} is too large for snapshots; start in a project's folder", folder=folder))
    return ProjectRepository(folder, os.devnull, os.devnull, alone=True)


def repository_at(root: str) -> ProjectRepository | None:
    beside = os.path.join(root, ".git")
    git_folder = beside
    if not os.path.isdir(beside):  # in a submodule or a linked work tree, `.git` is a file that names it
        line = (read_regular(beside, _MOST_CONFIG) or b"").strip()
        if not line.startswith(b"gitdir:"):
            return None
        git_folder = os.path.join(root, os.fsdecode(line.removeprefix(b"gitdir:").strip()))
    shared = (read_regular(os.path.join(git_folder, "commondir"), _MOST_CONFIG) or b".").strip()
    common = os.path.realpath(os.path.join(git_folder, os.fsdecode(shared)))
    found = ProjectRepository(root, os.path.realpath(git_folder), common)
    complete = os.path.lexists(os.path.join(git_folder, "HEAD")) and os.path.isdir(found.objects)
    return found if complete else None


def read_regular(path: str | bytes, most: int, folder: int | None = None) -> bytes | None:
    """At most `most` bytes of a file, or None if it is not a regular file that we can read. Never blocks on a FIFO.
    With `folder`, an open descriptor that the path is relative to, the last name must not be a link either."""
    no_link = 0 if folder is None else os.O_NOFOLLOW
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | no_link, dir_fd=folder)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        with os.fdopen(file, "rb", closefd=False) as opened:
            return opened.read(most)
    except OSError:
        return None
    finally:
        os.close(file)
