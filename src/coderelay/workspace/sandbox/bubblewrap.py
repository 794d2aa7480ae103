"""Translates a sandbox profile into the arguments of bubblewrap (bwrap): namespaces and a tree of mounts."""

import os
import stat
from collections.abc import Callable, Iterator
from typing import Literal

from coderelay.workspace.files.openat import folder_of
from coderelay.workspace.files.path_resolution import is_in
from coderelay.workspace.sandbox.sandbox_profile import Profile

PROGRAM = "bwrap"
_SYSTEM = ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/nix/var/nix/profiles/default/bin")
_NAMESPACES = ["--unshare-user-try", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]
_MANNERS = ["--new-session", "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL"]
# These entries of /proc belong to the machine, not to a process. Root may write most of them, even without any
# capability.
_PROC = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "driver", "mtrr")
_NOTHING = "0:0"
_TEMPORARY = ("/tmp", "/var/tmp")

Kind = Literal["readable", "writable", "pinned", "guarded", "hidden", "temporary", "shown"]


def bubblewrap_program() -> str | None:
    """Return the path of the installed bwrap. Because it confines every other program, it is looked for only in
    folders that nobody but the system's owner can write."""
    paths = [os.path.join(folder, PROGRAM) for folder in _SYSTEM]
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def bubblewrap(program: str, profile: Profile, blank: Callable[[str], str]) -> list[str]:
    """Return the command prefix that starts a program in the sandbox. `blank` returns the file that is mounted over a
    hidden file."""
    network = [] if profile.network else ["--unshare-net"]
    arguments: list[str] = []
    closed: list[str] = []  # goes last, when everything that is shown inside is mounted
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
    """Yield the mounts as arguments of the supervisor, which verifies them before the first command. Mounting follows
    symbolic links, and a command in another sandbox of the session may replace a path by a link after we have checked
    it."""
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
    """Return device and inode of a path. A link, or a path that cannot be reached without one, gets an identity that
    no file has: then the start fails and says why. The identity of the link itself would be accepted if the link is
    there again when the supervisor looks."""
    try:
        with folder_of(path) as (folder, name):
            found = os.stat(name or ".", dir_fd=folder, follow_symlinks=False)
    except OSError:
        return _NOTHING
    return _NOTHING if stat.S_ISLNK(found.st_mode) else f"{found.st_dev}:{found.st_ino}"


def _mounts(profile: Profile) -> dict[str, Kind]:
    """Return the mounts, an outer path before the paths inside it. A mount is left out where the surrounding one has
    the same effect."""
    mounts: dict[str, Kind] = {}
    for path, kind in sorted(_wanted(profile).items(), key=lambda each: each[0].rstrip("/").count("/")):
        around = mounts[max((each for each in mounts if is_in(path, each)), key=len)] if mounts else None
        is_unseen = around in ("hidden", "temporary")
        if (kind == "shown") == is_unseen or kind in ("readable", "writable", "temporary"):
            mounts[path] = kind
    return mounts


def _wanted(profile: Profile) -> dict[str, Kind]:
    """Return exactly one kind of mount for each path. Where several apply, hiding a path wins over opening it."""
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
