"""Translates a sandbox profile into a sandlock policy (Landlock and a system call filter), without namespaces.

There are no mounts. The policy lists what may be read, leaving out everything hidden. A hidden path in a writable
folder is denied by name, and so are guarded paths, even for reading. Git's own configuration, the files that it
names, and files that tools in the sandbox obey as well must stay readable: they, and folders that were moved away,
are restored after each command (`guarded_file_restore`). Temporary files are where TMPDIR says instead of in
/tmp, and the loopback interface is closed, since there is only that of the machine.
"""

import importlib.util
import json
import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from coderelay.protocol.autorun_files import autorun_entry
from coderelay.workspace.files.path_resolution import is_in
from coderelay.workspace.sandbox.process_limits import PROCESSES
from coderelay.workspace.sandbox.sandbox_profile import Profile

_SCRIPT = Path(__file__).with_name("sandlock_launcher.py")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
_OF_OTHER_PROCESSES = ["pidfd_getfd", "process_vm_readv"]  # they could take over our supervisor's channel
_READ_BY_GIT = ("config", "commondir", "gitdir", "config.worktree", ".git")


def sandlock_command(profile: Profile) -> list[str]:
    """Return the command prefix that starts a program in the sandbox. Raises ImportError if sandlock is not
    installed."""
    found = importlib.util.find_spec("sandlock")
    if found is None or found.origin is None:
        raise ImportError("sandlock is not installed")
    where = os.path.dirname(os.path.dirname(found.origin))
    return [sys.executable, "-I", "-S", str(_SCRIPT), where, _written(profile)]


def _written(profile: Profile) -> str:
    """Write the policy to a file beside the temporary folder, since it may be longer than an argument can be."""
    path = os.path.join(os.path.dirname(profile.temporary), f"policy-{'open' if profile.network else 'closed'}.json")
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        json.dump(_policy(profile), file, ensure_ascii=True)
    return path


def _policy(profile: Profile) -> dict[str, object]:
    there = [path for name in _DEVICES if os.path.exists(path := f"/dev/{name}")]
    devices = [path for each in there for path in _visible(each, profile.hidden)]
    writable = [*profile.folders, profile.cache, profile.temporary, *devices]
    inside = [path for path in profile.hidden if any(is_in(path, folder) for folder in profile.folders)]
    guarded = [path for path in profile.guarded if not _must_be_readable(path, profile)]
    shown = [path for each in profile.shown if os.path.exists(each) for path in _visible(each, profile.hidden)]
    return {
        "fs_readable": [*dict.fromkeys([*_visible("/", [*profile.hidden, "/tmp", "/var/tmp"]), *shown])],
        "fs_writable": writable,
        "fs_denied": [*inside, *guarded],
        "extra_deny_syscalls": _OF_OTHER_PROCESSES,
        "max_processes": PROCESSES,
        "net_allow": ["*:*"] if profile.network else [],
        "net_allow_bind": ["*"],
    }


def _must_be_readable(path: str, profile: Profile) -> bool:
    """Git must read such a file, or tools in the sandbox that obey it too: package managers, compilers, linters."""
    if path in profile.named:
        return not os.path.isdir(path)  # the content of a folder would not be restored
    if os.path.basename(path) in _READ_BY_GIT:
        return True
    folder = max((each for each in profile.folders if is_in(path, each)), key=len, default="/")
    found = autorun_entry(os.path.relpath(path, folder))
    return found is not None and found.guard == "present"


def _visible(folder: str, hidden: Collection[str]) -> Iterator[str]:
    """Yield the smallest set of paths that covers everything in a folder except what is hidden."""
    within = [path for path in hidden if is_in(path, folder)]
    if not within:
        yield folder
    elif folder not in within:
        try:
            names = os.listdir(folder)
        except OSError:
            return
        for name in names:
            path = os.path.join(folder, name)
            # /dev/stderr leads to an open file, perhaps a pipe: Landlock has no rules for pipes. /proc is visible.
            if not (os.path.islink(path) and os.readlink(path).startswith("/proc/")):
                yield from _visible(path, within)
