"""Limits of the processes in a sandbox: their resources, and their number, by a control group."""

import os
from collections.abc import Iterator
from contextlib import suppress

PROCESSES = 2048
_FILE_BYTES = 8 << 30  # for one file; `disk_space_watch` ensures that many files do not fill the disk
_NAME = "coder-"
_in_use: set[str] = set()
_ENTER = 'echo $$ >"$0" && exec "$@"'


def resource_limits() -> list[str]:
    """Return the limits as arguments of the supervisor. Memory and time are not limited: tools reserve more than they
    use."""
    return ["RLIMIT_CORE=0", f"RLIMIT_FSIZE={_FILE_BYTES}", f"RLIMIT_NPROC={PROCESSES}"]


class ProcessGroup:
    """A control group (cgroup) that limits the number of processes of one sandbox, for root, to whom no other limit
    applies.

    Where none can be created, only time limits the processes.
    """

    def __init__(self) -> None:
        self._path = next(_groups(), None) if os.getuid() == 0 else None

    def entered(self, argv: list[str]) -> list[str]:
        """Return the command so that it starts in the control group."""
        if self._path is None:
            return argv
        return ["/bin/sh", "-c", _ENTER, os.path.join(self._path, "cgroup.procs"), *argv]

    def remove(self) -> None:
        if self._path is not None:
            _in_use.discard(self._path)
            with suppress(OSError):  # its last process has not ended yet; creating the next group removes it
                os.rmdir(self._path)


def _groups() -> Iterator[str]:
    for above in _own_groups():
        _remove_dead(above)
        path = os.path.join(above, f"{_NAME}{os.getpid()}-{os.urandom(4).hex()}")
        try:
            os.mkdir(path)
            with open(os.path.join(path, "pids.max"), "r+", encoding="ascii") as file:
                file.write(str(PROCESSES))
        except OSError:
            with suppress(OSError):
                os.rmdir(path)
        else:
            _in_use.add(path)
            yield path


def _own_groups() -> Iterator[str]:
    """Yield the control groups of this process that can count processes: cgroup v1 has a separate tree for that, v2
    one tree for everything."""
    with suppress(OSError), open("/proc/self/cgroup", encoding="utf-8") as file:
        for line in file.read().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("pids", ""):
                yield os.path.normpath(f"/sys/fs/cgroup/{controllers}/{path}")


def _remove_dead(above: str) -> None:
    """Remove the groups of owners that are gone, and those of ours that could not be removed in time."""
    with suppress(OSError):
        for name in os.listdir(above):
            path, owner = os.path.join(above, name), name.removeprefix(_NAME).partition("-")[0]
            is_over = owner == str(os.getpid()) or not os.path.exists(f"/proc/{owner}")
            if name.startswith(_NAME) and is_over and path not in _in_use:
                with suppress(OSError):  # a process is still in it
                    os.rmdir(path)
