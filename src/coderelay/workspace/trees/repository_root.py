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
