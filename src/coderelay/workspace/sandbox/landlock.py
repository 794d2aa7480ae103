"""A profile as sandlock takes it, for machines without namespaces: Landlock, and a filter of system calls.

There are no mounts. What may be read is listed, around everything hidden; a hidden thing in a folder that may be
written is refused by name, and so is what is guarded, even to be read. Git's own configuration and the files that it
names, and files that tools in the sandbox obey as well, must be read: they, and folders that were moved away, are put
back after each command (`mend`). /tmp is where TMPDIR says, and the loopback is closed, since there is only that of
the machine.
"""

import importlib.util
import json
import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from coderelay.protocol.obeyed_files import obeyed_by
from coderelay.workspace.files.folders import is_in
from coderelay.workspace.sandbox.profile import PROCESSES, Profile

_SCRIPT = Path(__file__).with_name("landlock_child.py")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
_OF_OTHER_PROCESSES = ["pidfd_getfd", "process_vm_readv"]  # they take what our supervisor speaks through
_READ_BY_GIT = ("config", "commondir", "gitdir", "config.worktree", ".git")


def landlock(profile: Profile) -> list[str]:
    """The beginning of a command. Raises ImportError where sandlock is not installed."""
    found = importlib.util.find_spec("sandlock")
    if found is None or found.origin is None:
        raise ImportError("sandlock is not installed")
    where = os.path.dirname(os.path.dirname(found.origin))
    return [sys.executable, "-I", "-S", str(_SCRIPT), where, _written(profile)]


def _written(profile: Profile) -> str:
    """In a file beside the temporary ones, since it may be longer than an argument can be."""
    path = os.path.join(os.path.dirname(profile.temporary), f"policy-{'open' if profile.network else 'closed'}.json")
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        json.dump(_policy(profile), file, ensure_ascii=True)
    return path


def _policy(profile: Profile) -> dict[str, object]:
    writable = [*profile.folders, profile.cache, profile.temporary]
    inside = [path for path in profile.hidden if any(is_in(path, folder) for folder in profile.folders)]
    guarded = [path for path in profile.guarded if not _must_be_readable(path, profile)]
    shown = [path for each in profile.shown if os.path.exists(each) for path in _visible(each, profile.hidden)]
    return {
        "fs_readable": [*dict.fromkeys([*_visible("/", [*profile.hidden, "/tmp", "/var/tmp"]), *shown])],
        "fs_writable": [*writable, *(path for name in _DEVICES if os.path.exists(path := f"/dev/{name}"))],
        "fs_denied": [*inside, *guarded],
        "extra_deny_syscalls": _OF_OTHER_PROCESSES,
        "max_processes": PROCESSES,
        "net_allow": ["*:*"] if profile.network else [],
        "net_allow_bind": ["*"],
    }


def _must_be_readable(path: str, profile: Profile) -> bool:
    """For git, and for the tools in the sandbox that obey such a file too: package managers, compilers, linters."""
    if path in profile.named:
        return not os.path.isdir(path)  # what is in a folder would not be put back
    if os.path.basename(path) in _READ_BY_GIT:
        return True
    folder = max((each for each in profile.folders if is_in(path, each)), key=len, default="/")
    found = obeyed_by(os.path.relpath(path, folder))
    return found is not None and found.guard == "present"


def _visible(folder: str, hidden: Collection[str]) -> Iterator[str]:
    """As few paths as there can be that hold everything in a folder but what is hidden."""
    within = [path for path in hidden if is_in(path, folder)]
    if not within:
        yield folder
    elif folder not in within:
        try:
            names = os.listdir(folder)
        except OSError:
            return
        for name in names:
            yield from _visible(os.path.join(folder, name), within)
