"""Finds the repository root and the current branch by reading git's files: no program of the repository can run."""

import os


def root_of(folder: str) -> str | None:
    """The root of the work tree that contains a folder. A `.git` of another user above it does not count: in a shared
    place like /tmp, anyone could use it to instruct our agents."""
    ours = {os.getuid(), _owner(folder), 0} - {None}
    while _owner(os.path.join(folder, ".git")) not in ours:
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _owner(path: str) -> int | None:
    try:
        return os.lstat(path).st_uid
    except OSError:
        return None


_MOST = 4096


def branch_in(root: str) -> str:
    """`branch NAME`, or `commit abc…` if no branch is checked out. `root` is the root of the work tree."""
    head = _first_line(os.path.join(_git_folder(root), "HEAD"))
    if head.startswith("ref: refs/heads/"):
        return f"branch {head.removeprefix('ref: refs/heads/')}"
    return f"commit {head[:12]}, no branch" if head else "a repository that cannot be read"


def _git_folder(root: str) -> str:
    """The git folder of a work tree. In a linked work tree or a submodule, `.git` is a file that names it."""
    beside = os.path.join(root, ".git")
    if os.path.isdir(beside):
        return beside
    return os.path.join(root, _first_line(beside).removeprefix("gitdir: "))


def _first_line(path: str) -> str:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        text = os.read(file, _MOST).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(file)
    line = text.partition("\n")[0].strip()
    return "".join(each for each in line if each.isprintable())[:200]
