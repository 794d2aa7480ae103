"""Opens folders without following symbolic links, safe against races, with openat or openat2.

Paths are compared with the session's folders as text. A folder opened here cannot turn out to be another place than
that text says: each folder on the way is opened by descriptor, none through a link, and the caller then works
relative to the last descriptor.
"""

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from errno import ELOOP, ENOTDIR
from functools import cache
from itertools import count

LOOK = getattr(os, "O_PATH", os.O_RDONLY)
LINK_IN_THE_WAY = frozenset((ELOOP, ENOTDIR))  # ENOTDIR also means a file where a folder should be
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# openat2 does the walk in one call. Loading ctypes for it takes 4 ms, which pays off after about this many walks.
WALKS = 500
_opened = count()
_OPENAT2 = 437  # the same on every architecture that Python runs on, except Alpha
_AT_FDCWD = -100
_RESOLVE_NO_SYMLINKS = 0x04  # includes the magic links in /proc


def open_folder(top: str, path: str, flags: int = LOOK) -> int:
    """Open a folder without following links; returns its descriptor.

    `top` is a real path, in folders that the session cannot change. `path` is relative to it, normalized and
    without `..`, or empty for `top` itself.
    """
    openat2 = _openat2() if next(_opened) >= WALKS else None
    return _walk(top, path, flags) if openat2 is None else openat2(os.path.join(top, path), flags | _FOLDER)


def make_folder(top: str, path: str, flags: int, made: list[str]) -> int:
    """Like open_folder, but creates missing folders and adds their paths to `made`."""
    names = _names(path)
    folder = os.open(top, flags | _FOLDER)
    for depth, name in enumerate(names, 1):
        try:
            if _make(folder, name):
                made.append(os.path.join(*names[:depth]))
        except BaseException:
            os.close(folder)
            raise
        folder = _step(folder, name, flags)
    return folder


def remove_folders(top: str, made: list[str]) -> None:
    """Remove the folders that make_folder created, unless something is in them by now."""
    for path in reversed(made):
        above, name = os.path.split(path)
        with suppress(OSError):
            folder = open_folder(top, above)
            try:
                os.rmdir(name, dir_fd=folder)
            finally:
                os.close(folder)


def _walk(top: str, path: str, flags: int) -> int:
    names = _names(path)
    folder = os.open(top, (LOOK if names else flags) | _FOLDER)
    for name in names[:-1]:
        folder = _step(folder, name, LOOK)
    return _step(folder, names[-1], flags) if names else folder


def _names(path: str) -> list[str]:
    return path.split(os.sep) if path else []


def _step(folder: int, name: str, flags: int) -> int:
    """Open the next folder, and close this one."""
    try:
        return os.open(name, flags | _FOLDER, dir_fd=folder)
    finally:
        os.close(folder)


def _make(folder: int, name: str) -> bool:
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        return False  # whatever is there, opening it next refuses a link or a file
    return True


@cache
def _openat2() -> Callable[[str, int], int] | None:
    """The openat2 system call, or None where it does not exist or is blocked."""
    if sys.platform != "linux":
        return None
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    syscall = libc.syscall
    syscall.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t)
    syscall.restype = ctypes.c_long

    def openat2(path: str, flags: int) -> int:
        how = b"".join(each.to_bytes(8, sys.byteorder) for each in (flags, 0, _RESOLVE_NO_SYMLINKS))
        opened: int = syscall(_OPENAT2, _AT_FDCWD, os.fsencode(path), how, len(how))
        if opened < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), path)
        return opened

    try:
        os.close(openat2("/", LOOK | _FOLDER))
    except OSError:
        return None
    return openat2


@contextmanager
def folder_of(path: str, flags: int = LOOK) -> Generator[tuple[int, str]]:
    """The opened parent folder of an absolute path, and the name in it. Raises OSError if a link is in the way."""
    above, name = os.path.split(path)
    folder = open_folder("/", above.lstrip("/"), flags)
    try:
        yield folder, name
    finally:
        os.close(folder)
