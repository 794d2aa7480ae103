"""Path resolution: which of the session's folders a path is in, where its links lead, and how it is shown."""

import errno
import os
from collections.abc import Sequence
from contextlib import suppress

from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.translatable import say

_ATTEMPTS = 20
_PATH_MAX = 4096  # no other program could open a longer path


class WorkspaceFolders:
    """The session's folders by name. Files are opened elsewhere."""

    def __init__(self, roots: Sequence[str]) -> None:
        """The first root is the working folder."""
        self.roots = tuple(dict.fromkeys(os.path.realpath(root) for root in roots))
        self.root = self.roots[0]
        # A folder inside another one is opened from the outer one, where a link may have replaced it.
        self._tops = [top for top in self.roots if not any(top != root and is_in(top, root) for root in self.roots)]

    def locate(self, path: str) -> str:
        """The absolute path of what a model means. Links are not resolved: opening finds out where they lead.

        Raises ToolFailed if the path is outside the folders.
        """
        meant = os.path.expanduser(path) if path.startswith("~") else path
        full = os.path.normpath(os.path.join(self.root, meant))
        if full.startswith("//"):
            full = full[1:]
        _check_nameable(full)
        if self.top_of(full) is not None:
            return full
        known = self._by_its_real_name(full)
        if known is None:
            raise ToolFailed(
                say("{path} is outside the workspace {roots}", path=shown(path), roots=", ".join(self.roots))
            )
        return known

    def target(self, path: str) -> str:
        """The absolute path with links followed. Raises ToolFailed if that is outside the folders."""
        try:
            real = real_path(self.locate(path))
        except OSError as error:
            raise ToolFailed(
                say("{path} has too many levels of symbolic links, or keeps changing", path=shown(path))
            ) from error
        if self.top_of(real) is None:
            roots = ", ".join(self.roots)
            raise ToolFailed(
                say(
                    "{path} is outside the workspace {roots}: it leads to {target}",
                    path=shown(path),
                    roots=roots,
                    target=shown(real),
                )
            )
        return real

    def relative(self, full: str) -> str:
        """The path as people and models are shown it: relative in the working folder, absolute elsewhere."""
        return shown(part(full, self.root) or "." if is_in(full, self.root) else full)

    def top_of(self, full: str) -> str | None:
        """The outermost session folder that contains the path."""
        for top in self._tops:
            if is_in(full, top):
                return top
        return None

    def innermost(self, full: str) -> str:
        return max((root for root in self.roots if is_in(full, root)), key=len)

    def _by_its_real_name(self, full: str) -> str | None:
        """The path if it reaches a session folder through a link above it, as temporary folders of macOS do."""
        names = full.split(os.sep)
        for depth in range(2, len(names) + 1):
            above = os.sep.join(names[:depth])
            if os.path.islink(above) and self.top_of(real := real_path(above)) is not None:
                return os.path.join(real, *names[depth:])
        return None


def real_path(path: str) -> str:
    """Like os.path.realpath, but retries: that fails if a running command replaces a link while it is resolved.
    Raises OSError if the retries fail too, or if links form a loop."""
    try:
        for _ in range(_ATTEMPTS - 1):
            with suppress(OSError):
                return os.path.realpath(path)
        return os.path.realpath(path)
    except RecursionError as error:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path) from error


def is_in(full: str, folder: str) -> bool:
    return full == folder or full.startswith(folder if folder == os.sep else folder + os.sep)


def part(full: str, folder: str) -> str:
    """The path relative to a folder that contains it; empty for the folder itself."""
    return full[len(folder) :].lstrip(os.sep)


def shown(path: str) -> str:
    """The path as printable text: bytes that are not UTF-8 cannot be sent or stored, so they are escaped."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")


def _check_nameable(full: str) -> None:
    if "\0" in full:
        raise ToolFailed("the path holds a NUL character")
    try:
        size = len(os.fsencode(full))
    except UnicodeEncodeError as error:  # half of a surrogate pair
        raise ToolFailed("the path holds a character that no file name can have") from error
    if size >= _PATH_MAX:
        raise ToolFailed(say("the path {path}… is too long: {count} bytes", path=shown(full[:60]), count=size))
