"""Atomic file writes: a reader sees the whole old content or the whole new content, never a part."""

import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from errno import EACCES, EEXIST, EMLINK, ENOSYS, ENOTSUP, EPERM
from threading import Lock

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_WITHOUT_HARD_LINKS = frozenset((EPERM, EACCES, ENOTSUP, ENOSYS, EMLINK))
_one_at_a_time = Lock()  # of two writers that expect the same version of a file, the second is refused


def write_whole(path: str, content: bytes, mode: int) -> None:
    """Write a file of our own that can be made again if it is lost: it is not synced to disk."""
    above, name = os.path.split(path)
    folder = os.open(above, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with _temporary_file(folder, 0o600) as (beside, file):
            _fill(file, content)
            os.fchmod(file, mode)
            os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)


def create(folder: int, name: str, content: bytes, mode: int = 0o666) -> None:
    """Create a new file. Raises FileExistsError if the name is taken, even if that happened a moment ago."""
    with _temporary_file(folder, mode) as (beside, file):  # the umask applies
        _fill(file, content)
        os.fsync(file)
        move_to_free_name(folder, beside, folder, name)


def replace(folder: int, name: str, content: bytes, before: os.stat_result, check: Callable[[], None]) -> None:
    """Replace an existing file. `check` is called right before the rename, and raises if the file must stay."""
    with _temporary_file(folder, 0o600) as (beside, file):
        _fill(file, content)
        with suppress(PermissionError):  # the file belongs to another user who lets us write here
            os.fchown(file, before.st_uid, before.st_gid)
        # Setuid and setgid are dropped: text that a model wrote must not run as another user.
        os.fchmod(file, stat.S_IMODE(before.st_mode) & 0o777)
        os.fsync(file)
        with _one_at_a_time:
            check()
            os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)


def move_to_free_name(folder: int, name: str, to_folder: int, to_name: str) -> None:
    """Move a file without replacing another one: a plain rename would replace a file that has just appeared there."""
    try:
        os.link(name, to_name, src_dir_fd=folder, dst_dir_fd=to_folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _WITHOUT_HARD_LINKS:
            raise
        _rename_if_free(folder, name, to_folder, to_name)
    else:
        os.unlink(name, dir_fd=folder)


def _rename_if_free(folder: int, name: str, to_folder: int, to_name: str) -> None:
    try:
        os.stat(to_name, dir_fd=to_folder, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(name, to_name, src_dir_fd=folder, dst_dir_fd=to_folder)
    else:
        raise FileExistsError(EEXIST, os.strerror(EEXIST))


@contextmanager
def _temporary_file(folder: int, mode: int) -> Generator[tuple[str, int]]:
    """A new temporary file with an unguessable name in `folder`. It is removed at the end unless it was renamed."""
    name = f".coder-{os.urandom(8).hex()}.tmp"
    file = os.open(name, _NEW, mode, dir_fd=folder)
    try:
        yield name, file
    finally:
        os.close(file)
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def _fill(file: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest) :]
