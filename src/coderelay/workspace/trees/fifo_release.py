"""Lets git go on where it waits for a FIFO.

Git opens `.gitignore` and `.gitattributes` of every folder, and whatever lies among its objects, without looking at
what they are, and the opening of a FIFO lasts until somebody opens its other end. A command may put one there at any
time, so somebody does: git then reads an empty file.
"""

import os
import stat
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress

_PATIENCE = 0.3
_SHARE = 10  # looking for them takes at most a tenth of the time
_READ_BY_GIT = (".gitignore", ".gitattributes", ".gitmodules")


@contextmanager
def fifos_released(work_tree: str, objects: Sequence[str]) -> Generator[None]:
    """For the time that git works in `work_tree`, and reads from the folders `objects`."""
    over = threading.Event()
    thread = threading.Thread(target=_release_until, args=(over, work_tree, objects), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _release_until(over: threading.Event, work_tree: str, objects: Sequence[str]) -> None:
    took = 0.0
    while not over.wait(max(_PATIENCE, _SHARE * took)):
        began = time.monotonic()
        with suppress(OSError, RecursionError):  # folders go away meanwhile
            _release_rules(over, work_tree)
            for folder in objects:
                _release_all(over, folder)
        took = time.monotonic() - began


def _release_rules(over: threading.Event, work_tree: str) -> None:
    for _, folders, files, folder in os.fwalk(work_tree):
        if over.is_set():
            return
        folders[:] = [name for name in folders if name != ".git"]
        for name in _READ_BY_GIT:
            if name in files:
                _release(name, folder)


def _release_all(over: threading.Event, top: str) -> None:
    for _, _, files, folder in os.fwalk(top):
        if over.is_set():
            return
        for name in files:
            _release(name, folder)


def _release(name: str, folder: int) -> None:
    """Opening this end fails at once if nobody waits at the other one."""
    with suppress(OSError):
        if stat.S_ISFIFO(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            os.close(os.open(name, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder))
