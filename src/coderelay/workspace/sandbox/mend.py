"""What could not be guarded is looked at after each command, and put back as it was.

A file in git's folder that names another folder redirects whose hooks are run, and cannot be guarded while it is not
there: git would stumble over an empty one. A sandbox without mounts can neither keep a file from being written nor a
folder from being moved.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

from coderelay.workspace.folders import is_in
from coderelay.workspace.sandbox.guarded import Guarded

_MOST_BYTES = 1 << 20


class Mending:
    """How things were before a command ran."""

    def __init__(self, guard: Guarded, pinned: Iterable[str], *, has_mounts: bool) -> None:
        self._absent = [path for path in _redirections(guard) if not os.path.lexists(path)]
        files = [] if has_mounts else [path for path in guard.paths if os.path.isfile(path)]
        self._content = {path: content for path in files if (content := _content(path)) is not None}
        self._folders = {} if has_mounts else {path: _number(path) for path in pinned}

    def mend(self) -> list[str]:
        """The names of what was changed. What is there instead keeps its content, under another name."""
        changed = [path for path, number in self._folders.items() if _number(path) != number]
        for path in changed:
            _move_aside(path)
            _bring_back(path, self._folders[path])
        for path in self._absent:
            if os.path.lexists(path):
                _move_aside(path)
                changed.append(path)
        for path, content in self._content.items():
            if _content(path) != content:
                _move_aside(path)
                _write(path, content)
                changed.append(path)
        return changed


def _redirections(guard: Guarded) -> Iterator[str]:
    hooks = [path for path in guard.paths if os.path.basename(path) == "hooks"]
    for path in hooks:
        if not any(is_in(path, os.path.join(each, "worktrees")) for each in guard.git):
            yield os.path.join(os.path.dirname(path), "commondir")


def _number(path: str) -> int | None:
    try:
        return os.lstat(path).st_ino
    except OSError:
        return None


def _content(path: str) -> bytes | None:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return None


def _move_aside(path: str) -> None:
    with suppress(OSError):  # it is not there, or not the folder that it was in
        os.rename(path, f"{path}.moved-{os.urandom(4).hex()}")


def _bring_back(path: str, number: int | None) -> None:
    """If it was only given another name."""
    above = os.path.dirname(path)
    with suppress(OSError):
        for name in os.listdir(above):
            if _number(found := os.path.join(above, name)) == number:
                os.rename(found, path)
                return


def _write(path: str, content: bytes) -> None:
    with suppress(OSError), open(path, "xb") as file:  # it went with its folder, or is made by somebody else now
        file.write(content)
