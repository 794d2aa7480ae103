"""File systems on which locks do not work, made by a library that is loaded before the C library."""

import shutil
import subprocess
from pathlib import Path

import pytest

_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <fcntl.h>

int flock(int file, int kind) {
#ifdef FLOCK_FAILS
    errno = ENOLCK;
    return -1;
#else
    return 0;
#endif
}

#ifdef NO_RANGE_LOCKS
int fcntl64(int file, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (command == F_OFD_SETLK) {
        errno = ENOLCK;
        return -1;
    }
    int (*next)(int, int, ...) = dlsym(RTLD_NEXT, "fcntl64");
    return next(file, command, argument);
}
int fcntl(int file, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    return fcntl64(file, command, argument);
}
#endif
"""


def broken_locks(folder: Path, *defined: str) -> dict[str, str]:
    """The environment of a process for which `flock` succeeds and keeps nobody out. FLOCK_FAILS: it is refused
    instead. NO_RANGE_LOCKS: the other kind of lock is refused too."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler to make a file system without locks with")
    library = folder / f"locks-{'-'.join(defined)}.so"
    flags = [f"-D{name}" for name in defined]
    subprocess.run(
        [compiler, "-shared", "-fPIC", *flags, "-o", str(library), "-x", "c", "-", "-ldl"],
        input=_SOURCE,
        text=True,
        check=True,
    )
    return {"LD_PRELOAD": str(library)}
