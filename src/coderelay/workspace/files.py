"""Files beneath the session's folder, and nothing outside it."""

import os
import stat
from contextlib import suppress

from coderelay.protocol.calls import Seen
from coderelay.protocol.errors import ToolFailed

_OWN_FOLDER = ".coder"


class Files:
    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)

    def resolve(self, path: str) -> str:
        """The real path of a name the model gave. Raises ToolFailed if it leads out of the folder."""
        if "\0" in path:
            raise ToolFailed("the path holds a NUL character")
        real = os.path.realpath(os.path.join(self.root, os.path.expanduser(path)))
        if real != self.root and not real.startswith(self.root + os.sep):
            raise ToolFailed(f"{path} is outside the workspace {self.root}")
        return real

    def relative(self, path: str) -> str:
        return os.path.relpath(path, self.root)

    def seen(self, path: str) -> Seen:
        """A file as it is now, for whoever wants to know later whether it has changed."""
        real = self.resolve(path)
        return Seen(real, self.mark(real))

    def mark(self, path: str) -> str:
        """Another text as soon as the file is another; empty if there is none."""
        try:
            found = os.stat(os.path.join(self.root, path))
        except OSError:
            return ""
        return f"{found.st_mtime_ns}-{found.st_size}-{found.st_ino}"

    def read(self, path: str, limit: int) -> tuple[bytes, int]:
        """The first `limit` bytes of a regular file, and its size."""
        real = self.resolve(path)
        try:
            # Non-blocking, so that opening a FIFO answers at once and can be refused.
            file = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise ToolFailed(f"cannot read {path}: {error.strerror}") from error
        try:
            found = os.fstat(file)
            if stat.S_ISDIR(found.st_mode):
                raise ToolFailed(f"{path} is a folder")
            if not stat.S_ISREG(found.st_mode):
                raise ToolFailed(f"{path} is not a regular file")
            with os.fdopen(file, "rb", closefd=False) as opened:
                return opened.read(limit), found.st_size
        finally:
            os.close(file)

    def write(self, path: str, content: bytes) -> bool:
        """Replace a file whole, or not at all; its mode is kept. Returns whether it is new."""
        real = self.resolve(path)
        if _OWN_FOLDER in self.relative(real).split(os.sep):
            raise ToolFailed(f"{path} belongs to coder itself and is not written by tools")
        try:
            return _replace(real, content)
        except OSError as error:
            raise ToolFailed(f"cannot write {path}: {error.strerror}") from error


def _replace(real: str, content: bytes) -> bool:
    mode = _mode(real)
    os.makedirs(os.path.dirname(real), exist_ok=True)
    write_whole(real, content, 0o666 & ~_umask() if mode is None else mode)
    return mode is None


def write_whole(path: str, content: bytes, mode: int) -> None:
    """A reader sees the old content or the new, never a part."""
    beside = f"{path}.{os.getpid()}.tmp"
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(file, "wb") as opened:
            opened.write(content)
            os.fchmod(file, mode)
        os.replace(beside, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise


def _mode(path: str) -> int | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(21, "Is a directory")
    return stat.S_IMODE(found.st_mode)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
