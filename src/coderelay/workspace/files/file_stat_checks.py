"""Checks of a file's stat before it is read or written: its type, its hard links, and whether it has changed."""

import os
import stat
from errno import ELOOP
from functools import cache

from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.translatable import say
from coderelay.workspace.files.fingerprint import check_expected
from coderelay.workspace.files.path_resolution import shown

_OTHERS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def status(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def check_regular(path: str, found: os.stat_result) -> None:
    """Refuse what is not a regular file. A link raises an OSError instead, so that the caller can follow it."""
    if stat.S_ISLNK(found.st_mode):
        raise OSError(ELOOP, os.strerror(ELOOP))
    if stat.S_ISDIR(found.st_mode):
        raise ToolFailed(say("{path} is a folder", path=shown(path)))
    if not stat.S_ISREG(found.st_mode):
        kind = _OTHERS.get(stat.S_IFMT(found.st_mode), "something else")
        raise ToolFailed(f"{shown(path)} is {kind}, not a regular file")
    if found.st_dev in _kernel_devices():
        raise ToolFailed(f"{shown(path)} is made up by the kernel, not a regular file")


def check_replaceable(path: str, found: os.stat_result | None, expected: str | None) -> None:
    if found is not None:
        check_regular(path, found)
        _check_single(path, found.st_nlink)
    check_expected(path, found, expected)


def _check_single(path: str, names: int) -> None:
    if names > 1:
        raise ToolFailed(
            f"{shown(path)} is one of {names} hard links to a file, and the others would keep the old content; "
            "remove it first if it is to become a file of its own"
        )


@cache
def _kernel_devices() -> frozenset[int]:
    """Devices of /proc and /sys. Reading /proc would reveal what our own process hides from commands."""
    here = os.stat("/").st_dev
    found = {os.stat(path).st_dev for path in ("/proc", "/sys") if os.path.isdir(path)}
    return frozenset(found - {here})  # where nothing is mounted, it is an ordinary folder
