"""What the system refuses is said, and nothing is left behind."""

import ctypes
import errno
import os
import stat
import subprocess
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.files import openat
from coderelay.workspace.files.confined_files import ConfinedFiles

NOBODY = 65534


@pytest.fixture(params=["walk", "openat2"], autouse=True)
def way_of_opening(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openat, "WALKS", 1 << 30 if request.param == "walk" else 0)


@pytest.fixture
def anybodys() -> Generator[Path]:
    """A folder that other users can reach, unlike pytest's."""
    with TemporaryDirectory() as path:
        os.chmod(path, 0o755)
        yield Path(path)


def without_privileges(act: Callable[[], object]) -> str:
    """What it is refused with. Root may do everything, so there a thread of its own becomes somebody else."""
    refused: list[str] = []

    def run() -> None:
        if os.geteuid() == 0:
            ctypes.CDLL(None).setfsuid(NOBODY)  # for this thread alone
        try:
            act()
        except ToolFailed as failed:
            refused.append(failed.message)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return refused[0] if refused else "not refused"


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "setfsuid") and os.geteuid() == 0, reason="root may do everything")
def test_what_is_not_permitted_is_refused_and_stays(anybodys: Path) -> None:
    disk = ConfinedFiles([str(anybodys)])
    for each in ("closed", "read-only"):
        (anybodys / each).mkdir()
        (anybodys / each / "f").write_bytes(b"x")
    (anybodys / "private").write_bytes(b"x")
    (anybodys / "private").chmod(0)
    (anybodys / "closed").chmod(0)
    (anybodys / "read-only").chmod(0o555)
    tries: list[tuple[Callable[[], object], str]] = [
        (lambda: disk.read("private", 9), "cannot read private"),
        (lambda: disk.read("closed/f", 9), "cannot read closed/f"),
        (lambda: disk.list("closed"), "cannot list closed"),
        (lambda: disk.write("closed/f", b"y"), "cannot write closed/f"),
        (lambda: disk.write("read-only/f", b"y"), "cannot write read-only/f"),
        (lambda: disk.write("read-only/a/b/g", b"y"), "cannot write read-only/a/b/g"),
        (lambda: disk.remove("read-only/f"), "cannot remove read-only/f"),
        (lambda: disk.move("read-only/f", "read-only/g"), "cannot make read-only/g"),
    ]
    for act, told in tries:
        assert without_privileges(act) == f"{told}: Permission denied"
    (anybodys / "closed").chmod(0o755)
    assert sorted(each.name for each in anybodys.rglob("*")) == ["closed", "f", "f", "private", "read-only"]


def _mounted(path: Path) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(path)]
    return os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.fixture
def small(tmp_path: Path) -> Generator[Path]:
    path = tmp_path / "small"
    path.mkdir()
    if not _mounted(path):
        pytest.skip("a small file system cannot be mounted here")
    yield path
    subprocess.run(["umount", str(path)], check=True)


def test_a_full_disk_leaves_the_old_file_and_nothing_else(small: Path, tmp_path: Path) -> None:
    disk = ConfinedFiles([str(small), str(tmp_path)])
    disk.write("f", b"old")
    full = os.strerror(errno.ENOSPC)
    with pytest.raises(ToolFailed, match=f"cannot write f: {full}"):
        disk.write("f", b"n" * 200_000)
    with pytest.raises(ToolFailed, match=f"cannot write a/b/g: {full}"):
        disk.write("a/b/g", b"n" * 200_000)
    assert [(each.name, each.read_bytes()) for each in small.iterdir()] == [("f", b"old")]
    assert disk.write("f", b"small") is False


def test_a_file_is_not_moved_to_another_disk(small: Path, tmp_path: Path) -> None:
    disk = ConfinedFiles([str(small), str(tmp_path)])
    disk.write("f", b"x")
    with pytest.raises(ToolFailed, match=r"cannot make .*/new/g: Invalid cross-device link"):
        disk.move("f", f"{tmp_path}/new/g")
    assert (small / "f").read_bytes() == b"x"
    assert not (tmp_path / "new").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_devices_are_not_opened(folder: Path) -> None:
    try:
        os.mknod(folder / "device", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    except OSError:
        pytest.skip("devices cannot be made here")
    disk = ConfinedFiles([str(folder)])
    for act in (lambda: disk.read("device", 9), lambda: disk.write("device", b"x")):
        with pytest.raises(ToolFailed, match="device is a device, not a regular file"):
            act()
