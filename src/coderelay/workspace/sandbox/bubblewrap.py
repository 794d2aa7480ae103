"""A profile as bubblewrap takes it: namespaces of its own, and a tree of mounts."""

import os
from collections.abc import Callable
from typing import Literal

from coderelay.workspace.folders import is_in
from coderelay.workspace.sandbox.profile import Profile

PROGRAM = "bwrap"
_NAMESPACES = ["--unshare-user-try", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]
_MANNERS = ["--new-session", "--die-with-parent", "--cap-drop", "ALL"]
# Of the machine, not of a process. Root may write most of it, even without any capability.
_PROC = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "driver", "mtrr")
_TEMPORARY = ("/tmp", "/var/tmp")

Kind = Literal["readable", "writable", "pinned", "guarded", "hidden", "temporary", "shown"]


def bubblewrap(program: str, profile: Profile, blank: Callable[[str], str]) -> list[str]:
    """The beginning of a command. `blank` gives the file to be seen in place of a hidden one."""
    network = [] if profile.network else ["--unshare-net"]
    arguments: list[str] = []
    closed: list[str] = []  # at the end, when everything that is shown in them has its place
    for path, kind in _mounts(profile).items():
        match kind:
            case "readable" | "shown" | "guarded":
                arguments += ["--ro-bind", path, path]
            case "writable" | "pinned":
                arguments += ["--bind", path, path]
            case "temporary":
                arguments += ["--bind", profile.temporary, path]
            case "hidden" if os.path.isdir(path):
                arguments += ["--tmpfs", path]
                closed += ["--remount-ro", path]
            case "hidden":
                arguments += ["--ro-bind", blank(path), path]
        if path == "/":
            arguments += ["--dev", "/dev", "--proc", "/proc"]
    return [program, *_NAMESPACES, *network, *_MANNERS, *arguments, *closed, "--chdir", "/", "--"]


def _mounts(profile: Profile) -> dict[str, Kind]:
    """What is within another comes after it, and is left out where that does the same."""
    mounts: dict[str, Kind] = {}
    for path, kind in sorted(_wanted(profile).items(), key=lambda each: each[0].rstrip("/").count("/")):
        around = mounts[max((each for each in mounts if is_in(path, each)), key=len)] if mounts else None
        is_unseen = around in ("hidden", "temporary")
        if (kind == "shown") == is_unseen or kind in ("readable", "writable", "temporary"):
            mounts[path] = kind
    return mounts


def _wanted(profile: Profile) -> dict[str, Kind]:
    """One kind for each path. What hides wins over what opens."""
    wanted: dict[str, Kind] = {}
    wanted |= dict.fromkeys(profile.shown, "shown")
    wanted |= dict.fromkeys(profile.pinned, "pinned")
    wanted |= dict.fromkeys(profile.guarded, "guarded")
    wanted |= dict.fromkeys(profile.folders, "writable")
    wanted |= dict.fromkeys(profile.hidden, "hidden")
    wanted |= {path: "temporary" for path in _TEMPORARY if os.path.isdir(path) and not os.path.islink(path)}
    wanted |= {path: "guarded" for name in _PROC if os.path.exists(path := f"/proc/{name}")}
    wanted[profile.cache] = "writable"
    wanted["/"] = "writable" if "/" in profile.folders else "readable"
    return wanted
