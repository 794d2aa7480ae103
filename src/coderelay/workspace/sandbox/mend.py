"""What could not be guarded is looked at after each command, and put back as it was.

Some files in git's folder, of which one names another folder whose hooks are run, cannot be guarded while they are
not there: git would stumble over an empty one. Nor can a repository before there is one: of a new one, what names
programs is moved aside. A sandbox without mounts can neither keep a file from being written nor a folder from being
moved.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from coderelay.workspace.folders import is_in
from coderelay.workspace.sandbox.guarded import Guarded
from coderelay.workspace.sandbox.new_repository import obeyed_in
from coderelay.workspace.sandbox.unlinked import folder_of

_MOST_BYTES = 1 << 20


class Mending:
    """How things were before a command ran."""

    def __init__(
        self, guard: Guarded, pinned: Iterable[str], folders: Iterable[str] = (), *, has_mounts: bool
    ) -> None:
        repositories = [os.path.join(folder, ".git") for folder in folders]
        self._unborn = [path for path in repositories if not os.path.lexists(path)]
        self._absent = [path for path in _redirections(guard) if not os.path.lexists(path)]
        files = [] if has_mounts else [path for path in guard.paths if os.path.isfile(path)]
        self._content = {path: content for path in files if (content := _content(path)) is not None}
        self._folders = {} if has_mounts else {path: _number(path) for path in pinned}

    def mend(self) -> list[str]:
        """The names of what was changed. What is there instead keeps its content, under another name."""
        changed = [path for path, number in self._folders.items() if _number(path) != number]
        for path in changed:
            move_aside(path)
            _bring_back(path, self._folders[path])
        for path in (*self._absent, *(each for git in self._unborn for each in obeyed_in(git))):
            if os.path.lexists(path):
                move_aside(path)
                changed.append(path)
        for path, content in self._content.items():
            if _content(path) != content:
                move_aside(path)
                _write(path, content)
                changed.append(path)
        return changed


def _redirections(guard: Guarded) -> Iterator[str]:
    for path in guard.paths:
        folder, name = os.path.split(path)
        if name == "hooks" and not any(is_in(path, os.path.join(each, "worktrees")) for each in guard.git):
            yield os.path.join(folder, "commondir")
        if name in ("hooks", "gitdir"):
            yield os.path.join(folder, "config.worktree")


def _number(path: str) -> int | None:
    try:
        return os.lstat(path).st_ino
    except OSError:
        return None


def _content(path: str) -> bytes | None:
    try:
        with folder_of(path) as (folder, name):
            opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        with open(opened, "rb") as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return None


def move_aside(path: str) -> None:
    with suppress(OSError), folder_of(path) as (folder, name):  # it is not there, or not the folder that it was in
        os.rename(name, f"{name}.moved-{os.urandom(4).hex()}", src_dir_fd=folder, dst_dir_fd=folder)


def _bring_back(path: str, number: int | None) -> None:
    """If it was only given another name."""
    with suppress(OSError), folder_of(path, os.O_RDONLY) as (folder, wanted):
        for name in os.listdir(folder):
            if os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino == number:
                os.rename(name, wanted, src_dir_fd=folder, dst_dir_fd=folder)
                return


def _write(path: str, content: bytes) -> None:
    with (
        suppress(OSError),
        folder_of(path) as (folder, name),
    ):  # it went with its folder, or somebody else makes it now
        opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=folder)
        with open(opened, "wb") as file:
            file.write(content)
