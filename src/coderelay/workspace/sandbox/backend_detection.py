"""Detects the best way to confine commands on this machine, by trying each one.

The result is cached on disk until something changes that it could depend on.
"""

import importlib.util
import os
import sys

import msgspec
from msgspec import Struct, field

from coderelay import __version__
from coderelay.workspace.sandbox.bubblewrap import bubblewrap_program
from coderelay.workspace.sandbox.sandbox_backend import BACKENDS, SandboxBackend

_SWITCHES = (
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/kernel/random/boot_id",
)


class DetectedSandbox(Struct, frozen=True):
    """The sandbox backend that was chosen. `why_not` gives, for each preferred backend, the reason why it does not
    work."""

    backend: SandboxBackend = field(name="rung")  # as older versions have stored it
    why_not: dict[str, str] = {}


class _CachedDetection(Struct, frozen=True):
    key: str
    found: DetectedSandbox


_known: dict[str, DetectedSandbox] = {}


def sandbox_backend(coder_home: str) -> SandboxBackend:
    found = _known.get(coder_home) or _kept(coder_home) or detect_sandbox(coder_home)
    _known[coder_home] = found
    return found.backend


def detect_sandbox(coder_home: str) -> DetectedSandbox:
    """Try every backend, ignoring the cache, and cache the result."""
    from coderelay.workspace.sandbox.sandbox_probe import probe  # imported late: most processes find a cached result

    why_not: dict[str, str] = {}
    for way in BACKENDS:
        reason = probe(way, coder_home)
        if not reason:
            return _keep(coder_home, DetectedSandbox(way, why_not))
        why_not[way] = reason
    return _keep(coder_home, DetectedSandbox("none", why_not))


def forget(coder_home: str) -> None:
    """Delete the cached result after a sandbox failed to start although its way had been tried successfully, so that
    the next process tries again. This process must not try again: commands that were approved to run in a sandbox
    would run without one."""
    try:
        os.unlink(_file(coder_home))
    except (FileNotFoundError, NotADirectoryError):
        return


def _kept(coder_home: str) -> DetectedSandbox | None:
    try:
        with open(_file(coder_home), "rb") as file:
            kept = msgspec.json.decode(file.read(), type=_CachedDetection)
    except (OSError, msgspec.DecodeError):
        return None
    return kept.found if kept.key == _key() else None


def _keep(coder_home: str, found: DetectedSandbox) -> DetectedSandbox:
    _known[coder_home] = found
    path = _file(coder_home)
    own = f"{path}.{os.getpid()}"
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(own, "wb") as file:
        file.write(msgspec.json.encode(_CachedDetection(_key(), found)))
    os.replace(own, path)
    return found


def _file(coder_home: str) -> str:
    return os.path.join(coder_home, "sandboxes", "rung.json")


def _key() -> str:
    """Return a text that changes as soon as the result of the detection may change."""
    sandlock = importlib.util.find_spec("sandlock")
    depends_on = [
        __version__,
        sys.executable,
        str(os.getuid()),
        str(os.uname()),
        _mark(bubblewrap_program()),
        _mark(sandlock.origin if sandlock else None),
        *map(_text, _SWITCHES),
    ]
    return "\n".join(depends_on)


def _mark(path: str | None) -> str:
    if path is None:
        return ""
    found = os.stat(path)
    return f"{path} {found.st_mtime_ns} {found.st_size}"


def _text(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""
