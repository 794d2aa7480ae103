"""What the commands of one session may see and change, said without regard to how it is enforced."""

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from glob import glob
from typing import Literal

from msgspec import Struct

from coderelay.protocol.secret_places import places_at_home
from coderelay.workspace.files.folders import is_in
from coderelay.workspace.processes.processes import Processes
from coderelay.workspace.sandbox.guarded_paths import Guarded

_RUN = ("/run", "/var/run")
_NEEDED_IN_RUN = ("/run/current-system", "/run/wrappers", "/run/opengl-driver", "/run/booted-system")  # NixOS
Rung = Literal["bubblewrap", "sandlock", "none"]
"""How commands are confined, the best way first."""
PROCESSES = 2048
_FILE_BYTES = 8 << 30  # of one file; `disk_space` sees to it that many files do not fill the disk
_NAME = "coder-"
_in_use: set[str] = set()
_ENTER = 'echo $$ >"$0" && exec "$@"'


class Profile(Struct, frozen=True):
    """Everything is readable but `hidden`, in which `shown` is readable all the same. `folders` and `cache` can be
    written, but not what is `guarded` in them, nor can what is around that be moved away (`pinned`); those
    that git's configuration has `named` must stay readable. `temporary` is what commands know as /tmp."""

    folders: tuple[str, ...]
    cache: str
    temporary: str
    hidden: tuple[str, ...]
    shown: tuple[str, ...]
    guarded: tuple[str, ...]
    named: tuple[str, ...]
    pinned: tuple[str, ...]
    network: bool


def profile(
    folders: tuple[str, ...],
    guard: Guarded,
    *,
    coder_home: str,
    env: Mapping[str, str],
    cache: str,
    temporary: str,
    network: bool,
) -> Profile:
    home = env.get("HOME") or os.path.expanduser("~")
    writable = (*folders, *guard.git)
    guarded = tuple(path for path in guard.paths if os.path.exists(path) and os.path.realpath(path) == path)
    return Profile(
        folders=writable,
        cache=cache,
        temporary=temporary,
        hidden=tuple(dict.fromkeys(_hidden(home, coder_home, env, writable))),
        shown=tuple(dict.fromkeys(_shown(home, network))),
        guarded=guarded,
        named=guard.named,
        pinned=tuple(path for path in around(guard, folders) if os.path.realpath(path) == path),
        network=network,
    )


def _hidden(home: str, coder_home: str, env: Mapping[str, str], folders: tuple[str, ...]) -> Iterator[str]:
    if os.path.isdir(coder_home):
        yield os.path.realpath(coder_home)
    for each in {home, os.path.expanduser("~")}:
        yield from credential_places(each)
    yield from (path for path in _RUN if os.path.isdir(path) and not os.path.islink(path))
    runtime = env.get("XDG_RUNTIME_DIR", "")
    if os.path.isdir(runtime) and not any(is_in(folder, runtime) for folder in folders):
        yield os.path.realpath(runtime)
    yield from (path for path in _sockets(home) if not any(is_in(path, folder) for folder in folders))


def _sockets(home: str) -> Iterator[str]:
    """Whoever can name one can talk to the program behind it, which is not confined; one without connections too.

    One with a relative name is where its program was then: perhaps still, else perhaps at home."""
    try:
        with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as file:
            rows = [line.split(None, 7) for line in file.read().splitlines()[1:]]
    except OSError:
        return
    names = {row[7] for row in rows if len(row) == 8 and not row[7].startswith("@")}
    is_relative = any(not os.path.isabs(name) for name in names)
    folders = {home, *_working_folders()} if is_relative else {"/"}
    for path in {os.path.join(folder, name) for name in names for folder in folders}:
        if _is_socket(path):
            yield os.path.realpath(path)


def _working_folders() -> Iterator[str]:
    """Of all processes that we may look at."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # it is gone, or somebody else's
            yield os.readlink(f"/proc/{pid}/cwd")


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _shown(home: str, network: bool) -> Iterator[str]:
    """What commands and our own supervisor need, wherever it is."""
    yield os.path.realpath(home)
    for path in (sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(sys.executable), _OUR_FILES):
        yield path
        yield os.path.realpath(path)
    yield from (path for path in _NEEDED_IN_RUN if os.path.isdir(path))
    resolver = os.path.realpath("/etc/resolv.conf")
    if network and os.path.isfile(resolver):
        yield resolver


_OUR_FILES = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def around(guard: Guarded, folders: tuple[str, ...]) -> tuple[str, ...]:
    """The folders between those that may be written and what is guarded in them: to move one would move it too."""
    return tuple(dict.fromkeys(_around(guard.paths, (*folders, *guard.git))))


def _around(guarded: tuple[str, ...], folders: tuple[str, ...]) -> Iterator[str]:
    for path in guarded:
        above = os.path.dirname(path)
        while (
            above not in folders and above != os.path.dirname(above) and any(is_in(above, each) for each in folders)
        ):
            yield above
            above = os.path.dirname(above)


def credential_places(home: str) -> Iterator[str]:
    """Those that are there, by their real names."""
    for place in places_at_home():
        full = os.path.join(home, place)
        for found in glob(full) if "*" in place else [full]:
            if os.path.lexists(found) and os.path.exists(real := os.path.realpath(found)):
                yield real


class Confinement(Struct, frozen=True):
    """`environment` is what the command is told there, `temporary` where its temporary files really are."""

    processes: Processes
    environment: Mapping[str, str]
    temporary: str


def resource_limits() -> list[str]:
    """As the supervisor takes them. Memory and time have none: tools reserve more than they use."""
    return ["RLIMIT_CORE=0", f"RLIMIT_FSIZE={_FILE_BYTES}", f"RLIMIT_NPROC={PROCESSES}"]


class ProcessGroup:
    """A control group that bounds the processes of one sandbox, for root, who has no other bound.

    Where there can be none, nothing is bounded but by time.
    """

    def __init__(self) -> None:
        self._path = next(_groups(), None) if os.getuid() == 0 else None

    def entered(self, argv: list[str]) -> list[str]:
        """The command, begun in the group."""
        if self._path is None:
            return argv
        return ["/bin/sh", "-c", _ENTER, os.path.join(self._path, "cgroup.procs"), *argv]

    def remove(self) -> None:
        if self._path is not None:
            _in_use.discard(self._path)
            with suppress(OSError):  # its last process is not gone yet; the next to be made removes it
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
    """Where processes can be counted: version 1 has a tree for that, version 2 one for everything."""
    with suppress(OSError), open("/proc/self/cgroup", encoding="utf-8") as file:
        for line in file.read().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("pids", ""):
                yield os.path.normpath(f"/sys/fs/cgroup/{controllers}/{path}")


def _remove_dead(above: str) -> None:
    """Those of owners that are gone, and of ours what could not be removed in its time."""
    with suppress(OSError):
        for name in os.listdir(above):
            path, owner = os.path.join(above, name), name.removeprefix(_NAME).partition("-")[0]
            is_over = owner == str(os.getpid()) or not os.path.exists(f"/proc/{owner}")
            if name.startswith(_NAME) and is_over and path not in _in_use:
                with suppress(OSError):  # somebody is still in it
                    os.rmdir(path)
