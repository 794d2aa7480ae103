"""A file written whole: a reader sees the old content or the new, never a part."""

import os
import stat
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from errno import EACCES, EEXIST, EMLINK, ENOSYS, ENOTSUP, EPERM
from threading import Lock

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_WITHOUT_HARD_LINKS = frozenset((EPERM, EACCES, ENOTSUP, ENOSYS, EMLINK))
_one_at_a_time = Lock()  # of two that expect the same file, one is refused


def write_whole(path: str, content: bytes, mode: int) -> None:
    """For files of our own that can be made anew: they are not forced to the disk."""
    above, name = os.path.split(path)
    folder = os.open(above, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with _beside(folder, 0o600) as (beside, file):
            _fill(file, content)
            os.fchmod(file, mode)
            os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)


def create(folder: int, name: str, content: bytes) -> None:
    """Raises FileExistsError if anything has that name, even since a moment ago."""
    with _beside(folder, 0o666) as (beside, file):  # less what the umask takes away
        _fill(file, content)
        os.fsync(file)
        move_to_free_name(folder, beside, folder, name)


def replace(folder: int, name: str, content: bytes, before: os.stat_result, check: Callable[[], None]) -> None:
    """`check` raises if it must not be replaced after all; it is asked at the last moment."""
    with _beside(folder, 0o600) as (beside, file):
        _fill(file, content)
        with suppress(PermissionError):  # of somebody else, who lets us write here
            os.fchown(file, before.st_uid, before.st_gid)
        os.fchmod(file, stat.S_IMODE(before.st_mode) & 0o777)  # text of a model becomes nobody else's program
        os.fsync(file)
        with _one_at_a_time:
            check()
            os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)


def move_to_free_name(folder: int, name: str, to_folder: int, to_name: str) -> None:
    """A plain rename would replace whatever has appeared there since one looked."""
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
def _beside(folder: int, mode: int) -> Generator[tuple[str, int]]:
    """A new file under a name that nobody guesses, which is gone at the end unless it was renamed."""
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
