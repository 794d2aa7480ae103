"""Somebody changes folders into links and back while files are read and written: thousands of tries, no way out."""

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import pytest

from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.files import openat
from coderelay.workspace.files.confined_files import ConfinedFiles

SECRET = b"secret"
AT_FDCWD, RENAME_EXCHANGE = -100, 2
TRIES = 2000
SECONDS = 1.5  # two threads that take turns unluckily are slow


@pytest.fixture(params=["walk", "openat2"], autouse=True)
def way_of_opening(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openat, "WALKS", 1 << 30 if request.param == "walk" else 0)


@pytest.fixture
def tmp_path(tmp_path: Path) -> Generator[Path]:
    """In memory, if there is a place: what is written is forced to the disk, which would be most of the time here."""
    if not os.path.isdir("/dev/shm"):
        yield tmp_path
        return
    with TemporaryDirectory(dir="/dev/shm") as path:
        yield Path(path)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside"
    (path / "deep").mkdir(parents=True)
    for name in ("secret", "deep/secret"):
        (path / name).write_bytes(SECRET)
    return path


@contextmanager
def flipping(place: Path, target: Path) -> Generator[None]:
    """`place` is now itself, now a link to `target`, and nothing between.

    A write may rename its file over the link itself, which leads nowhere; then the link is made anew.
    """
    exchange = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if exchange is None:
        pytest.skip("needs renameat2")
    link = place.with_name("other")
    link.symlink_to(target)
    one, other, over = os.fsencode(place), os.fsencode(link), Event()

    def flip() -> None:
        while not over.is_set():
            exchange(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE)
            if not place.is_symlink() and not link.is_symlink():
                link.unlink()
                link.symlink_to(target)

    thread = Thread(target=flip)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def tried(act: Callable[[int], object]) -> list[object]:
    """What was given in many tries, or a few seconds of them; on until some were refused, and some not."""
    given: list[object] = []
    refused = number = 0
    until = time.monotonic() + SECONDS
    while (number < TRIES and time.monotonic() < until) or not given or not refused:
        number += 1
        try:
            given.append(act(number))
        except ToolFailed:
            refused += 1
    return given


@pytest.mark.parametrize("flipped", ["a", "a/b", "a/b/secret"])
def test_c10_a_name_that_becomes_a_link_is_never_read_through(folder: Path, outside: Path, flipped: str) -> None:
    (folder / "a/b").mkdir(parents=True)
    (folder / "a/b/secret").write_bytes(b"inside")
    (outside / "b").symlink_to("deep")
    target = {"a": outside, "a/b": outside / "deep", "a/b/secret": outside / "secret"}[flipped]
    disk = ConfinedFiles([str(folder)])
    with flipping(folder / flipped, target):
        given = tried(lambda number: disk.read("a/b/secret", 99).data)
    assert set(given) == {b"inside"}


@pytest.mark.parametrize("flipped", ["a", "a/b", "a/b/secret"])
def test_c10_a_name_that_becomes_a_link_is_never_written_through(folder: Path, outside: Path, flipped: str) -> None:
    (folder / "a/b").mkdir(parents=True)
    (folder / "a/b/secret").write_bytes(b"inside")
    target = {"a": outside, "a/b": outside / "deep", "a/b/secret": outside / "secret"}[flipped]
    disk = ConfinedFiles([str(folder)])
    before = _contents(outside)

    def change(number: int) -> None:
        with suppress(ToolFailed):
            disk.write(f"a/b/new{number % 50}/f", b"made")
        with suppress(ToolFailed):
            disk.remove(f"a/b/new{number % 50}/f")
        disk.write("a/b/secret", b"changed")

    with flipping(folder / flipped, target):
        tried(change)
    assert _contents(outside) == before
    assert [each for each in _contents(folder.parent) if each.endswith(".tmp")] == []


def test_a_folder_replaced_by_a_link_after_it_was_opened_is_written_where_it_went(
    folder: Path, outside: Path
) -> None:
    (folder / "d").mkdir()
    opened = openat.open_folder(str(folder), "d", os.O_RDONLY)
    os.rename(folder / "d", folder / "e")
    (folder / "d").symlink_to(outside)
    os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=opened))
    os.close(opened)
    assert (os.listdir(folder / "e"), sorted(os.listdir(outside))) == (["f"], ["deep", "secret"])


def test_of_many_who_expect_the_same_file_one_writes_it(folder: Path) -> None:
    disk = ConfinedFiles([str(folder)])

    def written(path: str, expected: str) -> list[int]:
        """Which of them did."""

        def write(number: int) -> bool:
            try:
                disk.write(path, f"{number:09}".encode(), expected=expected)
            except ToolFailed:
                return False
            return True

        return [number for number, done in enumerate(threads.map(write, range(8))) if done]

    with ThreadPoolExecutor(8) as threads:
        for number in range(20):
            path = f"{number}/f"
            (creator,) = written(path, "")
            assert disk.read(path, 99).data == f"{creator:09}".encode()
            (replacer,) = written(path, disk.fingerprint(path))
            assert disk.read(path, 99).data == f"{replacer:09}".encode()


def test_a_reader_sees_the_old_content_or_the_new(folder: Path) -> None:
    disk = ConfinedFiles([str(folder)])
    contents = [bytes([65 + number]) * (1 + number * 5000) for number in range(8)]
    disk.write("f", contents[0])
    enough = Event()

    def write() -> None:
        for number in count():
            if enough.is_set():
                return
            disk.write("f", contents[number % 8])

    writer = Thread(target=write)
    writer.start()
    seen: set[bytes] = set()
    try:
        reads = 0
        while reads < 200 or len(seen) < 3:  # however the two take turns
            seen.add(disk.read("f", 1 << 20).data)
            reads += 1
    finally:
        enough.set()
        writer.join()
    assert seen <= set(contents)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts descriptors in /proc")
def test_no_descriptor_stays_open(folder: Path, outside: Path) -> None:
    disk = ConfinedFiles([str(folder)])
    (folder / "d").mkdir()
    (folder / "out").symlink_to(outside)
    (folder / "in").symlink_to("d")
    os.mkfifo(folder / "fifo")
    long = "n" * 256

    def everything() -> None:
        disk.write("d/f", b"x")
        disk.write("d/f", b"y", expected=disk.fingerprint("d/f"))
        disk.write("new/f", b"x")
        disk.move("new/f", "new/g")
        disk.remove("new/g")
        for path in ("d/f", "in/f", "out/secret", "fifo", "d", "d/f/g", "missing/f", f"a/b/{long}", f"{long}/b"):
            for act in (
                lambda path=path: disk.read(path, 9),
                lambda path=path: disk.list(path),
                lambda path=path: disk.check_write(path),
                lambda path=path: disk.write(path, b"x", expected="0-0-0"),
                lambda path=path: disk.remove(path, expected="0-0-0"),
                lambda path=path: disk.move(path, "fifo"),
            ):
                with suppress(ToolFailed):
                    act()

    everything()
    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(20):
        everything()
    assert sorted(os.listdir("/proc/self/fd")) == before


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in folder.rglob("*") if each.is_file() and not each.is_symlink()}


FLIP = """
import ctypes
exchange = ctypes.CDLL(None).renameat2
while True:
    exchange(-100, b"sub", -100, b"link", 2)
"""


def test_where_a_name_leads_is_told_or_refused_but_never_a_fault(tmp_path: Path, outside: Path) -> None:
    """Symptom: a turn ended with a traceback because os.path.realpath found a link, and then none."""
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "link").symlink_to(outside)
    disk = ConfinedFiles([str(root)])
    with subprocess.Popen([sys.executable, "-c", FLIP], cwd=root) as flipper:  # a thread would take turns with us
        try:
            for told in tried(lambda _: disk.target("sub/deep/secret")):
                assert told == str(root / "sub/deep/secret")
        finally:
            flipper.kill()
