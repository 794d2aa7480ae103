"""A profile as bubblewrap takes it: namespaces of its own, and a tree of mounts."""

import os
import stat
from collections.abc import Callable, Iterator
from typing import Literal

from coderelay.workspace.files.folders import is_in
from coderelay.workspace.files.openat import folder_of
from coderelay.workspace.sandbox.profile import Profile

PROGRAM = "bwrap"
_SYSTEM = ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/nix/var/nix/profiles/default/bin")
_NAMESPACES = ["--unshare-user-try", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]
_MANNERS = ["--new-session", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL"]
# Of the machine, not of a process. Root may write most of it, even without any capability.
_PROC = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "driver", "mtrr")
_NOTHING = "0:0"
_TEMPORARY = ("/tmp", "/var/tmp")

Kind = Literal["readable", "writable", "pinned", "guarded", "hidden", "temporary", "shown"]


def bubblewrap_program() -> str | None:
    """The installed bwrap. It confines every other program, so it is looked for only in folders that nobody but the
    system's owner can write."""
    paths = [os.path.join(folder, PROGRAM) for folder in _SYSTEM]
    return next((path for path in paths if os.access(path, os.X_OK)), None)


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


def expected_mounts(profile: Profile) -> Iterator[str]:
    """As the supervisor takes them, to look for before the first command. Mounting follows links, and a command in
    another sandbox of the session may put one in its way after we have looked."""
    for path, kind in _mounts(profile).items():
        match kind:
            case "writable" | "pinned":
                yield f"writable={_identity(path)}={path}"
            case "temporary":
                yield f"writable={_identity(os.path.realpath(profile.temporary))}={path}"
            case "guarded":
                yield f"readonly={'' if is_in(path, '/proc') else _identity(path)}={path}"
            case "hidden":
                yield f"readonly=={path}"
            case "readable" | "shown":
                continue


def _identity(path: str) -> str:
    """That of nothing if it is a link, or cannot be reached without one: then the start fails, and says why. The
    identity of a link itself would be believed if the link is there again when the supervisor looks."""
    try:
        with folder_of(path) as (folder, name):
            found = os.stat(name or ".", dir_fd=folder, follow_symlinks=False)
    except OSError:
        return _NOTHING
    return _NOTHING if stat.S_ISLNK(found.st_mode) else f"{found.st_dev}:{found.st_ino}"


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
