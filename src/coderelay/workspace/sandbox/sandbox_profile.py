"""The sandbox profile: what the commands of one session may see and change, independent of how it is enforced."""

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from glob import glob

from msgspec import Struct

from coderelay.protocol.secret_paths import places_at_home
from coderelay.workspace.files.path_resolution import is_in
from coderelay.workspace.sandbox.guarded_paths import GuardedPaths

_RUN = ("/run", "/var/run")
_NEEDED_IN_RUN = ("/run/current-system", "/run/wrappers", "/run/opengl-driver", "/run/booted-system")  # NixOS


class Profile(Struct, frozen=True):
    """Everything is readable except what is in `hidden`; paths in `shown` are readable even within `hidden` ones.
    `folders` and `cache` are writable, except what is `guarded` in them. The folders around guarded paths (`pinned`)
    cannot be moved away. Paths that git's configuration names (`named`) must stay readable. Commands see `temporary`
    as /tmp."""

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
    guard: GuardedPaths,
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
        pinned=tuple(path for path in folders_around(guard, folders) if os.path.realpath(path) == path),
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
    """Yield the Unix sockets in the file system. A command that can name a socket, even a connectionless one, can
    talk to the program behind it, which is not confined.

    A socket with a relative name was created in its program's working folder at that time: that may still be the
    working folder of a process, or else it may be the home folder.
    """
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
    """Yield the working folders of all processes that we may inspect."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # the process is gone, or somebody else's
            yield os.readlink(f"/proc/{pid}/cwd")


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _shown(home: str, network: bool) -> Iterator[str]:
    """Yield what commands and our own supervisor need to read, wherever it lies."""
    yield os.path.realpath(home)
    for path in (sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(sys.executable), _OUR_FILES):
        yield path
        yield os.path.realpath(path)
    yield from (path for path in _NEEDED_IN_RUN if os.path.isdir(path))
    resolver = os.path.realpath("/etc/resolv.conf")
    if network and os.path.isfile(resolver):
        yield resolver


_OUR_FILES = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def folders_around(guard: GuardedPaths, folders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders between a writable folder and the guarded paths in it: moving one would move the guarded
    path too."""
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
    """Yield the real paths of the places for credentials that exist."""
    for place in places_at_home():
        full = os.path.join(home, place)
        for found in glob(full) if "*" in place else [full]:
            if os.path.lexists(found) and os.path.exists(real := os.path.realpath(found)):
                yield real
